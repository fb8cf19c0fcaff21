"""Files of records: one record in a file, or a line for each, the last of which may be cut by the end of a process."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from leanrag_core import private
from leanrag_core.atomic import write_bytes
from leanrag_core.errors import RecordDamaged
from leanrag_core.messages.message import message
from leanrag_core.records import from_json, to_json

T = TypeVar("T")
_MAX_BYTES = 500_000_000


def lines(values: Iterable[Any]) -> bytes:
    """A line of JSON for each record."""
    return b"".join(to_json(value) + b"\n" for value in values)


def write(path: Path, content: bytes) -> None:
    """The file holds the content, complete or not at all, and other users cannot read it."""
    write_bytes(path, content, private=True)


def append_lines(path: Path, values: Sequence[Any]) -> None:
    """The records are at the end of the file, and on the disk."""
    with open(path, "ab", opener=private.opener) as file:
        file.write(lines(values))
        file.flush()
        os.fsync(file.fileno())


def drop_cut_line(path: Path) -> None:
    """A last line that has no end is gone."""
    content = path.read_bytes() if path.is_file() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        write(path, whole)


def read_record(kind: type[T], path: Path) -> T:
    """The record of the file. Raises RecordDamaged."""
    return from_json(kind, _content(path), name=path.name)


def read_lines(kind: type[T], path: Path) -> Iterator[T]:
    """The records of a file of lines, without a last one that is cut; none where there is no file. Raises
    RecordDamaged."""
    if not path.is_file():
        return
    content = _content(path)
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        yield from_json(kind, line, name=f"{path.name}:{number}")


def changed(path: Path) -> int:
    """When the file changed last, in nanoseconds; 0 where there is none."""
    return path.stat().st_mtime_ns if path.is_file() else 0


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
