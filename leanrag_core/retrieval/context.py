"""The context: four sections, each with a token budget of its own, filled in rank order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leanrag_core.retrieval.token_sums import Piece, blank_line_tokens, fixed, joined
from leanrag_core.tokens import count_tokens, finding_lines, rest_of_line
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
    """What may stand in a line. head: the pieces between the mark and the rest, whose count is stored."""

    ref: str
    text: str
    head: tuple[Piece, ...]
    rest: int

    def tokens(self, mark: str) -> int:
        """Tokens of the line, from its mark to its end. A head ends in a mark, the rest begins with a space."""
        return joined((fixed(f"[{mark}]"), *self.head)) + self.rest


def build_context(
    index: Index,
    nodes: Sequence[TraceNode],
    relations: Sequence[TraceRelation],
    chunks: Sequence[RetrievedChunk],
    budgets: Budgets,
    *,
    findings: bool,
) -> Context:
    """The context of a retrieval. Tokens never exceed the budgets; what did not fit is counted.

    Tokens are those of the finished text, added up from the counts that the index holds (retrieval.token_sums); what an
    index does not hold is counted now.
    """
    names = {node.id: _name(index, node) for node in nodes}
    above = sorted((node for node in nodes if node.layer > 0), key=lambda node: (node.layer, node.row))
    sections = (
        _fill("entities", (_entity(index, node, names) for node in nodes if node.layer == 0), budgets.entities),
        _fill("aggregated", (_aggregated(index, node, names, findings) for node in above), budgets.aggregated),
        _fill(
            "relations", (_relation(index, one, names) for one in relations if one.kind != "tree"), budgets.relations
        ),
        _fill("chunks", (_chunk(index, chunk) for chunk in chunks), budgets.chunks),
    )
    text = "".join(section.text for section in sections)
    # Sections end in an empty line and begin with "##": the pattern always cuts there.
    return Context(text=text, tokens=sum(section.tokens for section in sections), sections=sections)


def _stored(index: Index, layer: int, column: str, row: int | None) -> int | None:
    counts = index.layers[layer].token_counts.get(column)
    return None if counts is None or row is None else int(counts[row])


def _rest(text: str, stored: int | None) -> int:
    return count_tokens(rest_of_line(text)) if stored is None else stored


def _name(index: Index, node: TraceNode) -> Piece:
    text, stored = f" {node.name}", _stored(index, node.layer, "name_tokens", node.row)
    return Piece(text, count_tokens(text) if stored is None else stored)


def _entity(index: Index, node: TraceNode, names: dict[str, Piece]) -> _Candidate:
    parent = f" (part of {names[node.parent_id].text[1:]})" if node.parent_id else ""
    head: tuple[Piece, ...] = (names[node.id], fixed(":"))
    if node.parent_id:
        head = (names[node.id], fixed(" (part of"), names[node.parent_id], fixed("):"))
    rest = _rest(node.description, _stored(index, node.layer, "description_tokens", node.row))
    return _Candidate(node.id, f"{node.name}{parent}: {node.description}", head, rest)


def _aggregated(index: Index, node: TraceNode, names: dict[str, Piece], findings: bool) -> _Candidate:
    text = f"{node.name}: {node.description}"
    rest = _rest(node.description, _stored(index, node.layer, "description_tokens", node.row))
    if findings:
        held = index.layers[node.layer].entity_cells["findings"][node.row].as_py() or ()
        lines = finding_lines([(one["summary"], one["explanation"]) for one in held])
        stored = _stored(index, node.layer, "findings_tokens", node.row)
        rest += count_tokens(lines) if stored is None else stored
        text = f"{text}\n{lines}".removesuffix("\n")
    return _Candidate(node.id, text, (names[node.id], fixed(":")), rest)


def _relation(index: Index, relation: TraceRelation, names: dict[str, Piece]) -> _Candidate:
    source, target = names[relation.source], names[relation.target]
    made = f" ({relation.strength:.0f} relations, {relation.made}):" if relation.kind != "base" else ":"
    head = (source, fixed(" and"), target, fixed(made))
    text = f"{source.text[1:]} and{target.text}{made} {relation.description}"
    rest = _rest(relation.description, _stored(index, relation.layer, "relation_tokens", relation.row))
    return _Candidate(relation.id, text, head, rest)


def _chunk(index: Index, chunk: RetrievedChunk) -> _Candidate:
    page = f", page {chunk.page}" if chunk.page else ""
    place, text = f"({chunk.title}{page})", chunk.text.strip()
    stored = None if index.chunk_tokens is None else int(index.chunk_tokens[chunk.row])
    return _Candidate(chunk.id, f"{place} {text}", (fixed(f" {place}"),), _rest(text, stored))


def _fill(name: str, candidates: Iterable[_Candidate], budget: int) -> ContextSection:
    offered = list(candidates)
    if not offered:
        return ContextSection(name, (), "", 0, budget, 0)
    heading = f"## {_HEADINGS[name]}\n"
    used = fixed(heading).tokens
    items: list[ContextItem] = []
    for candidate in offered:
        mark = f"{_MARK[name]}{len(items) + 1}"
        tokens = candidate.tokens(mark)
        if used + tokens + 1 > budget:  # one token for the blank line that ends the section
            if name == "chunks":
                continue  # a shorter chunk further down may still fit
            break
        items.append(ContextItem(mark, candidate.ref, candidate.text, tokens))
        used += tokens
    while items:
        last = items[-1]
        tokens = used + blank_line_tokens(f"[{last.mark}] {last.text}\n")
        if tokens <= budget:
            body = "".join(f"[{item.mark}] {item.text}\n" for item in items)
            return ContextSection(name, tuple(items), f"{heading}{body}\n", tokens, budget, len(offered) - len(items))
        used -= items.pop().tokens
    return ContextSection(name, (), "", 0, budget, len(offered))
