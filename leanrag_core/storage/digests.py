"""JSON files of an index, which may come from anybody, and size and sha256 of every file of an index."""

import contextlib
import hashlib
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from leanrag_core.errors import IndexDamaged, RecordDamaged
from leanrag_core.files.records import from_values, json_bytes, values_of
from leanrag_core.messages.message import Message, message
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.manifest import FileRecord

T = TypeVar("T")
SEAL = "sha256"


def damaged(path: Path, problem: Message) -> IndexDamaged:
    """Return the error that the file has this problem, and what to do. The value "row" of the problem is a row of the
    file's table."""
    return IndexDamaged("index.damaged", path=str(path), problem=problem)


def read_object(path: Path, *, max_bytes: int) -> dict[str, Any]:
    """Return the JSON object in the file. Raises IndexDamaged, naming the file, for anything else."""
    try:
        size = path.stat().st_size
        if size > max_bytes:  # before it is read
            raise damaged(path, message("damage.too_large", n=size, limit=max_bytes))
        values = values_of(path.read_bytes(), name=path.name, max_bytes=max_bytes)
        if not isinstance(values, dict):
            raise damaged(path, message("damage.no_object"))
    except RecordDamaged as error:
        raise damaged(path, message("damage.unreadable", reason=error.reason)) from error
    except OSError as error:
        raise damaged(path, message("damage.unreadable", reason=in_words(error))) from error
    return values


def read_record(kind: type[T], path: Path, values: Mapping[str, Any]) -> T:
    """Return the record of that type of the file's JSON values. Raises IndexDamaged, naming the file and the field."""
    try:
        return from_values(kind, values, name=path.name)
    except RecordDamaged as error:
        raise damaged(path, message("damage.not_a_record", reason=error.reason)) from error


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with their own hash."""
    bare = {name: value for name, value in values.items() if name != SEAL}
    return {**bare, SEAL: hashlib.sha256(json_bytes(bare)).hexdigest()}


def require_seal(values: Mapping[str, Any], path: Path) -> None:
    """Raise IndexDamaged when the values are not those that were sealed; what was never sealed passes."""
    if SEAL in values and values != sealed(values):
        raise damaged(path, message("damage.changed"))


Digests = Mapping[str, FileRecord]  # by path below the folder
_HASHED_ON_OPENING = 64_000_000  # bytes; some 0.05 s


def digest(path: Path) -> str:
    """Return the sha256 of the file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record_of(path: Path) -> FileRecord:
    """Return what a manifest records of the file."""
    return FileRecord(path.stat().st_size, digest(path))


def digests_of(folder: Path, names: Iterable[str]) -> dict[str, FileRecord]:
    """Return what a manifest records of those files."""
    return {name: record_of(folder / name) for name in sorted(names)}


def require_same(folder: Path, recorded: Digests) -> None:
    """Raise IndexDamaged for the first file that has another size, or, of the smallest ones, another hash.

    Large files are not read completely here: an index of a million entities opens in a fraction of a second, and
    storage.tables keeps out what a changed byte could do to the reader. `check` reads all.
    """
    for name, problem in wrong_sizes(folder, recorded):
        raise damaged(folder / name, problem)
    room = _HASHED_ON_OPENING
    for name in sorted(recorded, key=lambda name: (recorded[name].size, name)):
        room -= recorded[name].size
        if room < 0:
            return
        if digest(folder / name) != recorded[name].sha256:
            raise damaged(folder / name, message("damage.changed"))


def wrong_sizes(folder: Path, recorded: Digests) -> Iterator[tuple[str, Message]]:
    """Yield names of the files that are missing or have another size than recorded, and what is wrong."""
    for name, record in recorded.items():
        try:
            file_stat = (folder / name).stat()
        except OSError as error:
            yield name, message("damage.missing", reason=error.strerror or "")
            continue
        if not stat.S_ISREG(file_stat.st_mode):
            yield name, message("damage.no_file")
        elif file_stat.st_size != record.size:
            yield name, message("damage.size", size=file_stat.st_size, recorded=record.size)


def differing(folder: Path, recorded: Digests) -> Iterator[tuple[str, Message]]:
    """Yield names of all files that are not as recorded, each read through, and what is wrong."""
    wrong = dict(wrong_sizes(folder, recorded))
    for name in sorted(recorded):
        if name in wrong:
            yield name, wrong[name]
        elif digest(folder / name) != recorded[name].sha256:
            yield name, message("damage.other_hash")


@contextlib.contextmanager
def damage_named(folder: Path | None, recorded: Digests) -> Iterator[None]:
    """Turn an error inside the block into IndexDamaged where a file of the index is no longer what was written.

    A large file is not read completely when an index is opened, so one of its texts may turn out to be no UTF-8 later.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AssertionError) as error:
        if folder is not None:
            for name, problem in differing(folder, recorded):
                raise damaged(folder / name, problem) from error
            if isinstance(error, UnicodeDecodeError):  # in an index without hashes
                raise damaged(folder, message("damage.no_text")) from error
        raise
