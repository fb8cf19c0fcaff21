"""A message as a code and values; the catalog turns it into a sentence of a language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

Value = Union[str, int, float, bool, None, "Message", tuple["Message", ...]]


@dataclass(frozen=True)
class Message:
    """What a person reads. code: such as "leanrag.seeds", the key in the catalog.

    values: what the sentence is filled with. A value may be a message itself, or a tuple of messages, which become a
    list ("a, b and c"). The value `n`, where there is one, decides between singular and plural.
    """

    code: str
    values: Mapping[str, Value] = field(default_factory=dict)


def message(code: str, /, **values: Value) -> Message:
    """Make Message(code, values)."""
    return Message(code, values)


def with_text_replaced(value: Message, old: str, new: str) -> Message:
    """Return the message with a piece of text replaced in all its values, those of messages in it included."""
    return Message(value.code, {name: _replaced(inner, old, new) for name, inner in value.values.items()})


def _replaced(value: Value, old: str, new: str) -> Value:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Message):
        return with_text_replaced(value, old, new)
    if isinstance(value, tuple):
        return tuple(with_text_replaced(part, old, new) for part in value)
    return value
