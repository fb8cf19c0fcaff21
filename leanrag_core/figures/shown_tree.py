"""What of a hierarchy is shown: the nodes that pass the filters, their sizes, and those that are never folded."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index


@dataclass(frozen=True, eq=False)
class ShownTree:
    """below: of each layer, (n,) int64, base entities inside that are shown; 0 for a node that is not shown. kept: of
    each layer, rows that are never folded. hits: of each layer, the rank of entities that the last question found, or
    how many of them are below."""

    index: Index
    below: tuple[np.ndarray, ...]
    kept: tuple[frozenset[int], ...]
    hits: tuple[Mapping[int, int], ...]

    def children(self, layer: int, row: int) -> np.ndarray:
        """Rows in the layer below: base entities that the last question found first (by rank), then the strongest or
        largest."""
        rows = self.index.children_of(layer, row)
        rows = rows[self.below[layer - 1][rows] > 0]
        weight = self.weights[layer - 1][rows]
        rank = np.zeros(len(rows))
        if layer == 1 and self.hits[0]:
            rank = np.array([self.hits[0].get(int(child), len(rows) + len(self.hits[0])) for child in rows])
        return np.asarray(rows[np.lexsort((rows, -weight, rank))])

    @cached_property
    def weights(self) -> tuple[np.ndarray, ...]:
        """Of each layer what nodes are ordered by: base entities inside, in layer 0 relations."""
        return (self.index.layers[0].degrees, *self.below[1:])

    def inside(self, layer: int, rows: Sequence[int] | np.ndarray, target: int) -> int:
        """How many shown nodes of the target layer lie in those of a layer above."""
        return int(self._inside(layer, target)[np.asarray(rows, dtype=np.int64)].sum())

    def _inside(self, layer: int, target: int) -> np.ndarray:
        key = (layer, target)
        if key not in self._counted:
            counts = (self.below[target] > 0).astype(np.int64)
            for number in range(target, layer):
                parent, n_above = self.index.layers[number].parent, len(self.index.layers[number + 1])
                counts = np.bincount(parent, weights=counts, minlength=n_above).astype(np.int64)
            self._counted[key] = counts
        return self._counted[key]

    @cached_property
    def _counted(self) -> dict[tuple[int, int], np.ndarray]:
        return {}


def shown_below(index: Index, masks: Sequence[np.ndarray] | None) -> tuple[np.ndarray, ...]:
    """The field `below` of a tree: of each layer, base entities inside.

    masks: of each layer, (n,) bool, what passes the filters; None when everything does. A node is shown when it passes
    or holds one that is shown; with none below, all base entities inside it count.
    """
    if masks is None:
        return index.leaf_counts
    below = [masks[0].astype(np.int64)]
    for number, layer in enumerate(index.layers[1:], start=1):
        inside = np.bincount(index.layers[number - 1].parent, weights=below[-1], minlength=len(layer)).astype(np.int64)
        below.append(np.where((inside == 0) & masks[number], index.leaf_counts[number], inside))
    return tuple(below)


def shown_tree(
    index: Index, below: tuple[np.ndarray, ...], kept: Collection[Place], hits: Mapping[Place, int]
) -> ShownTree:
    """The tree with those sizes. kept: entities that are never folded. hits: rank of each that the question found."""
    rows: list[set[int]] = [set() for _ in index.layers]
    counts: list[dict[int, int]] = [{} for _ in index.layers]
    for place in {*kept, *hits}:
        if below[place.layer][place.row]:
            rows[place.layer].add(place.row)
            for layer, row in index.ancestors(place.layer, place.row):
                rows[layer].add(row)
    for place, rank in hits.items():
        if place.layer == 0:
            counts[0][place.row] = rank
        else:
            counts[place.layer][place.row] = counts[place.layer].get(place.row, 0) + 1
        for layer, row in index.ancestors(place.layer, place.row):
            counts[layer][row] = counts[layer].get(row, 0) + 1
    return ShownTree(index, below, tuple(frozenset(layer) for layer in rows), tuple(counts))
