"""The icicle, a column for each layer with the focus on the left, and the sunburst, a ring for each layer around it;
heights and angles follow the entities inside.
"""

import math
from collections.abc import Sequence

import numpy as np

from leanrag_core.figures.blocks import Block, Picture, columns_of, fold_id, id_of, lowest_layer
from leanrag_core.figures.shown_tree import ShownTree, fold
from leanrag_core.types.graph import Place

HEIGHT = 596.0
ROW_GAP = 3.0
_NAME = 23.0  # the least height of a block with its name
_FOLDED = 26.0
_FOLDED_MOST = 56.0
_CELL_ROW = 26.0  # a row of cells and the gap below it
_KEPT_IN_ROW = 2  # cells that are never folded, in a row
_CELLS_IN_ROW = 7
_MOST_CELLS = 120
_LEAST = (6.0, 6.0, 4.0, 3.2)  # degrees that a line of text takes, by ring
_FOLDED_SHARE = 0.12  # of the parent's angle, at most


def icicle(tree: ShownTree, focus: Place, *, skip: int = 0) -> Picture:
    """Return the blocks below the focus, folded where they would be too low. skip: of its children, folded from the
    front."""
    lowest = lowest_layer(tree, focus.layer, focus.row)
    layout = _Layout(tree, focus.layer, lowest)
    height = max(HEIGHT, layout.need(focus.layer, focus.row))
    layout.place(focus.layer, focus.row, "", 0.0, height, skip)
    blocks = layout.blocks
    named = columns_of(tree, focus.layer, focus.row, lowest, blocks)
    return Picture("icicle", tuple(blocks), named, height, layout.skippable)


class _Layout:
    """The blocks so far, from the outermost inwards."""

    def __init__(self, tree: ShownTree, top: int, lowest: int) -> None:
        self.tree, self.top, self.lowest = tree, top, lowest
        self.blocks: list[Block] = []
        self.skippable = False

    def need(self, layer: int, row: int) -> float:
        """Return the least height of a block: what is never folded below it has room, and so has its own name."""
        least = self._least(layer, row)
        if layer == self.lowest or row not in self.tree.kept[layer]:
            return least
        inner = self.tree.children(layer, row)
        kept = self._kept(layer - 1, inner)
        if layer - 1 == self.lowest:
            n_cells = len(kept) + (len(kept) < len(inner))
            return max(least, _CELL_ROW * math.ceil(n_cells / _KEPT_IN_ROW) - ROW_GAP)
        heights = [self.need(layer - 1, int(inner[place])) for place in kept]
        heights += [_FOLDED] if len(kept) < len(inner) else []
        return max(least, sum(heights) + ROW_GAP * max(0, len(heights) - 1))

    def _least(self, layer: int, row: int) -> float:
        """Return the room for its name; where its children are blocks of their own, for one of them and the folded ones
        too."""
        has_blocks = layer - 1 > self.lowest and self.tree.inside(layer, [row], layer - 1) > 1
        return _NAME + ROW_GAP + _FOLDED if has_blocks else _NAME

    def _kept(self, layer: int, rows: np.ndarray) -> list[int]:
        """Return the positions of those of (n,) rows that are never folded."""
        return [place for place, row in enumerate(rows) if int(row) in self.tree.kept[layer]]

    def place(self, layer: int, row: int, parent: str, y: float, height: float, skip: int = 0) -> None:
        """Adds the block and all below it."""
        tree, id_ = self.tree, id_of(self.tree, layer, row)
        inner = tree.children(layer, row) if layer > self.lowest else np.zeros(0, dtype=np.int64)
        cells: tuple[int, ...] = ()
        kept_cells: tuple[int, ...] = ()
        if layer - 1 == self.lowest:
            kept_cells = tuple(int(inner[place]) for place in self._kept(layer - 1, inner))
            cells = _cells(inner, kept_cells, height)
        below = int(tree.below[layer][row])
        self.blocks.append(
            Block(
                id_,
                parent,
                layer,
                row,
                below,
                len(inner),
                0,
                self.top - layer,
                y,
                1.0,
                height,
                cells=cells,
                kept_cells=kept_cells,
            )
        )
        if layer - 1 <= self.lowest or not len(inner):
            return
        folding = fold(
            [float(weight) for weight in tree.below[layer - 1][inner]],
            [self.need(layer - 1, int(child)) for child in inner],
            self._kept(layer - 1, inner),
            height,
            fold_sizes=(_FOLDED, _FOLDED_MOST),
            gap=ROW_GAP,
            skip=skip,
        )
        for place, size in zip(folding.named, folding.sizes, strict=True):
            self.place(layer - 1, int(inner[place]), id_, y, size)
            y += size + ROW_GAP
        if folding.folded:
            named = set(folding.named)
            rest = [int(row) for place, row in enumerate(inner) if place not in named]
            self._fold(layer - 1, rest, id_, y, folding.fold_size)
            self.skippable |= layer == self.top

    def _fold(self, layer: int, rows: Sequence[int], parent: str, y: float, height: float) -> None:
        """The folded nodes, and what lies in them, as one block in each column."""
        owner = parent
        for number in range(layer, self.lowest - 1, -1):
            n_nodes = self.tree.inside(layer, rows, number)
            if n_nodes:
                below = int(self.tree.below[layer][rows].sum())
                id_ = fold_id(parent, number)
                x = self.top - number
                self.blocks.append(Block(id_, owner, number, -1, below, 0, n_nodes, x, y, 1.0, height))
                owner = id_


def _cells(inner: np.ndarray, kept: Sequence[int], height: float) -> tuple[int, ...]:
    """Return rows that may be drawn: the first ones that the height has room for, and all that are kept. inner: (n,)
    rows of the children."""
    n_rows = max(1, int((height + ROW_GAP) // _CELL_ROW))
    first = [int(row) for row in inner[: min(_MOST_CELLS, n_rows * _CELLS_IN_ROW)]]
    return (*first, *(row for row in kept if row not in set(first)))


def sunburst(tree: ShownTree, focus: Place, *, skip: int = 0) -> Picture:
    """Return the blocks below the focus, folded where they would be too narrow. skip: as of an icicle."""
    lowest = lowest_layer(tree, focus.layer, focus.row)
    blocks: list[Block] = []
    skippable = False
    pending = [(focus.layer, focus.row, "", 0.0, 360.0)]
    while pending:
        layer, row, parent, start, angle = pending.pop(0)
        id_, ring = id_of(tree, layer, row), focus.layer - layer
        inner = tree.children(layer, row) if layer > lowest else np.zeros(0, dtype=np.int64)
        below = int(tree.below[layer][row])
        blocks.append(Block(id_, parent, layer, row, below, len(inner), 0, ring, start, 1.0, angle))
        if not len(inner):
            continue
        least = _LEAST[ring + 1]
        folding = fold(
            [float(weight) for weight in tree.below[layer - 1][inner]],
            [least] * len(inner),
            [place for place, child in enumerate(inner) if int(child) in tree.kept[layer - 1]],
            angle,
            fold_sizes=(min(least, angle), max(least, _FOLDED_SHARE * angle)),
            skip=skip if layer == focus.layer else 0,
        )
        # Where more is kept than the angle has room for, all of it is drawn narrower.
        scale = angle / (sum(folding.sizes) + folding.fold_size)
        named = set(folding.named)
        for place, size in zip(folding.named, folding.sizes, strict=True):
            pending.append((layer - 1, int(inner[place]), id_, start, size * scale))
            start += size * scale
        if folding.folded:
            rest = [int(child) for place, child in enumerate(inner) if place not in named]
            below = int(tree.below[layer - 1][rest].sum())
            size = folding.fold_size * scale
            blocks.append(
                Block(fold_id(id_, layer - 1), id_, layer - 1, -1, below, 0, len(rest), ring + 1, start, 1.0, size)
            )
            skippable |= layer == focus.layer
    named_columns = columns_of(tree, focus.layer, focus.row, lowest, blocks)
    return Picture("sunburst", tuple(blocks), named_columns, HEIGHT, skippable)
