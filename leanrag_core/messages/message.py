"""A message as a code and values; the catalog turns it into a sentence of a language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

Value = Union[str, int, float, bool, None, "Message", tuple["Message", ...]]


@dataclass(frozen=True)
class Message:
    """What is to be told. code: such as "leanrag.seeds", the key in the catalog.

    values: what the sentence is filled with. A value may be a message itself, or a tuple of messages, which become a
    list ("a, b and c"). The value `n`, where there is one, decides between singular and plural.
    """

    code: str
    values: Mapping[str, Value] = field(default_factory=dict)


def message(code: str, **values: Value) -> Message:
    """Shorthand for Message(code, values)."""
    return Message(code, values)
