"""Questions that were asked, as a home remembers them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from leanrag_core.files.records import ShortText

MAX_NOTE = 2_000  # characters
MAX_ANSWER = 400  # characters of an answer's beginning


@dataclass(frozen=True)
class HistoryEntry:
    """A question to an index. link: names and values of the page's address with which it was first asked. asked: when,
    ISO time. answer: how it begins. follows: id of the question before it in a thread, then written is the follow-up as
    a person wrote it, and way how it was made to stand alone: rule, model or person."""

    id: str
    question: ShortText
    index: ShortText
    index_name: ShortText
    strategy: ShortText
    asked: ShortText
    link: Mapping[str, ShortText] = field(default_factory=dict)
    answer: ShortText = ""
    pinned: bool = False
    note: ShortText = ""
    follows: ShortText = ""
    written: ShortText = ""
    way: ShortText = ""

    @classmethod
    def now(cls, index: str, index_name: str, question: str, strategy: str, **others: Any) -> "HistoryEntry":
        """Make the entry of a question that is asked now. index: its name in links. others: further fields."""
        asked = datetime.now(UTC).isoformat(timespec="milliseconds")
        return cls(entry_id(index, question), question, index, index_name, strategy, asked, **others)

    def holds(self, text: str) -> bool:
        """Return whether every word of the text occurs in the question, its answer, its note, or the index's name."""
        texts = " ".join((self.question, self.written, self.answer, self.note, self.index_name)).casefold()
        return all(word in texts for word in text.casefold().split())


def entry_id(index: str, question: str) -> str:
    """Return the id of a question to an index: asked again it is the same entry."""
    return hashlib.sha256(f"{index}\0{question}".encode()).hexdigest()[:16]
