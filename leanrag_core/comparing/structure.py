"""What the climb to the common ancestor brought into a context that search by similarity would not have brought.

An item came by the climb alone when it is not among what cosine search over the same kind of items returns at the same
count: as many aggregated entities of any layer, inter-cluster relations of any layer (by their descriptions) and chunks
as the context holds. Seeds and the relations between them are found by similarity, and are never counted.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, ContextItem, Trace, TraceItem

AGGREGATED, RELATIONS, CHUNKS = "aggregated", "relations", "chunks"
KINDS = (AGGREGATED, RELATIONS, CHUNKS)
MOST_RELATIONS = 200  # inter-cluster relations of an index that are embedded unasked, to rank them: about a second


@dataclass(frozen=True)
class Brought:
    """An item of the context that came by the climb alone.

    mark, ref: of the context item. kind: one of KINDS. rank: by cosine among the index's items of that kind, 1 is
    nearest. seeds: below the aggregated entity, or in the chunk; 0 for relations. is_ancestor: the lowest common one.
    strength: lambda of a relation. sentences: numbers of the answer's sentences that cite it, from 1.
    """

    mark: str
    ref: str
    kind: str
    rank: int
    tokens: int
    seeds: int = 0
    is_ancestor: bool = False
    strength: float = 0.0
    sentences: tuple[int, ...] = ()


@dataclass(frozen=True)
class Structure:
    """What came by the climb alone, in the order of the context. counts: items of the context of each kind; items,
    tokens: of the whole context. unranked: inter-cluster relations of the context that were too many in the index to be
    ranked, and are not counted."""

    brought: tuple[Brought, ...]
    counts: dict[str, int]
    items: int
    tokens: int
    unranked: int = 0

    @property
    def brought_tokens(self) -> int:
        """Return the tokens of what came by the climb alone."""
        return sum(item.tokens for item in self.brought)

    def of_kind(self, kind: str) -> tuple[Brought, ...]:
        """Return what came of that kind."""
        return tuple(item for item in self.brought if item.kind == kind)


def climbs(trace: Trace) -> bool:
    """Tell whether the strategy climbed a hierarchy to a common ancestor."""
    return bool(trace.with_role("lca"))


def count_inter_cluster(index: Index) -> int:
    """Count the relations of all layers above the first."""
    return sum(layer.relations.num_rows for layer in index.layers[1:])


def inter_cluster_descriptions(index: Index) -> list[str]:
    """Return the descriptions of the relations of all layers above the first, layer by layer."""
    return [text for layer in index.layers[1:] for text in layer.relations["description"].to_pylist()]


def brought_by_climb(
    index: Index, trace: Trace, vector: np.ndarray, relation_vectors: np.ndarray | None, answer: Answer | None = None
) -> Structure:
    """Return what came into the trace's context by the climb alone.

    vector: (d,), of the question. relation_vectors: (r, d), of inter_cluster_descriptions(); None where they are too
    many. Vectors have unit length.
    """
    items = trace.context.items
    kinds = {item.mark: kind for item in items if (kind := _kind(trace, item))}
    counts = {kind: sum(each == kind for each in kinds.values()) for kind in KINDS}
    ranks = {
        AGGREGATED: _ranks(np.concatenate([layer.vectors @ vector for layer in index.layers[1:]])),
        RELATIONS: None if relation_vectors is None else _ranks(relation_vectors @ vector),
        CHUNKS: _ranks(index.chunk_vectors @ vector),
    }
    seeds_below, sentences = _seeds_below(trace), _sentences(answer)
    brought: list[Brought] = []
    for item in items:
        kind = kinds.get(item.mark)
        of_kind = ranks[kind] if kind else None
        if kind is None or of_kind is None:
            continue
        rank = int(of_kind[_place(index, trace, kind, item.ref)])
        if rank > counts[kind]:
            node = None if kind == RELATIONS else trace.item(item.ref)
            brought.append(
                Brought(
                    item.mark,
                    item.ref,
                    kind,
                    rank,
                    item.tokens,
                    len(node.source.items) if node and node.source else seeds_below[item.ref],
                    bool(node and "lca" in node.roles),
                    next((each.strength for each in trace.relations if each.id == item.ref), 0.0),
                    sentences.get(item.mark, ()),
                )
            )
    unranked = counts[RELATIONS] if ranks[RELATIONS] is None else 0
    return Structure(tuple(brought), counts, len(items), trace.context.tokens, unranked)


def _place(index: Index, trace: Trace, kind: str, ref: str) -> int:
    """Return where an item stands in the array of its kind: aggregated entities and relations of all layers above the
    first, layer by layer, and chunks."""
    if kind == RELATIONS:
        relation = next(each for each in trace.relations if each.id == ref)
        return sum(int(each.relations.num_rows) for each in index.layers[1 : relation.layer]) + _row(relation.row)
    item = trace.item(ref)
    return _row(item.row) + (sum(map(len, index.layers[1 : item.layer])) if kind == AGGREGATED else 0)


def _row(row: int | None) -> int:
    if row is None:
        raise ValueError("an item of the hierarchy has a row in its table")
    return row


def _kind(trace: Trace, item: ContextItem) -> str | None:
    """Return the kind of what the climb may have brought; None for seeds, relations between them and anything else."""
    relation = next((each for each in trace.relations if each.id == item.ref), None)
    if relation is not None:
        return RELATIONS if relation.layer and relation.row is not None else None
    node: TraceItem | None = next((each for each in trace.items if each.id == item.ref), None)
    if node is None or node.row is None:
        return None
    if node.source is not None:
        return CHUNKS
    return AGGREGATED if node.layer else None


def _ranks(cosines: np.ndarray) -> np.ndarray:
    """Return the rank of each of the (n,) cosines, the highest being 1; equals at six digits in the order of rows."""
    ranks = np.empty(len(cosines), int)
    ranks[np.argsort(-np.round(cosines.astype(float), 6), kind="stable")] = np.arange(1, len(cosines) + 1)
    return ranks


def _seeds_below(trace: Trace) -> Counter[str]:
    """Count the seeds below each item of the hierarchy."""
    parent_of = {item.id: item.parent for item in trace.items}
    below: Counter[str] = Counter()
    for seed in trace.with_role("seed"):
        above = seed.parent
        while above is not None:
            below[above] += 1
            above = parent_of.get(above)
    return below


def _sentences(answer: Answer | None) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the sentences that cite each mark, from 1."""
    if answer is None or not answer.grounded:
        return {}
    marks = {mark for part in answer.parts for mark in part.marks}
    return {mark: tuple(n for n, part in enumerate(answer.parts, 1) if mark in part.marks) for mark in marks}
