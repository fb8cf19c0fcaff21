"""The process in which files are read: asked on its standard input, it answers on its standard output.

It is started by `confined`, which ends it when a file takes too long or too much. Its own limits hold where the one
who asked is gone: the alarm, and the memory that the system grants.
"""

import os
import select
import signal
import sys
import threading
import time
from typing import Any, BinaryIO

from leanrag_core.indexing.parsing.frames import packed, read_frame, write_frame
from leanrag_core.indexing.parsing.limits import ParseLimits, limit_memory
from leanrag_core.indexing.parsing.upload import Begun, ParsedUpload, parse_parts

_IDLE_SECONDS = 120.0  # then it ends by itself; the next file starts another one
_GRACE_SECONDS = 5.0  # after the time in which the parent process ends it
_MAX_REQUEST = 1 << 40
_OF_ITS_OWN = 0.9  # of the memory; what is left is for the libraries' files, which the system does not count here


def main() -> None:
    """Answer requests until the parent process closes the pipe."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # output of a library must not mix with the frames
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    while _is_asked(requests):
        frame = read_frame(requests, _MAX_REQUEST)
        if frame is None:
            return
        header, content = frame
        if not _answer(answers, header, content):
            return


def _is_asked(requests: BinaryIO) -> bool:
    if sys.platform == "win32":
        return True  # pipes cannot be waited for there
    return bool(select.select([requests], [], [], _IDLE_SECONDS)[0])


def _answer(answers: BinaryIO, header: dict[str, Any], content: bytes) -> bool:
    """Send the file's parts, each after its name; False when the process is no longer fit for another file."""
    limits = ParseLimits(**header["limits"])
    limit_memory(int(_OF_ITS_OWN * limits.memory_bytes))
    try:
        for part in parse_parts(header["name"], content, done=header["done"], broken=frozenset(header["broken"])):
            if isinstance(part, Begun):
                _set_alarm(limits.seconds + _GRACE_SECONDS)
                write_frame(answers, {"begun": part.name})
                continue
            if not _sent(answers, part, limits.output_bytes):
                write_frame(answers, {"broken": "output"})
                return False
        write_frame(answers, {"end": True})
    except MemoryError:
        write_frame(answers, {"broken": "memory"})
        return False
    _set_alarm(0.0)
    return True


def _sent(answers: BinaryIO, part: ParsedUpload, max_bytes: int) -> bool:
    """Send the part where it is short enough, and return whether it was."""
    header, texts = packed(part)
    if len(texts) > max_bytes:
        return False
    write_frame(answers, header, texts)
    return True


def _set_alarm(seconds: float) -> None:
    """Have the system end this process after so many seconds, whatever it does; never, for 0."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
