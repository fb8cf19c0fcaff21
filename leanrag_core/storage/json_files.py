"""JSON files of an index. They may come from anybody: of a bounded size and depth, every number finite.

A sealed object carries the hash of its other values, so that a changed character is noticed where no other file says
what it should be.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from leanrag_core.errors import IndexDamaged, RecordDamaged
from leanrag_core.files.records import from_values, json_bytes, values_of
from leanrag_core.messages.message import Message, message
from leanrag_core.text.plain_words import in_words

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
    """Raises IndexDamaged when the values are not those that were sealed; what was never sealed passes."""
    if SEAL in values and values != sealed(values):
        raise damaged(path, message("damage.changed"))
