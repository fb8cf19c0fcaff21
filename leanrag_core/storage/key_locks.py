"""A lock for each key: one thread or process at a time does the work of a key while the others wait.

The lock is a lock on a file, which the system releases when its process dies.
"""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock

from leanrag_core.files import private

_POLL_SECONDS = 0.05  # for another process; threads of this one are woken


@dataclass(eq=False)
class _ThreadLock:
    """The lock of a key among the threads of this process. n_wanting: how many of them hold it or wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    n_wanting: int = 0


class KeyLocks:
    """Locks whose files are in one folder. Keys are hexadecimal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._by_key: dict[str, _ThreadLock] = {}

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Locks the key while the block lasts. A thread locks one key at a time. Raises OSError."""
        if not key.isalnum():
            raise ValueError(f"{key!r} is no key")
        with self._guard:
            own = self._by_key.setdefault(key, _ThreadLock())
            own.n_wanting += 1
        try:
            with own.lock, self._file_lock(key):
                yield
        finally:
            with self._guard:
                own.n_wanting -= 1
                if not own.n_wanting:
                    del self._by_key[key]

    @contextlib.contextmanager
    def _file_lock(self, key: str) -> Iterator[None]:
        private.make_folder(self.folder)
        path = self.folder / key
        with FileLock(str(path), mode=private.FILE).acquire(poll_interval=_POLL_SECONDS):
            try:
                yield
            finally:
                # Deleted while it is locked: a process that waits sees that the file is gone, and makes a new one.
                # Where open files cannot be deleted (Windows) it stays.
                with contextlib.suppress(OSError):
                    path.unlink()
