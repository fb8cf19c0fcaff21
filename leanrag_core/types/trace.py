"""What a strategy did with a question, as ordered steps that can be drawn one by one."""

from dataclasses import dataclass, field
from typing import Any

from leanrag_core.types.usage import NO_USAGE, Usage


@dataclass(frozen=True)
class Seed:
    """A seed entity v of eq. 6. row: in layer `layer` (0 but for variants). score: cosine. rank: 1 is best."""

    id: str
    name: str
    layer: int
    row: int
    score: float
    rank: int


@dataclass(frozen=True)
class TraceNode:
    """A node of V_ret (eq. 8). role: seed, path or lca. parent_id: its parent within V_ret, None for the top."""

    id: str
    name: str
    layer: int
    row: int
    role: str
    type: str
    description: str
    parent_id: str | None
    rank: int | None = None  # seed rank


@dataclass(frozen=True)
class TraceRelation:
    """A relation of R_ret (eq. 9-10). kind: tree, base, inter-cluster. made: summarised, concatenated, or the
    base relation's own kind; strength is lambda for inter-cluster relations, weight for base ones. row: in the
    relations of its layer, None for tree links."""

    id: str
    source: str
    target: str
    layer: int
    kind: str
    made: str
    strength: float
    description: str
    row: int | None = None


@dataclass(frozen=True)
class RetrievedChunk:
    """A source chunk chosen for the context; seeds: ids of the seed entities that occur in it, best first."""

    id: str
    row: int
    document: str
    document_row: int
    title: str
    start: int
    end: int
    page: int | None
    seed_count: int
    seeds: tuple[str, ...]
    best_rank: int
    score: float
    text: str
    tokens: int


@dataclass(frozen=True)
class ContextItem:
    """One item of the context. mark: its citation mark, e.g. E1, A2, R3, C1. ref: id of the entity, relation
    or chunk it stands for. kind: see Lost. lead: characters of the text before the description begins. trimmed: the
    description was cut to fit."""

    mark: str
    ref: str
    text: str
    tokens: int
    kind: str = ""
    lead: int = 0
    trimmed: bool = False


@dataclass(frozen=True)
class Lost:
    """What a section lacks of one kind: seed, aggregated, findings, inter-cluster, base or chunk."""

    kind: str
    offered: int
    left_out: int
    trimmed: int


@dataclass(frozen=True)
class ContextSection:
    """A section of the context with its own budget; left_out counts items that did not fit, trimmed those that were
    cut. lost: the same by kind, of the kinds that lack something."""

    name: str  # entities, aggregated, relations, chunks
    items: tuple[ContextItem, ...]
    text: str
    tokens: int
    budget: int
    left_out: int
    trimmed: int = 0
    lost: tuple[Lost, ...] = ()


@dataclass(frozen=True)
class Context:
    """The four sections in order, and their joined text as sent to a model. tokens: cl100k count of text."""

    text: str
    tokens: int
    sections: tuple[ContextSection, ...]

    def section(self, name: str) -> ContextSection:
        """The section of that name. Raises KeyError for an unknown name."""
        return {section.name: section for section in self.sections}[name]


@dataclass(frozen=True)
class TraceStep:
    """One step of the retrieval. name: seeds, climb, lca, relations, chunks, context. caption: one sentence
    that says what happened; node_ids and relation_ids: what this step lights up."""

    name: str
    caption: str
    node_ids: tuple[str, ...] = ()
    relation_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """All that a strategy retrieved for a question, with reasons, timings and notes for the reader.

    search: how the vectors were searched, exact or approximate.
    """

    question: str
    strategy: str
    parameters: dict[str, Any]
    seeds: tuple[Seed, ...]
    lca: TraceNode | None
    nodes: tuple[TraceNode, ...]
    relations: tuple[TraceRelation, ...]
    chunks: tuple[RetrievedChunk, ...]
    context: Context
    steps: tuple[TraceStep, ...]
    timings_ms: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    usage: Usage = NO_USAGE
    ranked_chunks: tuple[int, ...] = ()  # rows of all candidate chunks in rank order, beyond top-C too
    search: str = "exact"


@dataclass(frozen=True)
class AnswerPart:
    """A piece of an answer: a sentence and the citation marks that support it. section: of the context, where the
    sentence of an extractive answer stands; empty when a model wrote it."""

    text: str
    marks: tuple[str, ...]
    section: str = ""


@dataclass(frozen=True)
class Answer:
    """An answer from a context alone. text: with marks in brackets, e.g. "... [C1]". extractive: made of the
    context's own sentences. grounded: False when the context does not answer (text then says so)."""

    text: str
    parts: tuple[AnswerPart, ...]
    citations: tuple[str, ...]
    grounded: bool
    extractive: bool
    model: str
    trace: Trace
    usage: Usage = NO_USAGE
