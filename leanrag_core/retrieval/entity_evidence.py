"""Relations around some base entities, and the chunks that speak of them, as GraphRAG's local search ranks them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval import evidence
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists
from leanrag_core.types.trace import TraceItem


@dataclass(frozen=True, eq=False)
class Around:
    """Rows of relations. inside: both ends are selected. outside: one is; links: with how many selected entities the
    other end is related, for each of the outside ones."""

    inside: np.ndarray
    outside: np.ndarray
    links: np.ndarray


def relations_around(layer: Layer, rows: Sequence[int], *, most_outside: int) -> Around:
    """Relations of those entities: inside ones by the degrees of both ends; outside ones by links, then degrees, and so
    many of them. Ties go to those that lead from a selected entity, then by row."""
    selected = np.unique(np.asarray(rows, dtype=np.int64))
    touching = [layer.relations_of(int(row)) for row in selected]
    relations = np.unique(np.concatenate([*touching, np.zeros(0, dtype=np.int32)]).astype(np.int64))
    ends = layer.ends[relations]
    is_selected = np.isin(ends, selected)
    both = is_selected.all(axis=1)
    inside, outside = relations[both], relations[~both]
    other = np.where(is_selected[~both, 0], ends[~both, 1], ends[~both, 0])
    pairs = np.unique(
        np.stack([other, np.where(is_selected[~both, 0], ends[~both, 0], ends[~both, 1])], axis=1), axis=0
    )
    others, counts = np.unique(pairs[:, 0], return_counts=True)
    links = counts[np.searchsorted(others, other)] if len(others) else np.zeros(0, dtype=np.int64)
    degrees = layer.degrees[layer.ends].sum(axis=1)
    order = np.lexsort((outside, ~is_selected[~both, 0], -degrees[outside], -links))[:most_outside]
    return Around(inside[np.lexsort((inside, -degrees[inside]))], outside[order], links[order])


@dataclass(frozen=True)
class EntityChunk:
    """A chunk that mentions a selected entity. place: of the first such entity. relations: of it, in the chunk."""

    row: int
    place: int
    relations: int


def chunks_by_entity(layer: Layer, rows: Sequence[int]) -> list[EntityChunk]:
    """Chunks by the order of the entities, and for one entity by how many of its relations are in them."""
    in_chunks = Lists(layer.relations["chunks"])
    listed: dict[int, EntityChunk] = {}
    for place, row in enumerate(rows):
        chunks = layer.chunks_of(row)
        related = layer.relations_of(row)
        held = np.concatenate([*(in_chunks[relation] for relation in related.tolist()), np.zeros(0, dtype=np.int32)])
        counts = np.bincount(held, minlength=int(chunks.max(initial=-1)) + 1)[chunks] if len(chunks) else chunks
        for at in np.lexsort((chunks, -counts)).tolist():
            listed.setdefault(int(chunks[at]), EntityChunk(int(chunks[at]), place, int(counts[at])))
    return list(listed.values())


def affordable_chunks(index: Index, rows: Sequence[int], max_tokens: int) -> list[int]:
    """The first rows, until the chunks hold more tokens than the budget, and one more, which may be trimmed."""
    tokens = np.asarray(index.chunks["tokens"])[np.asarray(rows, dtype=np.int64)]
    return list(rows[: int(np.searchsorted(np.cumsum(tokens), max_tokens)) + 1])


def passages_with_reasons(
    index: Index,
    rows: Sequence[int],
    scores: Mapping[int, float],
    reasons: Mapping[int, Message],
    items: Mapping[int, tuple[str, ...]],
) -> tuple[TraceItem, ...]:
    """Those chunks as items, ranked as they come. All by row; items: ids of what led to a chunk."""
    return tuple(
        replace(
            passage,
            reason=reasons[passage.row or 0],
            source=replace(passage.source, items=items[passage.row or 0]) if passage.source else None,
        )
        for passage in evidence.passages(index, rows, scores=scores)
    )


def entity_passages(
    index: Index, chunks: Sequence[EntityChunk], entities: Sequence[TraceItem]
) -> tuple[TraceItem, ...]:
    """Those chunks as items: each says which entity it is here for. entities: selected, in their order."""
    by_row = {chunk.row: chunk for chunk in chunks}
    mentions = index.entity_chunks[[item.row for item in entities]].tocsc()
    places = [mentions.indices[mentions.indptr[row] : mentions.indptr[row + 1]].tolist() for row in by_row]
    return passages_with_reasons(
        index,
        list(by_row),
        {row: float(chunk.relations) for row, chunk in by_row.items()},
        {
            row: message("passage.of_entity", name=entities[chunk.place].name, n=chunk.relations)
            for row, chunk in by_row.items()
        },
        {row: tuple(entities[place].id for place in sorted(held)) for row, held in zip(by_row, places, strict=True)},
    )
