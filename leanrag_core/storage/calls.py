"""Every answered model call under a key of its content: the checkpoint of builds, shared by all indexes.

A diskcache in which neither keys nor values are ever unpickled (CVE-2025-69872): both are text, all of it in the one
SQLite file, and anything else found there is treated as missing. Many threads and processes may read and write; what
was put is on disk when put() returns, so that a killed process loses nothing.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leanrag_core.errors import IndexDamaged

_INLINE = 1 << 30  # bytes; everything stays in the database, no file name is ever read from it


@dataclass(frozen=True)
class CallEntry:
    """One stored call as a list shows it. at: seconds since 1970, UTC. size_bytes: of its text."""

    key: str
    at: float
    model: str
    task: str
    index: str
    size_bytes: int


class CallStore:
    """Stored calls below one folder; opened when first used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def _cache(self) -> Any:
        import diskcache

        try:
            return diskcache.Cache(
                str(self.folder), disk=_text_disk(), eviction_policy="none", disk_min_file_size=_INLINE, timeout=60
            )
        except sqlite3.DatabaseError as error:
            raise IndexDamaged(
                f"the store of model calls in {self.folder.name} is damaged ({error}): move it away to begin anew"
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of that key; None when there is none, or none that can be read."""
        try:
            text = self._cache.get(key)
            record = json.loads(text) if isinstance(text, str) else None
        except ValueError:  # written by another hand
            return None
        return record if isinstance(record, dict) else None

    def get_many(self, keys: list[str]) -> list[dict[str, Any] | None]:
        """The records of those keys, in order."""
        with self._cache.transact():
            return [self.get(key) for key in keys]

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """The record is on disk. Its "index" says for which index it was first made."""
        stamped = {**record, "at": time.time()}
        self._cache.set(key, json.dumps(stamped, ensure_ascii=False), tag=str(record.get("index", "")))

    def put_many(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """All the records are on disk, in one transaction."""
        with self._cache.transact():
            for key, record in records.items():
                self.put(key, record)

    def entries(self) -> Iterator[CallEntry]:
        """Every stored call, the oldest first."""
        for key in self._cache.iterkeys():
            record = self.get(key)
            if record is not None:
                yield CallEntry(
                    key,
                    float(record.get("at", 0.0)),
                    str(record.get("model", "")),
                    str(record.get("task", "")),
                    str(record.get("index", "")),
                    len(json.dumps(record, ensure_ascii=False).encode()),
                )

    def __len__(self) -> int:
        return len(self._cache)

    def size_bytes(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.folder.glob("*") if path.is_file())

    def export(self, path: Path) -> int:
        """A JSON Lines file of every call stands at `path`; returns their number."""
        written = 0
        with path.open("w", encoding="utf-8") as file:
            for key in self._cache.iterkeys():
                record = self.get(key)
                if record is not None:
                    file.write(json.dumps({"key": key, **record}, ensure_ascii=False) + "\n")
                    written += 1
        return written

    def delete(self, *, index: str | None = None, before: float | None = None) -> int:
        """Calls that were first made for the index, or before that time (or all, when neither is given), are gone."""
        chosen = [
            one.key
            for one in self.entries()
            if (index is None or one.index == index) and (before is None or one.at < before)
        ]
        with self._cache.transact():
            for key in chosen:
                self._cache.delete(key)
        return len(chosen)

    def forget(self, keys: Iterable[str]) -> int:
        """The calls of those keys are gone; returns how many there were."""
        with self._cache.transact():
            return sum(bool(self._cache.delete(key)) for key in keys)

    def close(self) -> None:
        """The file is closed; the next use opens it again."""
        if "_cache" in self.__dict__:
            self._cache.close()
            del self.__dict__["_cache"]


def _text_disk() -> type:
    """A diskcache Disk that stores and reads text only."""
    import diskcache

    class TextDisk(diskcache.Disk):
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
