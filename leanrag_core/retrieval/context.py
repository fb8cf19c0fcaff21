"""The context: four sections, each with a token budget of its own, filled in rank order."""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.tokens import count_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.trace import (
    Context,
    ContextItem,
    ContextSection,
    RetrievedChunk,
    TraceNode,
    TraceRelation,
)

_HEADINGS = {
    "entities": "Entities",
    "aggregated": "Aggregated entities",
    "relations": "Relations",
    "chunks": "Source chunks",
}
_MARK = {"entities": "E", "aggregated": "A", "relations": "R", "chunks": "C"}


@dataclass(frozen=True)
class Budgets:
    """Tokens that each section may take."""

    entities: int = 1000
    aggregated: int = 1500
    relations: int = 1000
    chunks: int = 6000


@dataclass(frozen=True)
class _Candidate:
    ref: str
    text: str


def build_context(
    index: Index,
    nodes: Sequence[TraceNode],
    relations: Sequence[TraceRelation],
    chunks: Sequence[RetrievedChunk],
    budgets: Budgets,
    *,
    findings: bool,
) -> Context:
    """The context of a retrieval. Tokens never exceed the budgets; what did not fit is counted."""
    name_of = {node.id: node.name for node in nodes}
    entities = [_Candidate(node.id, _entity_line(node, name_of)) for node in nodes if node.layer == 0]
    above = sorted((node for node in nodes if node.layer > 0), key=lambda node: (node.layer, node.row))
    aggregated = [_Candidate(node.id, _aggregated_text(index, node, findings)) for node in above]
    links = [_Candidate(one.id, _relation_line(one, name_of)) for one in relations if one.kind != "tree"]
    sources = [_Candidate(chunk.id, _chunk_text(chunk)) for chunk in chunks]
    sections = (
        _fill("entities", entities, budgets.entities),
        _fill("aggregated", aggregated, budgets.aggregated),
        _fill("relations", links, budgets.relations),
        _fill("chunks", sources, budgets.chunks),
    )
    text = "".join(section.text for section in sections)
    return Context(text=text, tokens=count_tokens(text), sections=sections)


def _entity_line(node: TraceNode, name_of: dict[str, str]) -> str:
    parent = f" (part of {name_of[node.parent_id]})" if node.parent_id else ""
    return f"{node.name}{parent}: {node.description}"


def _aggregated_text(index: Index, node: TraceNode, findings: bool) -> str:
    text = f"{node.name}: {node.description}"
    if findings:
        for finding in index.layers[node.layer].entity(node.row).findings:
            text += f"\n- {finding.summary} {finding.explanation}"
    return text


def _relation_line(relation: TraceRelation, name_of: dict[str, str]) -> str:
    if relation.kind == "base":
        return f"{name_of[relation.source]} and {name_of[relation.target]}: {relation.description}"
    between = f"{name_of[relation.source]} and {name_of[relation.target]}"
    return f"{between} ({relation.strength:.0f} relations, {relation.made}): {relation.description}"


def _chunk_text(chunk: RetrievedChunk) -> str:
    page = f", page {chunk.page}" if chunk.page else ""
    return f"({chunk.title}{page}) {chunk.text.strip()}"


def _fill(name: str, candidates: Sequence[_Candidate], budget: int) -> ContextSection:
    if not candidates:
        return ContextSection(name, (), "", 0, budget, 0)
    heading = f"## {_HEADINGS[name]}\n"
    used = count_tokens(heading)
    items: list[ContextItem] = []
    for candidate in candidates:
        line = f"[{_MARK[name]}{len(items) + 1}] {candidate.text}\n"
        tokens = count_tokens(line)
        if used + tokens + 1 > budget:  # one token for the blank line that ends the section
            if name == "chunks":
                continue  # a shorter chunk further down may still fit
            break
        items.append(ContextItem(f"{_MARK[name]}{len(items) + 1}", candidate.ref, candidate.text, tokens))
        used += tokens
    while True:
        body = "".join(f"[{item.mark}] {item.text}\n" for item in items)
        text = f"{heading}{body}\n" if items else ""
        tokens = count_tokens(text)
        if tokens <= budget:
            return ContextSection(name, tuple(items), text, tokens, budget, len(candidates) - len(items))
        items.pop()
