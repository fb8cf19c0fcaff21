"""The graph of concepts: which of them occur in chunks or share sentences, and which communities chunks have in
common."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.types.communities import ConceptCommunities
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, TraceItem, TraceRelation
from leanrag_core.types.walks import NounGraph

TOGETHER = Style("together", message("style.together"), "base", "line", on="relation")
_THEME = 3  # concepts that a community is called by


@dataclass(frozen=True)
class ChunkGroup:
    """Chunks that share a community of concepts, -1 for those without one. chunks: rows, as they were given."""

    community: int
    chunks: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ConceptCounts:
    """rows: (k,) of concepts, those in most chunks first, ties by row. counts: (k,), in how many chunks each is."""

    rows: np.ndarray
    counts: np.ndarray


def concepts_in(graph: NounGraph, chunks: Sequence[int]) -> ConceptCounts:
    """Return the concepts that occur in those chunks."""
    counts = np.bincount(graph.by_chunk[list(chunks)].indices, minlength=1)
    rows = np.flatnonzero(counts)
    rows = rows[np.lexsort((rows, -counts[rows]))]
    return ConceptCounts(rows, counts[rows])


def chunk_groups(communities: ConceptCommunities, graph: NounGraph, chunks: Sequence[int]) -> list[ChunkGroup]:
    """Group the chunks by community: of the smallest communities of its concepts, each chunk goes to the one that most
    of the chunks share, ties to the first in the table. Groups are in the order of their first chunks."""
    occurrences = graph.by_chunk[list(chunks)]
    place = np.repeat(np.arange(len(chunks)), np.diff(occurrences.indptr))
    community = communities.finest[occurrences.indices]
    pairs = np.unique(np.stack([place, community], axis=1)[community >= 0], axis=0)
    shared = np.bincount(pairs[:, 1], minlength=1)
    order = pairs[np.lexsort((pairs[:, 1], -shared[pairs[:, 1]], pairs[:, 0]))]
    first = np.unique(order[:, 0], return_index=True)[1]
    chosen = np.full(len(chunks), -1, dtype=np.int64)
    chosen[order[first, 0]] = order[first, 1]
    groups: dict[int, list[int]] = {}
    for chunk, row in zip(chunks, chosen.tolist(), strict=True):
        groups.setdefault(row, []).append(chunk)
    return [ChunkGroup(row, tuple(rows)) for row, rows in groups.items()]


def theme(index: Index, graph: NounGraph, concepts: np.ndarray) -> str:
    """Return the names of the first of those concepts by their neighbours, ties by row; "" without any. concepts:
    (k,) rows."""
    degrees = np.diff(graph.adjacency.indptr)[concepts]
    first = concepts[np.lexsort((concepts, -degrees))][:_THEME]
    names = index.layers[0].entity_cells["name"]
    return ", ".join(names[row].as_py() for row in first.tolist())


def pairs_among(graph: NounGraph, concepts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of those concepts that share sentences, the lower row first, ascending."""
    among = sorted(concepts)
    joined = graph.adjacency[among][:, among].tocoo()
    above = joined.row < joined.col
    pairs = zip(joined.row[above].tolist(), joined.col[above].tolist(), strict=True)
    return sorted((among[first], among[second]) for first, second in pairs)


def together_links(
    graph: NounGraph, edges: Iterable[tuple[int, int]], items: Sequence[TraceItem]
) -> tuple[TraceRelation, ...]:
    """Return those edges between drawn concepts, each once, with the sentences that they share. edges: pairs of
    rows."""
    item_of = {item.row: item for item in items}
    links = {}
    for first, second in edges:
        low, high = sorted((first, second))
        source, target = item_of[low], item_of[high]
        sentences = int(graph.adjacency[low, high])
        id_, said = f"together-{low}-{high}", f"{source.name} and {target.name} share {sentences} sentences."
        made = ("together", None, "co-occurrence", float(sentences))
        links[low, high] = TraceRelation(id_, source.id, target.id, *made, said)
    return tuple(links.values())
