"""Stored records: frozen dataclasses to JSON and back, by pydantic.

Reading is strict: a number is no text, a whole number no fraction, and every number is finite. Fields that a newer
version added are passed over, unless the class refuses them (`__pydantic_config__ = {"extra": "forbid"}`). Writing is
deterministic: equal values give equal bytes. pydantic is imported with the first record.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, field, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from annotated_types import Interval, MaxLen, Predicate

from leanrag_core.errors import RecordDamaged
from leanrag_core.messages.message import message

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
MAX_BYTES = 64_000_000
_ABSENT = "absent at default"
# A path below a folder that cannot leave it.
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def _is_file_name(text: str) -> bool:
    return _FILE_NAME.fullmatch(text) is not None


def _is_sha256(text: str) -> bool:
    return _SHA256.fullmatch(text) is not None


Count = Annotated[int, Interval(ge=0, le=2**53)]
ShortText = Annotated[str, MaxLen(10_000)]
FileName = Annotated[str, Predicate(_is_file_name)]
Sha256 = Annotated[str, Predicate(_is_sha256)]


def absent_at_default(default: Any = None, *, factory: Callable[[], Any] | None = None) -> Any:
    """Declare a dataclass field that is left out of the stored record while it has its default. factory: makes the
    default."""
    if factory is not None:
        return field(default_factory=factory, metadata={_ABSENT: factory})
    return field(default=default, metadata={_ABSENT: lambda: default})


def may_be_absent(spec: "Field[Any]") -> bool:
    """Return whether a stored record leaves that field out while it has its default."""
    return _ABSENT in spec.metadata


def to_json(value: Any, *, indent: int | None = None) -> bytes:
    """Write the record as JSON, keys sorted. Raises TypeError when a field holds what its type does not allow."""
    return json_bytes(plain(value), indent=indent)


def json_bytes(values: Any, *, indent: int | None = None) -> bytes:
    """Write JSON values as the program stores them: keys sorted, characters as they are; with an indent a line each."""
    separators = None if indent is not None else (",", ":")
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return text.encode() + (b"\n" if indent is not None else b"")


def plain(value: Any) -> Any:
    """Return the record as JSON values (dict, list, text, number). Raises TypeError as to_json() does."""
    from pydantic_core import PydanticSerializationError

    try:
        return _adapter(type(value)).dump_python(value, mode="json", exclude=_absent(value), warnings="error")
    except PydanticSerializationError as error:
        raise TypeError(f"{type(value).__name__} cannot be stored: {error}") from error


def from_json(kind: type[T], content: bytes, *, name: str = "", max_bytes: int = MAX_BYTES) -> T:
    """Read the record of that type. name: of the file, for errors.

    Raises RecordDamaged for content that is too large, no JSON, or not of the type, and what the type itself raises.
    """
    name = name or kind.__name__
    values_of(content, name=name, max_bytes=max_bytes)
    return _validated(kind, content, name, closed=False)


def from_values(kind: type[T], values: Any, *, name: str = "", closed: bool = False) -> T:
    """Read the record of that type from JSON values. closed: fields of a newer version are refused. Raises as
    from_json() does."""
    # From JSON, since pydantic takes a list for a tuple, and an object for a dataclass, only there.
    return _validated(kind, json_bytes(values), name or kind.__name__, closed=closed)


def _validated(kind: type[T], content: bytes, name: str, *, closed: bool) -> T:
    from pydantic import ValidationError

    try:
        value: T = _adapter(kind).validate_json(content, strict=True, extra="forbid" if closed else None)
    except ValidationError as error:
        raise _damaged(name, error) from error
    return value


def values_of(content: bytes, *, name: str, max_bytes: int = MAX_BYTES) -> Any:
    """Read the JSON values of the content, of a bounded size and depth, all numbers finite, all characters whole.

    Raises RecordDamaged.
    """
    if len(content) > max_bytes:
        raise RecordDamaged(
            "record.damaged", name=name, reason=message("record.too_large", n=len(content), limit=max_bytes)
        )
    try:
        values = json.loads(content, parse_constant=_refuse, parse_float=_finite)
        if _SURROGATE.search(content):
            json_bytes(values)  # half a pair can be read, but neither shown nor written
    except RecursionError as error:
        raise RecordDamaged("record.damaged", name=name, reason=message("record.too_deep")) from error
    except ValueError as error:
        reason = message("record.not_json", reason=" ".join(str(error).split())[:200])
        raise RecordDamaged("record.damaged", name=name, reason=reason) from error
    return values


def _damaged(name: str, error: Any) -> RecordDamaged:
    """Name the first thing that pydantic found wrong. error: its ValidationError."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    where = message("plain", text=place) if place else message("record.outermost")
    if first["type"] == "missing":
        reason = message("record.missing", field=where)
    elif first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        reason = message("record.unknown_field", field=where)
    else:
        reason = message("record.wrong_value", field=where, reason=str(first["msg"])[:200])
    return RecordDamaged("record.damaged", name=name, reason=reason, field=place)


def _new_adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


_adapter: Callable[[Any], "TypeAdapter[Any]"] = cache(_new_adapter)


_LEAVES = frozenset([str, int, float, bool, type(None)])  # most of what a record holds


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Callable[[], Any] | None], ...]:
    """Return the fields of the dataclass, each with what makes the default at which it is left out, if any."""
    return tuple((spec.name, spec.metadata.get(_ABSENT)) for spec in fields(kind))


def _absent(value: Any) -> dict[Any, Any]:
    """Return what is left out of the record, in the form of pydantic's `exclude`."""
    left_out: dict[Any, Any] = {}
    kind: Any = type(value)
    if kind in _LEAVES:
        return left_out
    if is_dataclass(value):
        for name, default in _defaults(kind):
            content = getattr(value, name)
            if default is not None and content == default():
                left_out[name] = True
            elif within := _absent(content):
                left_out[name] = within
    elif isinstance(value, Mapping):
        left_out = {key: within for key, content in value.items() if (within := _absent(content))}
    elif isinstance(value, tuple | list):
        left_out = {row: within for row, content in enumerate(value) if (within := _absent(content))}
    return left_out


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large a number")
    return number
