"""Trace and answer as the plain values that `ask --json` gives."""

from collections.abc import Mapping
from typing import Any, NotRequired

from typing_extensions import TypedDict  # pydantic, which describes these to programs, reads no other before 3.12

from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.trace import Answer, AnswerPart, Context, Parameter, Trace, TraceItem, TraceRelation


class SeedRecord(TypedDict):
    """A base entity similar to the question, the best one of rank 1."""

    id: str
    name: str
    score: float | None
    rank: int | None


class AncestorRecord(TypedDict):
    """The lowest common ancestor of the seeds."""

    id: str
    name: str
    layer: int | None


class NodeRecord(AncestorRecord):
    """What was retrieved beside passages."""

    role: str


class RelationRecord(TypedDict):
    """A relation between two nodes, by their ids."""

    id: str
    source: str
    target: str
    layer: int | None
    kind: str
    made: str
    strength: float
    description: str
    row: int | None


class ChunkRecord(TypedDict):
    """A passage, and where its document has it: characters from start to end."""

    id: str
    document: str
    start: int
    end: int
    seed_count: int
    text: str


class LostRecord(TypedDict):
    """How many of a kind did not fit into the context, or not whole."""

    kind: str
    offered: int
    left_out: int
    trimmed: int


class ContextRecord(TypedDict):
    """The context as a model reads it. tokens, left_out, trimmed: by section; the tokens with their total."""

    text: str
    tokens: dict[str, int]
    left_out: dict[str, int]
    trimmed: dict[str, int]
    lost: list[LostRecord]


class PartRecord(TypedDict):
    """A sentence of an answer with the marks that support it."""

    text: str
    marks: list[str]
    section: str


class AnswerRecord(TypedDict):
    """An answer. grounded: whether the context answers; else nearest holds the sentences that come nearest, and because
    the reason where it is known. extractive: made of the context's own sentences."""

    text: str
    citations: list[str]
    grounded: bool
    extractive: bool
    parts: list[PartRecord]
    nearest: list[PartRecord]
    because: str | None


class AskRecord(TypedDict):
    """What a strategy did with a question, and the answer. usage: calls of a language model, their tokens and cost."""

    question: str
    strategy: str
    parameters: Mapping[str, Parameter]
    seeds: list[SeedRecord]
    lca: AncestorRecord | None
    nodes: list[NodeRecord]
    relations: list[RelationRecord]
    chunks: list[ChunkRecord]
    context: ContextRecord
    answer: AnswerRecord | None
    notes: list[str]
    usage: dict[str, float]
    search: str
    timings_ms: dict[str, float]
    scope: NotRequired[dict[str, Any]]


def ask_record(trace: Trace, answer: Answer | None) -> AskRecord:
    """Return the documented fields. Messages are English sentences here, whatever the language of the page."""
    top = next(iter(trace.with_role("lca")), None)
    record: AskRecord = {
        "question": trace.question,
        "strategy": trace.strategy,
        "parameters": dict(trace.parameters),
        "seeds": [
            {"id": seed.id, "name": seed.name, "score": seed.score, "rank": seed.rank}
            for seed in trace.with_role("seed")
        ],
        "lca": {"id": top.id, "name": top.name, "layer": top.layer} if top else None,
        "nodes": [{"id": node.id, "name": node.name, "layer": node.layer, "role": node.role} for node in trace.nodes],
        "relations": [_relation(relation) for relation in trace.relations],
        "chunks": [_chunk(passage) for passage in trace.passages],
        "context": _context(trace.context),
        "answer": _answer(answer) if answer else None,
        "notes": [sentence(note) for note in trace.notes],
        "usage": plain(trace.usage + answer.usage if answer else trace.usage),
        "search": trace.search,
        "timings_ms": {name: round(value, 3) for name, value in trace.timings_ms.items()},
    }
    if trace.scope is not None:
        record["scope"] = trace.scope.values()
    return record


def _relation(relation: TraceRelation) -> RelationRecord:
    return {
        "id": relation.id,
        "source": relation.source,
        "target": relation.target,
        "layer": relation.layer,
        "kind": relation.role,
        "made": relation.made,
        "strength": relation.strength,
        "description": relation.description,
        "row": relation.row,
    }


def _chunk(passage: TraceItem) -> ChunkRecord:
    source = passage.source
    assert source is not None
    return {
        "id": passage.id,
        "document": source.document,
        "start": source.start,
        "end": source.end,
        "seed_count": len(source.items),
        "text": passage.text,
    }


def _context(context: Context) -> ContextRecord:
    return {
        "text": context.text,
        "tokens": {"total": context.tokens, **{section.name: section.tokens for section in context.sections}},
        "left_out": {section.name: section.left_out for section in context.sections},
        "trimmed": {section.name: section.trimmed for section in context.sections},
        "lost": [
            {"kind": lost.kind, "offered": lost.offered, "left_out": lost.left_out, "trimmed": lost.trimmed}
            for section in context.sections
            for lost in section.lost
        ],
    }


def _answer(answer: Answer) -> AnswerRecord:
    return {
        "text": answer.text,
        "citations": list(answer.citations),
        "grounded": answer.grounded,
        "extractive": answer.extractive,
        "parts": _parts(answer.parts),
        "nearest": _parts(answer.nearest_parts),
        "because": sentence(answer.because) if answer.because else None,
    }


def _parts(parts: tuple[AnswerPart, ...]) -> list[PartRecord]:
    return [{"text": part.text, "marks": list(part.marks), "section": part.section} for part in parts]
