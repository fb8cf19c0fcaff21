"""Trace and answer as the plain values that `ask --json` gives."""

from typing import Any

from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.trace import Answer, AnswerPart, Context, Trace, TraceItem, TraceRelation


def ask_record(trace: Trace, answer: Answer | None) -> dict[str, Any]:
    """Return the documented fields. Messages are English sentences here, whatever the language of the page."""
    top = next(iter(trace.with_role("lca")), None)
    return {
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
        **({"scope": trace.scope.values()} if trace.scope is not None else {}),
    }


def _relation(relation: TraceRelation) -> dict[str, Any]:
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


def _chunk(passage: TraceItem) -> dict[str, Any]:
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


def _context(context: Context) -> dict[str, Any]:
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


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "citations": list(answer.citations),
        "grounded": answer.grounded,
        "extractive": answer.extractive,
        "parts": _parts(answer.parts),
        "nearest": _parts(answer.nearest_parts),
        "because": sentence(answer.because) if answer.because else None,
    }


def _parts(parts: tuple[AnswerPart, ...]) -> list[dict[str, Any]]:
    return [{"text": part.text, "marks": list(part.marks), "section": part.section} for part in parts]
