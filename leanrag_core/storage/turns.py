"""Taking turns at a key: of all threads and processes that want the same at a time, one does it while others wait.

A turn is a lock on a file, which the system lets go of when the process dies, so nobody waits for the dead.
"""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock

from leanrag_core import private

_POLL_SECONDS = 0.05  # for another process; threads of this one are woken


@dataclass(eq=False)
class _Turn:
    """Of the threads of this process. wanted_by: how many of them hold it or wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    wanted_by: int = 0


class Turns:
    """The turns below one folder. Keys are hexadecimal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._of: dict[str, _Turn] = {}

    @contextlib.contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Nobody else has a turn at that key while the block lasts. A thread asks for one at a time. Raises OSError."""
        if not key.isalnum():
            raise ValueError(f"{key!r} is no key")
        with self._guard:
            own = self._of.setdefault(key, _Turn())
            own.wanted_by += 1
        try:
            with own.lock, self._of_process(key):
                yield
        finally:
            with self._guard:
                own.wanted_by -= 1
                if not own.wanted_by:
                    del self._of[key]

    @contextlib.contextmanager
    def _of_process(self, key: str) -> Iterator[None]:
        private.make_folder(self.folder)
        path = self.folder / key
        with FileLock(str(path), mode=private.FILE).acquire(poll_interval=_POLL_SECONDS):
            try:
                yield
            finally:
                # While it is held: who waits for it sees that the file is gone, and makes a new one. Where open files
                # cannot be deleted (Windows) it stays.
                with contextlib.suppress(OSError):
                    path.unlink()
