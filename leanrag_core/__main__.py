"""The command line. Results on stdout, logs on stderr; exit code 0, 2 for wrong usage, 1 for a failure."""

import argparse
import gc
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TextIO

from leanrag_core.commands import families
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.system.threads import collector_paused
from leanrag_core.text.plain_words import in_words

_GRACE_SECONDS = 1.2  # from the signal to the end of a process whose threads still wait for something
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _nothing() -> None:
    return


class Stop:
    """Waits for a request to stop. line: what is then printed. clean_up: removes what is half made, for a process that
    cannot end in the usual way, since it waits for a server or computes."""

    def __init__(self) -> None:
        self.line = "stopped"
        self.clean_up: Callable[[], None] = _nothing
        self.signal = 0  # that was received
        self._said = threading.Lock()

    def listen(self) -> None:
        """Let a signal raise KeyboardInterrupt in the main thread, once, from now on. Call it in the main thread."""
        here, there = socket.socketpair()
        there.setblocking(False)
        # A handler waits until the main thread is back from what it computes; the number of the signal does not.
        signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, self._interrupt)
        threading.Thread(target=self._watch, args=(here, there), daemon=True).start()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self.signal:
            self.signal = number
            raise KeyboardInterrupt

    def _watch(self, here: socket.socket, there: socket.socket) -> None:
        number = 0
        while number not in _SIGNALS:
            received = here.recv(1)
            number = received[0] if received else 0
        threading.Event().wait(_GRACE_SECONDS)
        self.signal = number
        self.clean_up()
        self.say()
        sys.stdout.flush()
        os._exit(self.exit_code)

    def say(self) -> None:
        """Print the line, once."""
        if self._said.acquire(blocking=False):
            print(f"leanrag: {self.line}", file=sys.stderr, flush=True)

    @property
    def exit_code(self) -> int:
        """As a shell gives it for a process that a signal ended."""
        return 128 + (self.signal or signal.SIGINT)


_PROGRAM = "leanrag"  # the name of the installed command


def main(arguments: Sequence[str] | None = None, stop: Stop | None = None) -> int:
    """Run one verb; returns the exit code. arguments: by default those of this process, which does nothing else. stop:
    waits for signals; jobs of the app have their own way."""
    words = sys.argv[1:] if arguments is None else arguments
    stop = stop or Stop()
    try:
        with collector_paused():
            parser = command_parser(words[0] if words else "")
            if arguments is None:  # what is loaded stays to the end, where Python would search it for cycles once more
                gc.freeze()
        options = parser.parse_args(words)
        options.stop = stop
        run: Callable[[argparse.Namespace], int | None] = options.run
        code = run(options) or 0
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        stop.say()
        return stop.exit_code
    except InvalidConfig as error:
        print(f"leanrag: {error}", file=sys.stderr)
        return 2
    except LeanRAGError as error:
        print(f"leanrag: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError) and _has_no_reader(sys.stdout):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that what is left can be flushed
            return 128 + signal.SIGPIPE
        print(f"leanrag: the system refused: {in_words(error)}", file=sys.stderr)
        return 1


def _has_no_reader(output: TextIO) -> bool:
    """Return whether the program that reads the output has ended, as `head` does."""
    watched = select.poll()
    watched.register(output, 0)  # for errors alone
    return bool(watched.poll(0))


def command_parser(verb: str) -> argparse.ArgumentParser:
    """Build the parser of a verb; of all verbs where there is none of that name."""
    called = _PROGRAM if Path(sys.argv[0]).stem == _PROGRAM else "python -m leanrag_core"
    parser = argparse.ArgumentParser(prog=called, description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for family in families(verb):
        family.add_verbs(verbs)
    return parser


def as_program() -> int:
    """Run the command `leanrag`, or the module as a program."""
    stop = Stop()
    if sys.argv[1:2] != ["run-job"]:
        stop.listen()
    return main(stop=stop)


if __name__ == "__main__":
    sys.exit(as_program())
