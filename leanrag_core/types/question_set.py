"""Kinds of questions, and what is known of a question set without reading it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leanrag_core.types.model_names import BUILTIN

UPLOADED, WRITTEN, GENERATED, SHIPPED = "uploaded", "written", "generated", "shipped"
WHOLE_CORPUS = "whole-corpus"  # kind of a question whose answer is spread over many documents
UNANSWERABLE = "unanswerable"  # kind of a question that the corpus does not answer
FACT, MULTI_HOP, COMPARISON = "fact", "multi-hop", "comparison"
TEMPLATE_KINDS = (FACT, MULTI_HOP, COMPARISON, WHOLE_CORPUS)
ORIGINS = (UPLOADED, WRITTEN, GENERATED, SHIPPED)


@dataclass(frozen=True)
class QuestionSetInfo:
    """A question set for lists. kinds: how many questions of each kind, "" for those without one. n_evidence,
    n_answers: how many have gold evidence, and a gold answer. corpus_id: the corpus that it asks about, "" where
    unknown. origin: of ORIGINS. about: for a generated set how it was made, such as the model and the seed."""

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
