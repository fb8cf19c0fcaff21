"""The blocks that icicle, treemap and sunburst are made of. The browser draws them and measures their texts."""

from collections import Counter
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
        """Return (children,) int rows in the layer below: base entities that the last question found first (by rank),
        then the strongest or largest."""
        rows = self.index.children_of(layer, row)
        rows = rows[self.below[layer - 1][rows] > 0]
        weight = self.weights[layer - 1][rows]
        rank = np.zeros(len(rows))
        if layer == 1 and self.hits[0]:
            rank = np.array([self.hits[0].get(int(child), len(rows) + len(self.hits[0])) for child in rows])
        return np.asarray(rows[np.lexsort((rows, -weight, rank))])

    @cached_property
    def weights(self) -> tuple[np.ndarray, ...]:
        """Return what nodes are ordered by, (n,) of each layer: base entities inside, in layer 0 relations."""
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
        """Return the counts of _inside(), (n,) each, by its arguments."""
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
    counts: list[Counter[int]] = [Counter() for _ in index.layers]
    for place in {*kept, *hits}:
        if below[place.layer][place.row]:
            rows[place.layer].add(place.row)
            for layer, row in index.ancestors(place.layer, place.row):
                rows[layer].add(row)
    for place, rank in hits.items():
        counts[place.layer][place.row] += 1 if place.layer else rank
        for layer, row in index.ancestors(place.layer, place.row):
            counts[layer][row] += 1
    return ShownTree(index, below, tuple(frozenset(layer) for layer in rows), tuple(counts))


@dataclass(frozen=True)
class Folding:
    """named: positions of the children that are drawn, ascending, and their sizes. folded: of those that are not.
    fold_size: of the block that stands for those; 0 when there are none."""

    named: tuple[int, ...]
    sizes: tuple[float, ...]
    folded: tuple[int, ...]
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
        folded = tuple(sorted({*range(len(weights))} - {*named}))
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
    """Return sizes that add up to the room, as the weights but none below its least."""
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


MAX_COLUMNS = 4


@dataclass(frozen=True)
class Block:
    """A node, or the nodes of one parent that are folded into one block.

    id: of the entity; of a folded block see fold_id. parent: id of the block it lies in, "" for the outermost.
    layer, row: of the entity; row -1 for a folded block. below: base entities inside. inner: nodes of the layer below
    that lie in it. folded: how many nodes of its layer it stands for, 0 for a node itself.

    x, y, width, height: in an icicle x is the column, and y and height are pixels; in a treemap x and width are
    fractions of the width, y and height pixels; in a sunburst x is the ring, and y and height are degrees.

    strip: its name is in a strip at its top, since others lie in it. cells: of an icicle's last column but one, rows of
    the layer below that may be drawn as cells, in that order; the browser folds those without room, but none of
    kept_cells.
    """

    id: str
    parent: str
    layer: int
    row: int
    below: int
    inner: int
    folded: int
    x: float
    y: float
    width: float
    height: float
    strip: bool = False
    cells: tuple[int, ...] = ()
    kept_cells: tuple[int, ...] = ()


@dataclass(frozen=True)
class Column:
    """A layer of the picture: nodes that are named (or may be), and all that are shown below the focus."""

    layer: int
    named: int
    total: int


@dataclass(frozen=True)
class Picture:
    """shape: icicle, treemap or sunburst. height: in pixels. skippable: children of the focus that have no room, so
    that the next ones can be asked for."""

    shape: str
    blocks: tuple[Block, ...]
    columns: tuple[Column, ...]
    height: float
    skippable: bool


def fold_id(parent_id: str, layer: int) -> str:
    """Return the id of the block that stands for folded nodes of that layer below a parent."""
    return f"more:{layer}:{parent_id}"


def folded_parent(block_id: str) -> str:
    """Return the parent in the id of a folded block; "" for any other id."""
    kind, _, rest = block_id.partition(":")
    layer, _, parent = rest.partition(":")
    return parent if kind == "more" and layer.isdigit() else ""


def is_drawn(picture: Picture, place: Place) -> bool:
    """Tell whether a node is a block of the picture, or a cell that the browser may draw."""
    return any(
        (block.layer == place.layer and block.row == place.row)
        or (block.layer == place.layer + 1 and place.row in block.cells)
        for block in picture.blocks
    )


def id_of(tree: ShownTree, layer: int, row: int) -> str:
    """Return the id of a node."""
    return str(tree.index.layers[layer].entity_cells.value("id", row))


def lowest_layer(tree: ShownTree, layer: int, row: int) -> int:
    """Return the lowest layer that a picture of that focus shows."""
    lowest = layer
    while lowest and layer - lowest < MAX_COLUMNS - 1 and tree.inside(layer, [row], lowest - 1):
        lowest -= 1
    return lowest


def columns_of(tree: ShownTree, layer: int, row: int, lowest: int, blocks: list[Block]) -> tuple[Column, ...]:
    """Return what each layer of the picture shows of all there is below the focus."""
    return tuple(
        Column(
            number,
            sum(block.layer == number and not block.folded for block in blocks),
            tree.inside(layer, [row], number),
        )
        for number in range(layer, lowest - 1, -1)
    )


LAYER, QUESTION, SIZE, TYPE, CONNECTIVITY = "layer", "question", "size", "type", "connectivity"
N_TYPES = 4  # that have a colour of their own
_MOST_HITS = 3


@dataclass(frozen=True, eq=False)
class LayerMeasure:
    """Of one layer: steps (n,) int8, 0 for nothing; values (n,) int64, of types the place in `types`, -1 for others."""

    steps: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure of all layers. types: names of the types with a colour, the most frequent first; empty for other
    measures than TYPE."""

    name: str
    layers: tuple[LayerMeasure, ...]
    types: tuple[str, ...] = ()


def measure(index: Index, name: str) -> Measure:
    """Return the measure of that name: SIZE (base entities inside; of a base entity, chunks), CONNECTIVITY (relations)
    or TYPE (the most frequent one inside). The steps of the first two are quarters of the layer."""
    if name == TYPE:
        return _types(index)
    layers = []
    for layer, below in zip(index.layers, index.leaf_counts, strict=True):
        values = layer.degrees if name == CONNECTIVITY else below
        if name == SIZE and not layer.number:
            values = np.diff(layer.mention_lists[0])
        layers.append(LayerMeasure(_quarters(values), np.asarray(values, dtype=np.int64)))
    return Measure(name, tuple(layers))


def hit_steps(hits: Mapping[int, int], layer: int, row: int) -> int:
    """Return the step of a node. hits: as of a ShownTree; in layer 0 its values are ranks."""
    count = hits.get(row, 0)
    return min(1 if count and not layer else count, _MOST_HITS)


def _quarters(values: np.ndarray) -> np.ndarray:
    """Return a step for each of (n,) values: 0 for none, 1 to 4 for the quarter of the positive ones."""
    steps = np.zeros(len(values), dtype=np.int8)
    positive = values > 0
    if positive.any():
        bounds = np.quantile(values[positive], [0.25, 0.5, 0.75])
        steps[positive] = 1 + np.searchsorted(bounds, values[positive], side="left")
    return steps


def _types(index: Index) -> Measure:
    import pyarrow.compute as pc

    column = index.layers[0].entities["type"]
    counted = sorted(pc.value_counts(column).to_pylist(), key=lambda cell: (-cell["counts"], cell["values"] or ""))
    names = tuple(str(cell["values"]) for cell in counted if cell["values"])[:N_TYPES]
    codes = np.full(len(index.layers[0]), -1, dtype=np.int64)
    for place, name in enumerate(names):
        codes[np.asarray(pc.equal(column, name).to_numpy(zero_copy_only=False), dtype=bool)] = place
    # One column for each type and one for the others, counted upwards.
    counts = (codes[:, None] == np.array([*range(len(names)), -1])[None, :]).astype(np.int64)
    layers = [LayerMeasure((codes + 1).astype(np.int8), codes)]
    for below, above in zip(index.layers, index.layers[1:], strict=False):
        summed = [np.bincount(below.parent, weights=part, minlength=len(above)) for part in counts.T]
        counts = np.stack(summed, axis=1).astype(np.int64)
        most = counts.argmax(axis=1)
        values = np.where(most == len(names), -1, most)
        layers.append(LayerMeasure((values + 1).astype(np.int8), values))
    return Measure(TYPE, tuple(layers), names)
