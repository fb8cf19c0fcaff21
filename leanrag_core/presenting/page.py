"""What a slide says and draws before it is put into words: messages of the catalog, and JSON values of its picture."""

from dataclasses import dataclass
from typing import Any

from leanrag_core.messages.message import Message


@dataclass(frozen=True)
class Claim:
    """What a slide claims: a first sentence, which is set bold, and what supports it."""

    strong: Message | None
    rest: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A number in large type, and what it is."""

    value: str
    label: Message


NO_CLAIM = Claim(None)


@dataclass(frozen=True)
class Page:
    """title, claim, foot: see slides.View."""

    title: Message
    claim: Claim
    picture: Any
    foot: tuple[Message, ...] = ()
