"""Questions of a set, and questions that were asked, as a home remembers them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from leanrag_core.files.records import ShortText
from leanrag_core.types.config import BUILTIN

UPLOADED, WRITTEN, GENERATED, SHIPPED = "uploaded", "written", "generated", "shipped"
WHOLE_CORPUS = "whole-corpus"  # kind of a question whose answer is spread over many documents
UNANSWERABLE = "unanswerable"  # kind of a question that the corpus does not answer
FACT, MULTI_HOP, COMPARISON = "fact", "multi-hop", "comparison"
TEMPLATE_KINDS = (FACT, MULTI_HOP, COMPARISON, WHOLE_CORPUS)


@dataclass(frozen=True)
class QuestionSetInfo:
    """A question set for lists. kinds: how many questions of each kind, "" for those without one. n_evidence,
    n_answers: how many have gold evidence, and a gold answer. corpus_id: the corpus that it asks about, "" where
    unknown. origin: UPLOADED, WRITTEN, GENERATED or SHIPPED. about: for a generated set how it was made, such as the
    model and the seed."""

    id: str
    title: str
    n: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    n_evidence: int = 0
    n_answers: int = 0
    corpus_id: str = ""
    origin: str = UPLOADED
    about: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with the program and cannot be deleted."""
        return self.origin == SHIPPED


@dataclass(frozen=True)
class Generation:
    """How questions are generated. model: "builtin" fills templates with entities and relations, others are asked.

    n, kinds, seed: of templates, so many questions of each kind. users, tasks, questions: of a model, so many tasks of
    each user and questions of each task (GraphRAG, algorithm 1: 5 x 5 x 5).
    """

    model: str = BUILTIN
    n: int = 10
    kinds: tuple[str, ...] = TEMPLATE_KINDS
    seed: int = 0
    users: int = 5
    tasks: int = 5
    questions: int = 5

    @property
    def n_calls(self) -> int:
        """How many calls of a model it takes where every reply can be used."""
        return 0 if self.model == BUILTIN else 1 + self.users + self.users * self.tasks


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
