"""Results of a build's stages, each under the hash of everything that it rests on, shared by all indexes.

A build takes from here what an earlier build has computed: sentences that were read, vectors, base graphs. Nothing in
here is needed: an entry that is missing or damaged is computed again, so no method that a build calls ever raises. On a
disk that is full or read-only, nothing but the saving of time is lost.

One SQLite file holds the entries; contents above a megabyte lie in files of their own beside it. Contents are bytes of
JSON, Arrow or numpy, sealed by a hash; nothing is ever unpickled. Several threads and processes may use it at once.
"""

import hashlib
import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from filelock import FileLock, Timeout

from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes
from leanrag_core.storage.tables import read_table, require_columns, write_table

T = TypeVar("T")
_DATABASE = "stages.db"
_LARGE = "large"
_INLINE_BYTES = 1 << 20
_FREE_BYTES = 64 << 20  # left on the disk for what is needed: an index, a job's events
_TIMEOUT_SECONDS = 5.0  # for another process that writes
_PAUSE_SECONDS = 30.0  # without writing, after an error
_USED_SECONDS = 3600  # how exactly the time of the last use is kept; a finer one would be written at every build
_KEYS_A_QUERY = 500
_TRIM_TO = 0.9  # of the limit, so that not every build trims
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_ENTRIES = pa.schema([("stage", pa.string()), ("key", pa.binary()), ("content", pa.binary())])
_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    key BLOB PRIMARY KEY, stage TEXT NOT NULL, used INTEGER NOT NULL, size INTEGER NOT NULL, seal BLOB NOT NULL,
    content BLOB
);
CREATE INDEX IF NOT EXISTS entries_by_use ON entries (used, stage, size);
"""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StageSize:
    """What the store holds of a stage."""

    stage: str
    entries: int
    size_bytes: int


def stage_key(stage: str, *rests_on: str | bytes) -> bytes:
    """Return the key of a stage's result: a hash of all that it rests on, versions of rules and models included."""
    digest = hashlib.blake2b(stage.encode(), digest_size=20)
    for part in rests_on:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.digest()


class StageStore:
    """Kept results below one folder, opened when first used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._paused_until = 0.0

    def get(self, key: bytes) -> bytes | None:
        """Return the content of that key; None when there is none, or none that can be read."""
        return self.get_many([key]).get(key)

    def stored_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of the keys that have an entry, sound or damaged."""
        if not (self.folder / _DATABASE).is_file():
            return set()
        return self._tolerant(lambda: {row[0] for row in self._rows("key", keys)}, set())

    def _rows(self, columns: str, keys: Sequence[bytes]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        with self._lock:
            connection = self._open()
            for start in range(0, len(keys), _KEYS_A_QUERY):
                part = keys[start : start + _KEYS_A_QUERY]
                marks = ",".join("?" * len(part))
                query = f"SELECT {columns} FROM entries WHERE key IN ({marks})"
                rows += connection.execute(query, part).fetchall()
        return rows

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the contents that are there, by key."""
        if not (self.folder / _DATABASE).is_file():
            return {}
        return self._tolerant(lambda: self._read(keys), {})

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        contents: dict[bytes, bytes] = {}
        stale: list[bytes] = []
        damaged: list[bytes] = []
        now = int(time.time())
        for key, used, seal, stored in self._rows("key, used, seal, content", keys):
            content = self._large(key) if stored is None else stored
            if not isinstance(content, bytes) or _seal(key, content) != seal:
                damaged.append(key)
                continue
            contents[key] = content
            if not now - _USED_SECONDS < used <= now:
                stale.append(key)
        if damaged:
            self._remove(damaged)
            log.warning("%d kept results in %s are damaged; they are computed again", len(damaged), self.folder)
        if stale and not self._paused:
            self._tolerant(lambda: self._touch(stale, now), None)
        return contents

    def _touch(self, keys: Sequence[bytes], now: int) -> None:
        with self._lock:
            connection = self._open()
            with _transaction(connection):
                connection.executemany("UPDATE entries SET used = ? WHERE key = ?", [(now, key) for key in keys])

    def put(self, stage: str, key: bytes, content: bytes) -> None:
        """Keep the content, unless the disk refuses it."""
        self.put_many(stage, {key: content})

    def put_many(self, stage: str, contents: Mapping[bytes, bytes]) -> None:
        """Keep the contents, unless the disk refuses them. After a power cut they may be missing."""
        if contents and not self._paused:
            self._tolerant(lambda: self._write(stage, contents), None)

    def _write(self, stage: str, contents: Mapping[bytes, bytes]) -> None:
        private.make_folder(self.folder)
        if shutil.disk_usage(self.folder).free < _FREE_BYTES + 2 * sum(map(len, contents.values())):
            self._pause()
            return
        now = int(time.time())
        rows = []
        for key, content in contents.items():
            if len(content) > _INLINE_BYTES:
                private.make_folder(self.folder / _LARGE)
                write_bytes(self._large_path(key), content, private=True, sync=False)
            inline = content if len(content) <= _INLINE_BYTES else None
            rows.append((key, stage, now, len(content), _seal(key, content), inline))
        with self._lock:
            connection = self._open()
            with _transaction(connection):
                connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)

    def forget(self, keys: Iterable[bytes]) -> None:
        """Delete the entries of those keys."""
        if (self.folder / _DATABASE).is_file():
            self._tolerant(lambda: self._remove(list(keys)), None)

    def _remove(self, keys: Sequence[bytes]) -> None:
        with self._lock:
            connection = self._open()
            with _transaction(connection):
                connection.executemany("DELETE FROM entries WHERE key = ?", [(key,) for key in keys])
            for key in keys:
                self._large_path(key).unlink(missing_ok=True)

    def save(self, path: Path) -> None:
        """Write every entry into an Arrow file, by key: what is prepared for other machines. Raises StorageFailed."""
        with self._lock:
            rows = self._open().execute("SELECT stage, key, content FROM entries ORDER BY key").fetchall()
        entries = [(stage, key, self._large(key) if content is None else content) for stage, key, content in rows]
        columns = [[entry[place] for entry in entries] for place in range(len(_ENTRIES))]
        write_table(path, pa.table(columns, schema=_ENTRIES))

    def take(self, path: Path) -> None:
        """Keep what save() wrote into that file. Raises IndexDamaged for a file that does not read."""
        table = read_table(path)
        require_columns(table, _ENTRIES, path)
        stages = table["stage"].to_pylist()
        for stage in sorted(set(stages)):
            rows = table.filter(pa.array([each == stage for each in stages]))
            self.put_many(stage, dict(zip(rows["key"].to_pylist(), rows["content"].to_pylist(), strict=True)))

    def sizes(self) -> list[StageSize]:
        """Return what is kept, by stage."""
        if not (self.folder / _DATABASE).is_file():
            return []
        query = "SELECT stage, COUNT(*), SUM(size) FROM entries GROUP BY stage ORDER BY stage"

        def read() -> list[StageSize]:
            with self._lock:
                return [StageSize(*row) for row in self._open().execute(query)]

        return self._tolerant(read, [])

    def trim(self, max_bytes: int) -> int:
        """Keep at most so many bytes; return how many entries went. Those unused for longest go first."""
        if sum(size.size_bytes for size in self.sizes()) <= max_bytes:
            return 0
        return self._tolerant(lambda: self._trim(int(max_bytes * _TRIM_TO)), 0)

    def _trim(self, max_bytes: int) -> int:
        with self._lock:
            connection = self._open()
            total = connection.execute("SELECT COALESCE(SUM(size), 0) FROM entries").fetchone()[0]
            removed_keys: list[bytes] = []
            for key, size in connection.execute("SELECT key, size FROM entries ORDER BY used, rowid"):
                if total <= max_bytes:
                    break
                removed_keys.append(key)
                total -= size
            self._remove(removed_keys)
            self._sweep(connection)
            connection.executescript("PRAGMA incremental_vacuum;")  # execute() would free a single page
        log.info("%d kept results, unused for longest, were removed from %s", len(removed_keys), self.folder)
        return len(removed_keys)

    def _sweep(self, connection: sqlite3.Connection) -> None:
        """Delete large files without an entry: what a process left that was killed between the two."""
        known_keys = {key.hex() for (key,) in connection.execute("SELECT key FROM entries WHERE content IS NULL")}
        newest = time.time() - _USED_SECONDS
        for path in self._large_files():
            with suppress(FileNotFoundError):
                if path.name not in known_keys and path.stat().st_mtime < newest:
                    path.unlink()

    def clear(self) -> None:
        """Delete all that is kept. Builds that are under way go on."""
        if (self.folder / _DATABASE).is_file():
            self._tolerant(self._clear, None)

    def _clear(self) -> None:
        with self._lock:
            connection = self._open()
            with _transaction(connection):
                connection.execute("DELETE FROM entries")
            for path in self._large_files():
                path.unlink(missing_ok=True)
            connection.executescript("PRAGMA incremental_vacuum;")  # execute() would free a single page
            connection.executescript("PRAGMA wal_checkpoint(TRUNCATE);")

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    @property
    def _paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def _pause(self) -> None:
        """Write nothing for a while: a disk that is full now is most likely full at the next result, too."""
        self._paused_until = time.monotonic() + _PAUSE_SECONDS

    def _tolerant(self, work: Callable[[], T], otherwise: T) -> T:
        """Return what work gives; `otherwise` after an error of the disk or of SQLite, which is logged."""
        try:
            return work()
        except (sqlite3.Error, OSError, Timeout) as error:
            if not self._paused:
                log.warning("kept results in %s are not used (%s); the build goes on without them", self.folder, error)
            self._pause()
            with suppress(sqlite3.Error):
                self.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
                self._set_aside()
            return otherwise

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            private.make_folder(self.folder)
            path = self.folder / _DATABASE
            with self._opening():
                path.touch(mode=private.FILE)  # SQLite gives the files beside it the same rights
                private.tighten(self.folder)
                connection = sqlite3.connect(
                    path, timeout=_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
                )
                try:
                    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = NORMAL")
                    connection.executescript(_TABLES)
                except BaseException:
                    connection.close()
                    raise
            self._connection = connection
        return self._connection

    def _opening(self) -> FileLock:
        """Return the lock that is held while the file is opened or deleted: nobody opens one that is about to go."""
        return FileLock(self.folder / ".opening.lock", timeout=_TIMEOUT_SECONDS, mode=private.FILE)

    def _set_aside(self) -> None:
        """Set aside the file, which is no longer a database. What was in it is computed again."""
        with suppress(OSError, Timeout), self._opening():
            if _is_damaged(self.folder / _DATABASE):  # else another process has made a new one meanwhile
                for ending in ("", "-wal", "-shm"):
                    (self.folder / f"{_DATABASE}{ending}").unlink(missing_ok=True)
                for path in self._large_files():
                    path.unlink(missing_ok=True)
        self._paused_until = 0.0

    def _large_path(self, key: bytes) -> Path:
        return self.folder / _LARGE / key.hex()

    def _large_files(self) -> Iterator[Path]:
        folder = self.folder / _LARGE
        return (path for path in sorted(folder.iterdir()) if path.is_file()) if folder.is_dir() else iter(())

    def _large(self, key: bytes) -> bytes | None:
        with suppress(OSError):
            return self._large_path(key).read_bytes()
        return None


def _seal(key: bytes, content: bytes) -> bytes:
    """Return a hash of the content and of the place that it belongs to."""
    return hashlib.blake2b(content, key=key, digest_size=16).digest()


def _is_damaged(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=_TIMEOUT_SECONDS)) as connection:
            return list(islice(connection.execute("PRAGMA quick_check"), 1)) != [("ok",)]
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
