"""Entities and relations of the base graph: as items, as lines of a context, and around selected entities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.budgets import Candidate, text_line
from leanrag_core.retrieval.context import stored_tokens
from leanrag_core.retrieval.passages import PassageReason, passage_items
from leanrag_core.retrieval.subgraph import node_item, relation_item
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import entries_of
from leanrag_core.types.trace import TraceItem, TraceRelation


def entity_items(
    index: Index,
    rows: Sequence[int] | np.ndarray,
    scores: Mapping[int, float] | None = None,
    *,
    role: str = "entity",
    reasons: Mapping[int, Message] | None = None,
) -> tuple[TraceItem, ...]:
    """Return those base entities as items, ranked as they come. scores, reasons: by row. rows: (k,)."""
    layer, scores, reasons = index.layers[0], scores or {}, reasons or {}
    return tuple(
        node_item(layer, row, (role,), score=scores.get(row), rank=rank, reason=reasons.get(row))
        for rank, row in enumerate(map(int, rows), start=1)
    )


def relation_items(
    index: Index,
    rows: Sequence[int] | np.ndarray,
    scores: Mapping[int, float] | None = None,
    *,
    role: str = "base",
    reasons: Mapping[int, Message] | None = None,
) -> tuple[TraceRelation, ...]:
    """Return those base relations as relations of a trace, in that order. Their ends have to be items of the trace too
    (end_rows). rows: (n,) int."""
    layer, scores, reasons = index.layers[0], scores or {}, reasons or {}
    return tuple(
        relation_item(layer, row, role, score=scores.get(row), reason=reasons.get(row)) for row in map(int, rows)
    )


def end_rows(index: Index, relation_rows: Sequence[int] | np.ndarray) -> list[int]:
    """Return rows of the entities at the ends of those base relations, each once, in the relations' order.
    relation_rows: (k,)."""
    if not len(relation_rows):
        return []
    return list(dict.fromkeys(index.layers[0].ends[np.asarray(relation_rows)].ravel().tolist()))


def entity_line(index: Index, entity: TraceItem) -> Candidate:
    """Return a base entity as a line of a section: its name and type, then its description."""
    typed = f"{entity.name} ({entity.type}):" if entity.type else f"{entity.name}:"
    return text_line(
        entity.role, entity.id, typed, entity.text, stored_tokens(index, 0, "description_tokens", entity.row)
    )


def relation_line(index: Index, relation: TraceRelation, names: Mapping[str, str]) -> Candidate:
    """Return a base relation as a line of a section: the names of its ends, then its description. names: by item id."""
    lead = f"{names[relation.source]} and {names[relation.target]}:"
    stored = stored_tokens(index, 0, "relation_tokens", relation.row)
    return text_line(relation.role, relation.id, lead, relation.description, stored)


@dataclass(frozen=True, eq=False)
class Around:
    """Rows of relations around selected entities. inside: both ends are selected. outside: one end is. links: for each
    outside relation, how many selected entities its other end is related to."""

    inside: np.ndarray
    outside: np.ndarray
    links: np.ndarray


def relations_around(layer: Layer, rows: Sequence[int], *, most_outside: int) -> Around:
    """Return the relations of those entities: inside ones by the degrees of both ends; at most most_outside outside
    ones, by links, then degrees. Of equal outside ones those whose source is selected come first, then by row."""
    selected = np.unique(np.asarray(rows, dtype=np.int64))
    relations = layer.relations_of_any(selected).astype(np.int64)
    ends = layer.ends[relations]
    is_selected = np.isin(ends, selected)
    both = is_selected.all(axis=1)
    inside, outside = relations[both], relations[~both]
    leads_out, out = is_selected[~both, 0], ends[~both].astype(np.int64)
    other = np.where(leads_out, out[:, 1], out[:, 0])
    pairs = np.unique(other * len(layer) + np.where(leads_out, out[:, 0], out[:, 1]))
    others, counts = np.unique(pairs // max(len(layer), 1), return_counts=True)
    links = counts[np.searchsorted(others, other)] if len(others) else np.zeros(0, dtype=np.int64)
    degrees = layer.degrees[ends].sum(axis=1)
    order = np.lexsort((outside, ~leads_out, -degrees[~both], -links))[:most_outside]
    return Around(inside[np.lexsort((inside, -degrees[both]))], outside[order], links[order])


@dataclass(frozen=True)
class EntityChunk:
    """A chunk that mentions a selected entity. place: of the first such entity. relations: how many of its relations
    the chunk states."""

    row: int
    place: int
    relations: int


def chunks_by_entity(layer: Layer, rows: Sequence[int]) -> list[EntityChunk]:
    """Return chunks by the order of the entities, and for one entity by how many of its relations are in them."""
    in_chunks = layer.relation_chunk_lists
    listed: dict[int, EntityChunk] = {}
    for place, row in enumerate(rows):
        chunks = layer.chunks_of(row)
        stated = np.sort(in_chunks.joined(layer.relations_of(row)))
        counts = stated.searchsorted(chunks, side="right") - stated.searchsorted(chunks)
        for at in np.lexsort((chunks, -counts)).tolist():
            listed.setdefault(int(chunks[at]), EntityChunk(int(chunks[at]), place, int(counts[at])))
    return list(listed.values())


def entity_passages(
    index: Index, chunks: Sequence[EntityChunk], entities: Sequence[TraceItem]
) -> tuple[TraceItem, ...]:
    """Return those chunks as items; the reason of each names the entity that led to it. entities: the selected ones, in
    their order."""
    by_row = {chunk.row: chunk for chunk in chunks}
    mentions = index.entity_chunks[[item.row for item in entities]].tocsc()
    places = [entries_of(mentions, row).tolist() for row in by_row]
    reasons = {
        row: PassageReason(
            message("passage.of_entity", name=entities[chunk.place].name, n=chunk.relations),
            tuple(entities[place].id for place in sorted(entity_places)),
        )
        for (row, chunk), entity_places in zip(by_row.items(), places, strict=True)
    }
    return passage_items(index, list(by_row), {row: float(chunk.relations) for row, chunk in by_row.items()}, reasons)
