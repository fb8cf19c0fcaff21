"""Ctrl-C and SIGTERM end a command within two seconds, with one line and nothing half-finished."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType

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
