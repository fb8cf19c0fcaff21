"""Stored records: frozen dataclasses to JSON and back, by pydantic.

Reading is strict: a number is no text, a whole number no fraction, and every number is finite. Fields that a newer
version added are passed over, unless the class refuses them (`__pydantic_config__ = {"extra": "forbid"}`). Writing is
deterministic: equal values give equal bytes. pydantic is imported with the first record.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import field, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from leanrag_core.errors import RecordDamaged
from leanrag_core.messages.message import message

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
MAX_BYTES = 64_000_000
_ABSENT = "absent at default"


def absent_at_default(default: Any = None) -> Any:
    """A dataclass field that is left out of the stored record while it has its default."""
    return field(default=default, metadata={_ABSENT: True})


def to_json(value: Any, *, indent: int | None = None) -> bytes:
    """The record as JSON, keys sorted. Raises TypeError when a field holds what its type does not allow."""
    return json_bytes(plain(value), indent=indent)


def json_bytes(values: Any, *, indent: int | None = None) -> bytes:
    """JSON values as the program stores them: keys sorted, characters as they are; with an indent a line each."""
    separators = None if indent is not None else (",", ":")
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return text.encode() + (b"\n" if indent is not None else b"")


def plain(value: Any) -> Any:
    """The record as JSON values (dict, list, text, number). Raises TypeError as to_json() does."""
    from pydantic_core import PydanticSerializationError

    try:
        return _adapter(type(value)).dump_python(value, mode="json", exclude=_absent(value), warnings="error")
    except PydanticSerializationError as error:
        raise TypeError(f"{type(value).__name__} cannot be stored: {error}") from error


def from_json(kind: type[T], content: bytes, *, name: str = "", max_bytes: int = MAX_BYTES) -> T:
    """The record of that type. name: of the file, for errors.

    Raises RecordDamaged for content that is too large, no JSON, or not of the type, and what the type itself raises.
    """
    from pydantic import ValidationError

    name = name or kind.__name__
    values_of(content, name=name, max_bytes=max_bytes)
    try:
        value: T = _adapter(kind).validate_json(content, strict=True)
    except ValidationError as error:
        raise _damaged(name, error) from error
    return value


def values_of(content: bytes, *, name: str, max_bytes: int = MAX_BYTES) -> Any:
    """The JSON values of the content, of a bounded size and depth, all numbers finite, all characters whole.

    Raises RecordDamaged.
    """
    if len(content) > max_bytes:
        raise RecordDamaged("record.too_large", name=name, n=len(content), limit=max_bytes)
    try:
        values = json.loads(content, parse_constant=_refuse, parse_float=_finite)
        json_bytes(values)  # half a surrogate pair can be read, but neither shown nor written
    except RecursionError as error:
        raise RecordDamaged("record.too_deep", name=name) from error
    except ValueError as error:
        raise RecordDamaged("record.not_json", name=name, reason=" ".join(str(error).split())[:200]) from error
    return values


def _damaged(name: str, error: Any) -> RecordDamaged:
    """The first thing that pydantic found wrong. error: its ValidationError."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        reason = message("record.missing")
    elif first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        reason = message("record.unknown_field")
    else:
        reason = message("record.wrong_value", reason=str(first["msg"])[:200])
    where = message("record.field", field=place) if place else message("record.outermost")
    damaged = RecordDamaged("record.damaged", name=name, field=where, reason=reason)
    damaged.field = place
    return damaged


def _new_adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


_adapter: Callable[[Any], "TypeAdapter[Any]"] = cache(_new_adapter)


def _absent(value: Any) -> dict[Any, Any]:
    """What is left out of the record, as pydantic's `exclude` wants it."""
    left_out: dict[Any, Any] = {}
    if is_dataclass(value):
        for spec in fields(value):
            held = getattr(value, spec.name)
            if spec.metadata.get(_ABSENT) and held == spec.default:
                left_out[spec.name] = True
            elif within := _absent(held):
                left_out[spec.name] = within
    elif isinstance(value, Mapping):
        left_out = {key: within for key, held in value.items() if (within := _absent(held))}
    elif isinstance(value, tuple | list):
        left_out = {row: within for row, held in enumerate(value) if (within := _absent(held))}
    return left_out


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large a number")
    return number
