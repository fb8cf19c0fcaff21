"""The store of experiments and of sweeps: a folder for each record, those that come with the program beside it.

spec.json     what is run; the id is made of it and of what it is run on. A folder without it holds nothing
record.json   what was known when it began, and whether everything is done
*.jsonl       a line for each result, appended as work is done

A process that is killed leaves a last line that is cut; it is dropped and its work done again. A complete record has
its lines in the order of its specification, so repeating it gives the same bytes.
"""

import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from filelock import FileLock, Timeout

from leanrag_core.errors import InvalidConfig, LeanRAGError, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.types.summary import Damaged

SPEC, RECORD = "spec.json", "record.json"
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_MAX_BYTES = 500_000_000


class Summary(Protocol):
    """A row in a list of records. changed: when, ISO 8601."""

    @property
    def is_shipped(self) -> bool: ...

    @property
    def changed(self) -> str: ...


S = TypeVar("S", bound=Summary)
W = TypeVar("W", bound="RecordWriter")
T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """What a store holds. spec, record: the types of its two JSON files. lines: names of its files of lines. what: code
    of the record in messages about files. The others make the error of an id that is not in the store, of a change of a
    record of the program, and of one that another process writes to."""

    spec: type
    record: type
    lines: tuple[str, ...]
    what: str
    not_found: Callable[[str], LeanRAGError]
    shipped_stays: Callable[[str], InvalidConfig]
    runs_elsewhere: Callable[[str], InvalidConfig]


class RecordStore(ABC, Generic[S, W]):
    """Lists, begins, locks and deletes records. shipped: the folder of those that come with the program."""

    kind: Kind
    writer_type: type[W]

    def __init__(self, root: Path, shipped: Path) -> None:
        self.root, self._shipped = root, shipped
        private.tighten_file(root)

    @abstractmethod
    def summary(self, id_: str) -> S:
        """Return the record's row in a list. Raises kind.not_found(), RecordDamaged."""

    def all(self) -> tuple[S, ...]:
        """Return the records that read: the person's own, the last changed first, then those of the program."""
        summaries = [each for each in map(self._summary_or_damage, self._ids()) if not isinstance(each, Damaged)]
        own_summaries = sorted(
            (each for each in summaries if not each.is_shipped), key=lambda each: each.changed, reverse=True
        )
        return (*own_summaries, *(each for each in summaries if each.is_shipped))

    def damaged(self) -> tuple[Damaged, ...]:
        """Return the records that do not read, and why."""
        return tuple(each for each in map(self._summary_or_damage, self._ids()) if isinstance(each, Damaged))

    def changes(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Return the ids of the records, unreadable ones too, in the order of all(), each with the times when its files
        changed last. No record is read."""
        own_times, shipped = list[tuple[str, tuple[int, ...]]](), list[tuple[str, tuple[int, ...]]]()
        for id_ in self._ids():
            with suppress(LeanRAGError, FileNotFoundError):  # deleted just now
                (shipped if self.is_shipped(id_) else own_times).append((id_, self.changed(id_)))
        return (*sorted(own_times, key=lambda each: max(each[1]), reverse=True), *shipped)

    def folder(self, id_: str) -> Path:
        """Return where the record lies: the person's own before that of the program. Raises kind.not_found()."""
        if _ID.fullmatch(id_):
            for root in (self.root, self._shipped):
                if (root / id_ / SPEC).is_file():
                    return root / id_
        raise self.kind.not_found(id_)

    def is_there(self, id_: str) -> bool:
        """Tell whether the store, or the program, has a record of that id."""
        return bool(_ID.fullmatch(id_)) and any((root / id_ / SPEC).is_file() for root in (self.root, self._shipped))

    def is_shipped(self, id_: str) -> bool:
        """Tell whether the record is one of the program, without a copy of the person's own. Raises
        kind.not_found()."""
        return self.folder(id_).parent == self._shipped

    def changed(self, id_: str) -> tuple[int, ...]:
        """Return when each of the record's files changed last, in nanoseconds; 0 for one that is not there. Raises
        kind.not_found()."""
        paths = [self.folder(id_) / name for name in (SPEC, RECORD, *self.kind.lines)]
        return tuple(path.stat().st_mtime_ns if path.is_file() else 0 for path in paths)

    def _begin(self, id_: str, spec: Any, record: Any, lines: Mapping[str, Iterable[Any]]) -> None:
        """Store the record without results. lines: of the files that it begins with."""
        folder = self.root / id_
        with writing(message(self.kind.what, title=spec.title)):
            private.make_folder(self.root)
            private.make_folder(folder)
            for name, values in lines.items():
                _write(folder / name, _lines(values))
            _write(folder / RECORD, to_json(record, indent=1))
            _write(folder / SPEC, to_json(spec, indent=1))  # last: without it there is no record

    def delete(self, id_: str) -> None:
        """Delete the record, a damaged one too. Raises kind.not_found(), InvalidConfig for one of the program and for
        one that another process runs, StorageFailed."""
        with self._locked(id_) as folder, writing(message(self.kind.what, title=id_)):
            shutil.rmtree(folder)

    @contextmanager
    def writer(self, id_: str) -> Iterator[W]:
        """Append to the record while the block lasts; no other process does meanwhile. Raises as delete() does,
        RecordDamaged."""
        with self._locked(id_) as folder:
            yield self.writer_type(folder, self.kind)

    @contextmanager
    def _locked(self, id_: str) -> Iterator[Path]:
        """Yield the record's folder, which no other process writes to while the block lasts."""
        folder = self.folder(id_)
        if folder.parent == self._shipped:
            raise self.kind.shipped_stays(id_)
        path = self.root / f".{id_}.lock"
        lock = FileLock(path, mode=private.FILE)
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise self.kind.runs_elsewhere(id_) from error
        try:
            yield folder
        finally:
            path.unlink(missing_ok=True)
            lock.release()

    def _ids(self) -> list[str]:
        folders = [path.parent for root in (self.root, self._shipped) for path in root.glob(f"*/{SPEC}")]
        return sorted({folder.name for folder in folders if _ID.fullmatch(folder.name)})

    def _summary_or_damage(self, id_: str) -> S | Damaged:
        try:
            return self.summary(id_)
        except LeanRAGError as error:
            return Damaged(id_, str(error))


class RecordWriter:
    """Adds the results of a record; lines that the end of a process has cut are dropped first."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        self._folder, self._kind = folder, kind
        self._what = message(kind.what, title=read_record(kind.spec, folder / SPEC).title)
        with writing(self._what):
            for name in kind.lines:
                _drop_cut_line(folder / name)

    def _append(self, lines: Mapping[str, Sequence[Any]]) -> None:
        """Put lines at the end of files, and on the disk, in this order of files."""
        with writing(self._what):
            for name, values in lines.items():
                if values:
                    with open(self._folder / name, "ab", opener=private.opener) as file:
                        file.write(_lines(values))
                        file.flush()
                        os.fsync(file.fileno())

    def _rewrite(self, lines: Mapping[str, Iterable[Any]], **changes: Any) -> None:
        """Replace the content of the files by these lines, where there are any, and change the record."""
        with writing(self._what):
            record: Any = read_record(self._kind.record, self._folder / RECORD)
            for name, values in lines.items():
                content, path = _lines(values), self._folder / name
                if content and (not path.is_file() or path.read_bytes() != content):
                    _write(path, content)
            _write(self._folder / RECORD, to_json(replace(record, **changes), indent=1))


def read_record(kind: type[T], path: Path) -> T:
    """Return the record of the file. Raises RecordDamaged."""
    return from_json(kind, _content(path), name=path.name)


def read_lines(kind: type[T], path: Path, *, holding: str = "") -> tuple[T, ...]:
    """Return the records of a file of lines, without a last one that is cut; none where there is no file. holding: only
    those whose line has that value somewhere. Raises RecordDamaged."""
    content = _content(path) if path.is_file() else b""
    complete_lines = content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]
    sought = to_json(holding) if holding else b""
    numbered = [(number, line) for number, line in enumerate(complete_lines, start=1) if sought in line]
    return tuple(from_json(kind, line, name=f"{path.name}:{number}") for number, line in numbered)


def time_of(changed: Iterable[int]) -> str:
    """Return the last of those times, which are in nanoseconds, as ISO 8601."""
    return datetime.fromtimestamp(max(changed) / 1e9, UTC).isoformat(timespec="microseconds")


def _lines(values: Iterable[Any]) -> bytes:
    return b"".join(to_json(value) + b"\n" for value in values)


def _write(path: Path, content: bytes) -> None:
    write_bytes(path, content, private=True)


def _drop_cut_line(path: Path) -> None:
    content = path.read_bytes() if path.is_file() else b""
    complete_lines = content[: content.rfind(b"\n") + 1]
    if len(complete_lines) < len(content):
        _write(path, complete_lines)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        reason = message("plain", text=error.strerror or str(error))
        raise RecordDamaged("record.damaged", name=path.name, reason=reason) from error
    if len(content) > _MAX_BYTES:
        reason = message("record.too_large", n=len(content), limit=_MAX_BYTES)
        raise RecordDamaged("record.damaged", name=path.name, reason=reason)
    return content
