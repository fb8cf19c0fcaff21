"""What of a hierarchy is shown: the nodes that pass the filters, their sizes, and how room is divided among the
children of a block: the largest are named, the others folded.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index

_SMALL_SHARE = 0.4  # of the room, at most, for children that are drawn larger than their weight


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
        """Return rows in the layer below: base entities that the last question found first (by rank), then the
        strongest or largest."""
        rows = self.index.children_of(layer, row)
        rows = rows[self.below[layer - 1][rows] > 0]
        weight = self.weights[layer - 1][rows]
        rank = np.zeros(len(rows))
        if layer == 1 and self.hits[0]:
            rank = np.array([self.hits[0].get(int(child), len(rows) + len(self.hits[0])) for child in rows])
        return np.asarray(rows[np.lexsort((rows, -weight, rank))])

    @cached_property
    def weights(self) -> tuple[np.ndarray, ...]:
        """What nodes are ordered by, (n,) of each layer: base entities inside, in layer 0 relations."""
        return (self.index.layers[0].degrees, *self.below[1:])

    def inside(self, layer: int, rows: Sequence[int] | np.ndarray, target: int) -> int:
        """Return how many shown nodes of the target layer lie in those of a layer above. rows: (k,) of that layer."""
        return int(self._inside(layer, target)[np.asarray(rows, dtype=np.int64)].sum())

    def _inside(self, layer: int, target: int) -> np.ndarray:
        """Count the shown nodes of the target layer in each node of a layer above, (n,)."""
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
        """Counts of _inside(), (n,) each, by its arguments."""
        return {}


def shown_below(index: Index, masks: Sequence[np.ndarray] | None) -> tuple[np.ndarray, ...]:
    """Return the field `below` of a tree: of each layer, base entities inside.

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
    """Return the tree with those sizes. kept: entities that are never folded. hits: rank of each that the question
    found. below: (n,) of each layer."""
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


@dataclass(frozen=True)
class Folding:
    """named: positions of the children that are drawn, ascending, and their sizes. folded: how many are not.
    fold_size: of the block that stands for those; 0 when there are none."""

    named: tuple[int, ...]
    sizes: tuple[float, ...]
    folded: int
    fold_size: float


def fold(
    weights: Sequence[float],
    least: Sequence[float],
    kept: Collection[int],
    room: float,
    *,
    fold_sizes: tuple[float, float],
    gap: float = 0.0,
    skip: int = 0,
) -> Folding:
    """Name as many children as the room has place for, each in the size of its weight but not below its least one.

    weights: the largest first, not negative. least: the smallest size of each. kept: positions that are never folded.
    fold_sizes: least and most of the block of the folded ones. gap: between two blocks. skip: so many of the largest
    are folded too (the next ones are wanted). Sizes and gaps fill the room, or exceed it where the kept children alone
    do.
    """
    must, (fold_least, fold_most) = sorted(kept), fold_sizes
    others = [place for place in range(len(weights)) if place not in set(must)]
    others = others[skip:] if skip < len(others) else others
    smallest = min((least[place] for place in others), default=1.0)
    most = min(len(others), int(room / (smallest + gap)) + 1)
    for n_others in range(most, -1, -1):
        named = sorted([*must, *others[:n_others]])
        folded = len(weights) - len(named)
        fold_size = min(fold_most, max(fold_least, _share(weights, named, room))) if folded else 0.0
        if not n_others and folded:  # the kept children come before the size of what is folded
            tight = room - sum(least[place] for place in named) - gap * len(named)
            fold_size = min(fold_size, max(fold_least, tight))
        available = room - fold_size - gap * max(0, len(named) - (0 if folded else 1))
        needed = sum(least[place] for place in named)
        if n_others and (needed > available or _is_cramped(weights, least, others[:n_others], named, available)):
            continue
        sizes = _sizes([weights[place] for place in named], [least[place] for place in named], available)
        if not named:
            fold_size = room
        return Folding(tuple(named), tuple(sizes), folded, fold_size)
    raise AssertionError("no children beyond the kept ones always fit")


def _share(weights: Sequence[float], named: Sequence[int], room: float) -> float:
    """Return a quarter of the room that the folded children weigh: they need a click, not the picture."""
    total = sum(weights)
    return 0.25 * room * (total - sum(weights[place] for place in named)) / total if total else 0.0


def _is_cramped(
    weights: Sequence[float], least: Sequence[float], others: Sequence[int], named: Sequence[int], available: float
) -> bool:
    """Tell whether children that weigh less than their least size take too much from the larger ones."""
    total = sum(weights[place] for place in named) or 1.0
    small = [place for place in others if weights[place] * available / total < least[place]]
    return len(small) < len(others) and sum(least[place] for place in small) > _SMALL_SHARE * available


def _sizes(weights: Sequence[float], least: Sequence[float], room: float) -> list[float]:
    """Sizes that add up to the room, as the weights but none below its least."""
    size, low = np.zeros(len(weights)), np.asarray(least, dtype=float)
    weight = np.asarray(weights, dtype=float)
    free = np.ones(len(weights), dtype=bool)
    while free.any():
        left = room - low[~free].sum()
        total = weight[free].sum()
        size[free] = left * weight[free] / total if total else left / free.sum()
        below = free & (size < low - 1e-9)
        if not below.any():
            break
        free &= ~below
    return [float(value) for value in np.where(free, size, low)]
