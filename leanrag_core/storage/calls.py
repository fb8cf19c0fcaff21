"""Every answered model call under a key of its content: the checkpoint of builds, shared by all indexes.

A diskcache in which neither keys nor values are ever unpickled (CVE-2025-69872): both are text, all of it in the one
SQLite file, and anything else there is treated as missing. Many threads and processes may read and write. A record is
on the disk when put() returns (synchronous=FULL), so that neither a killed process nor a power cut loses it. Threads
that put at the same time share a transaction, since a disk takes as long for one answer as for many.
"""

import contextlib
import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock

from leanrag_core.errors import IndexDamaged, RecordDamaged, StorageFailed
from leanrag_core.files import private
from leanrag_core.files.atomic import refused_by_the_disk, replacing, storage_failed, writing
from leanrag_core.files.records import from_json, json_bytes, plain, to_json
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.layout import size_bytes
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.calls import CallRecord

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
        """Lock the key while the block lasts. A thread locks one key at a time. Raises OSError."""
        if not key.isalnum():
            raise ValueError(f"{key!r} is no key")
        with self._guard:
            thread_lock = self._by_key.setdefault(key, _ThreadLock())
            thread_lock.n_wanting += 1
        try:
            with thread_lock.lock, self._file_lock(key):
                yield
        finally:
            with self._guard:
                thread_lock.n_wanting -= 1
                if not thread_lock.n_wanting:
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


_INLINE = 1 << 30  # bytes; everything stays in the database, no file name is ever read from it
_FULL = 2  # SQLite's synchronous=FULL
_ROOM_BYTES = 4 << 20  # for the answers to all calls in flight
_TIMEOUT_SECONDS = 60  # for another process that writes
_KEPT = message("kept.stored_answers")
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_REASONS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}


@dataclass(frozen=True)
class CallEntry:
    """One stored call as a list shows it. at: seconds since 1970, UTC. size_bytes: of its text."""

    key: str
    at: float
    model: str
    task: str
    index: str
    size_bytes: int


@dataclass(eq=False)
class _Waiting:
    """Records of one thread that wait for their transaction, and how it ended."""

    records: Mapping[str, CallRecord]
    ended: bool = False
    fault: BaseException | None = field(default=None)


class CallStore:
    """Stored calls below one folder; opened when first used. Every method raises StorageFailed when the disk is full,
    read-only or does not answer, and IndexDamaged when the file is no longer a database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._committing = threading.Lock()
        self._queue: list[_Waiting] = []
        self._queue_lock = threading.Lock()
        self._locks = KeyLocks(folder / "turns")

    @cached_property
    def _cache(self) -> Any:
        import diskcache

        private.make_folder(self.folder)
        (self.folder / "cache.db").touch(mode=private.FILE)  # SQLite gives the files beside it the same rights
        private.tighten(self.folder)
        return diskcache.Cache(
            str(self.folder),
            disk=_text_disk(),
            eviction_policy="none",
            disk_min_file_size=_INLINE,
            timeout=_TIMEOUT_SECONDS,
            sqlite_synchronous=_FULL,
        )

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        import diskcache

        try:
            yield
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            self._forget_connection()  # a transaction may still be open in it
            raise self._explained(error) from error

    def _forget_connection(self) -> None:
        if "_cache" in self.__dict__:
            self._cache.close()  # that of this thread

    def _explained(self, error: Exception) -> Exception:
        """Return the error as ours. Only a file that is no database is called damaged: a full disk must cost no
        answer."""
        what = self._what()
        if isinstance(error, OSError):
            return storage_failed(what, error, _KEPT)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGE:
            return IndexDamaged("calls.damaged", what=what, reason=in_words(error))
        known = _REASONS.get(code)
        refused = OSError(known, os.strerror(known)) if known else refused_by_the_disk(self.folder)
        if refused is not None:
            return storage_failed(what, refused, _KEPT)
        if isinstance(error, sqlite3.Error) and code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StorageFailed("calls.silent", what=what, reason=in_words(error), kept=_KEPT)
        return StorageFailed("calls.in_use", what=what, kept=_KEPT)

    def _what(self) -> Message:
        return message("what.calls", folder=str(self.folder))

    @contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Lock the key for all processes while the block lasts: a caller that waited looks first whether the question
        is answered by now. Raises StorageFailed when there is no room for an answer, before it is paid."""
        with ExitStack() as stack:
            with writing(self._what(), _KEPT):
                private.make_folder(self.folder)
                if shutil.disk_usage(self.folder).free < _ROOM_BYTES:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                stack.enter_context(self._locks.locked(key))
            yield

    def get(self, key: str) -> CallRecord | None:
        """Return the record of that key; None when there is none, or none that can be read."""
        with self._plain_errors():
            return self._read(key)

    def _read(self, key: str) -> CallRecord | None:
        text = self._cache.get(key)
        try:
            return from_json(CallRecord, text.encode(), name=key) if isinstance(text, str) else None
        except (RecordDamaged, ValueError):  # not written by this program, or half a character
            return None

    def get_many(self, keys: list[str]) -> list[CallRecord | None]:
        """Return the records of those keys, in order."""
        with self._plain_errors(), self._cache.transact():
            return [self._read(key) for key in keys]

    def put(self, key: str, record: CallRecord) -> None:
        """Write the record to the disk."""
        self.put_many({key: record})

    def put_many(self, records: Mapping[str, CallRecord]) -> None:
        """Write all the records to the disk, or none."""
        own_records = _Waiting(records)
        with self._queue_lock:
            self._queue.append(own_records)
        with self._committing:
            if not own_records.ended:  # else another thread has committed it
                with self._queue_lock:
                    together, self._queue = self._queue, []
                self._commit(own_records, together)
        if own_records.fault is not None:
            raise own_records.fault

    def _commit(self, own_records: _Waiting, together: list[_Waiting]) -> None:
        """Commit all waiting records in one transaction; if the disk fails, each of them gets its error."""
        try:
            with self._plain_errors(), self._cache.transact():
                for waiting in together:
                    for key, record in waiting.records.items():
                        text = to_json(replace(record, at=time.time())).decode()
                        self._cache.set(key, text, tag=record.index)
        except (StorageFailed, IndexDamaged) as error:
            for waiting in together:
                waiting.fault = error
        except BaseException:  # of this thread alone, such as its being stopped: the others commit without it
            with self._queue_lock:
                self._queue = [waiting for waiting in together if waiting is not own_records] + self._queue
            raise
        for waiting in together:
            waiting.ended = True

    def entries(self) -> Iterator[CallEntry]:
        """Yield every stored call, the oldest first."""
        for key, record in self._records():
            yield CallEntry(key, record.at, record.model, record.task, record.index, len(to_json(record)))

    def _records(self) -> Iterator[tuple[str, CallRecord]]:
        """Yield every key and record that can be read."""
        with self._plain_errors():
            for key in self._cache.iterkeys():
                record = self._read(key)
                if record is not None:
                    yield key, record

    def __len__(self) -> int:
        with self._plain_errors():
            return len(self._cache)

    def size_bytes(self) -> int:
        """Return bytes on disk; a file that SQLite deletes meanwhile does not count."""
        return size_bytes(self.folder)

    def export(self, path: Path) -> int:
        """Write a JSON Lines file of every call; returns their number."""
        n_written = 0
        with (
            writing(message("what.exported_calls", path=str(path)), _KEPT),
            replacing(path) as beside,
            open(beside, "w", encoding="utf-8", opener=private.opener) as file,
        ):
            for key, record in self._records():
                file.write(json_bytes({"key": key, **plain(record)}).decode() + "\n")
                n_written += 1
        return n_written

    def delete(self, *, index: str | None = None, before: float | None = None) -> int:
        """Delete calls that were first made for the index, or before that time; all calls when neither is given.
        Returns how many."""
        chosen = [
            entry.key
            for entry in self.entries()
            if (index is None or entry.index == index) and (before is None or entry.at < before)
        ]
        with self._plain_errors(), self._cache.transact():
            for key in chosen:
                self._cache.delete(key)
        return len(chosen)

    def forget(self, keys: Iterable[str]) -> int:
        """Delete the calls of those keys; returns how many there were."""
        with self._plain_errors(), self._cache.transact():
            return sum(bool(self._cache.delete(key)) for key in keys)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if "_cache" in self.__dict__:
            self._cache.close()
            del self.__dict__["_cache"]


def _text_disk() -> type:
    """Return a diskcache Disk that stores and reads text only."""
    import diskcache

    class TextDisk(diskcache.Disk):  # type: ignore[misc] # diskcache has no types
        def put(self, key: Any) -> tuple[Any, bool]:
            if not isinstance(key, str):
                raise TypeError("keys of the call store are text")
            return key, True

        def get(self, key: Any, raw: bool) -> Any:
            return key if raw and isinstance(key, str) else ""

        def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> tuple[int, int, None, str]:
            if not isinstance(value, str):
                raise TypeError("values of the call store are text")
            return 0, diskcache.core.MODE_RAW, None, value

        def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
            plain = mode == diskcache.core.MODE_RAW and filename is None and isinstance(value, str)
            return value if plain else None

    return TextDisk
