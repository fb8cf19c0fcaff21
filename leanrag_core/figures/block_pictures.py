"""The hierarchy as blocks: icicle, sunburst and treemap, placed but not drawn."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leanrag_core.figures.blocks import Block, Picture, ShownTree, columns_of, fold, fold_id, id_of, lowest_layer
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
    columns = columns_of(tree, focus.layer, focus.row, lowest, blocks)
    return Picture("icicle", tuple(blocks), columns, height, layout.skippable)


class _Layout:
    """The blocks so far, from the outermost inwards."""

    def __init__(self, tree: ShownTree, top: int, lowest: int) -> None:
        self.tree, self.top, self.lowest = tree, top, lowest
        self.blocks: list[Block] = []
        self.skippable = False

    def need(self, layer: int, row: int) -> float:
        """Return the least height of a block, with room for its name and for what is never folded below it."""
        least = self._least(layer, row)
        if layer == self.lowest or row not in self.tree.kept[layer]:
            return least
        inner = self.tree.children(layer, row)
        kept = _kept(self.tree, layer - 1, inner)
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

    def place(self, layer: int, row: int, parent: str, y: float, height: float, skip: int = 0) -> None:
        """Add the block and all below it."""
        tree, id_ = self.tree, id_of(self.tree, layer, row)
        inner = _inner(tree, layer, row, self.lowest)
        cells: tuple[int, ...] = ()
        kept_cells: tuple[int, ...] = ()
        if layer - 1 == self.lowest:
            kept_cells = tuple(int(inner[place]) for place in _kept(tree, layer - 1, inner))
            cells = _cells(inner, kept_cells, height)
        box = (self.top - layer, y, 1.0, height)
        self.blocks.append(_block(tree, layer, row, parent, inner, box, cells=cells, kept_cells=kept_cells))
        if layer - 1 <= self.lowest or not len(inner):
            return
        folding = fold(
            tree.below[layer - 1][inner].tolist(),
            [self.need(layer - 1, int(child)) for child in inner],
            _kept(tree, layer - 1, inner),
            height,
            fold_sizes=(_FOLDED, _FOLDED_MOST),
            gap=ROW_GAP,
            skip=skip,
        )
        for place, size in zip(folding.named, folding.sizes, strict=True):
            self.place(layer - 1, int(inner[place]), id_, y, size)
            y += size + ROW_GAP
        if folding.folded:
            self._fold(layer - 1, inner[list(folding.folded)], id_, y, folding.fold_size)
            self.skippable |= layer == self.top

    def _fold(self, layer: int, rows: np.ndarray, parent: str, y: float, height: float) -> None:
        """Add the folded nodes of a layer, and what lies in them, as one block in each column. rows: (n,) int."""
        owner = parent
        for number in range(layer, self.lowest - 1, -1):
            n_nodes = self.tree.inside(layer, rows, number)
            if n_nodes:
                below, id_ = int(self.tree.below[layer][rows].sum()), fold_id(parent, number)
                box = (self.top - number, y, 1.0, height)
                self.blocks.append(Block(id_, owner, number, -1, below, 0, n_nodes, *box))
                owner = id_


def _cells(inner: np.ndarray, kept: Sequence[int], height: float) -> tuple[int, ...]:
    """Return rows that may be drawn: the first ones that the height has room for, and all that are kept. inner: (n,)
    rows of the children."""
    n_rows = max(1, int((height + ROW_GAP) // _CELL_ROW))
    first = [int(row) for row in inner[: min(_MOST_CELLS, n_rows * _CELLS_IN_ROW)]]
    return (*first, *(row for row in kept if row not in set(first)))


def _inner(tree: ShownTree, layer: int, row: int, lowest: int) -> np.ndarray:
    """Return (children,) int rows of the children that the picture shows; none below its lowest layer."""
    return tree.children(layer, row) if layer > lowest else np.zeros(0, dtype=np.int64)


def _kept(tree: ShownTree, layer: int, rows: np.ndarray) -> list[int]:
    """Return the positions of those of (n,) rows that are never folded."""
    return [place for place, row in enumerate(rows) if int(row) in tree.kept[layer]]


def sunburst(tree: ShownTree, focus: Place, *, skip: int = 0) -> Picture:
    """Return the blocks below the focus, folded where they would be too narrow. skip: as of an icicle."""
    lowest = lowest_layer(tree, focus.layer, focus.row)
    blocks: list[Block] = []
    skippable = False
    pending = [(focus.layer, focus.row, "", 0.0, 360.0)]
    while pending:
        layer, row, parent, start, angle = pending.pop(0)
        id_, ring = id_of(tree, layer, row), focus.layer - layer
        inner = _inner(tree, layer, row, lowest)
        blocks.append(_block(tree, layer, row, parent, inner, (ring, start, 1.0, angle)))
        if not len(inner):
            continue
        least = _LEAST[ring + 1]
        folding = fold(
            tree.below[layer - 1][inner].tolist(),
            [least] * len(inner),
            _kept(tree, layer - 1, inner),
            angle,
            fold_sizes=(min(least, angle), max(least, _FOLDED_SHARE * angle)),
            skip=skip if layer == focus.layer else 0,
        )
        # Where more is kept than the angle has room for, all of it is drawn narrower.
        scale = angle / (sum(folding.sizes) + folding.fold_size)
        for place, size in zip(folding.named, folding.sizes, strict=True):
            pending.append((layer - 1, int(inner[place]), id_, start, size * scale))
            start += size * scale
        if folding.folded:
            box = (ring + 1, start, 1.0, folding.fold_size * scale)
            blocks.append(_fold_block(tree, layer - 1, inner[list(folding.folded)], id_, box))
            skippable |= layer == focus.layer
    columns = columns_of(tree, focus.layer, focus.row, lowest, blocks)
    return Picture("sunburst", tuple(blocks), columns, HEIGHT, skippable)


WIDTH = 766.0  # blocks are as square as can be at this width
_STRIP = 20.0  # for the name of a block that holds others
_GAP = 2.0
_LEAST_AREA = (9_000.0, 3_600.0, 2_400.0)  # of a named block, by its distance from the focus
_FOLDED_AREA = 1_500.0
_LEAST_TO_OPEN = (60.0, 48.0)  # width and height of a block that shows its children


def treemap(tree: ShownTree, focus: Place, *, skip: int = 0) -> Picture:
    """Return the blocks below the focus, folded where they would be too small. skip: as of an icicle."""
    lowest = lowest_layer(tree, focus.layer, focus.row)
    blocks: list[Block] = []
    skippable = False
    pending = [(focus.layer, focus.row, "", (0.0, 0.0, WIDTH, HEIGHT))]
    while pending:
        layer, row, parent, (x, y, width, height) = pending.pop(0)
        id_ = id_of(tree, layer, row)
        holds_kept = row in tree.kept[layer] and layer > lowest
        is_open = layer > lowest and ((width >= _LEAST_TO_OPEN[0] and height >= _LEAST_TO_OPEN[1]) or holds_kept)
        inner = _inner(tree, layer, row, lowest)
        box = (x / WIDTH, y, width / WIDTH, height)
        blocks.append(_block(tree, layer, row, parent, inner, box, strip=is_open and len(inner) > 0))
        if not is_open or not len(inner):
            continue
        top = y + (_STRIP if height > 2 * _STRIP else _GAP)
        room = (x + _GAP, top, max(1.0, width - 2 * _GAP), max(1.0, y + height - _GAP - top))
        area = room[2] * room[3]
        folding = fold(
            tree.below[layer - 1][inner].tolist(),
            [_LEAST_AREA[min(focus.layer - layer, len(_LEAST_AREA) - 1)]] * len(inner),
            _kept(tree, layer - 1, inner),
            area,
            fold_sizes=(_FOLDED_AREA, max(_FOLDED_AREA, area / 6)),
            skip=skip if layer == focus.layer else 0,
        )
        if not folding.named:
            blocks[-1] = replace(blocks[-1], strip=False)
            continue
        boxes = _boxes([*folding.sizes, *([folding.fold_size] if folding.folded else [])], room)
        for place, room in zip(folding.named, boxes, strict=False):
            pending.append((layer - 1, int(inner[place]), id_, room))
        if folding.folded:
            left, upper, wide, high = boxes[-1]
            box = (left / WIDTH, upper, wide / WIDTH, high)
            blocks.append(_fold_block(tree, layer - 1, inner[list(folding.folded)], id_, box))
            skippable |= layer == focus.layer
    columns = columns_of(tree, focus.layer, focus.row, lowest, blocks)
    return Picture("treemap", tuple(blocks), columns, HEIGHT, skippable)


def _block(
    tree: ShownTree,
    layer: int,
    row: int,
    parent: str,
    inner: np.ndarray,
    box: tuple[float, float, float, float],
    **more: Any,
) -> Block:
    """Return the block of a node. inner: (children,) rows that lie in it. box: x, y, width, height. more: of its last
    fields."""
    id_, below = id_of(tree, layer, row), int(tree.below[layer][row])
    return Block(id_, parent, layer, row, below, len(inner), 0, *box, **more)


def _fold_block(
    tree: ShownTree, layer: int, rows: np.ndarray, parent: str, box: tuple[float, float, float, float]
) -> Block:
    """Return the block that stands for those (n,) rows of a layer. box: x, y, width, height."""
    below = int(tree.below[layer][rows].sum())
    return Block(fold_id(parent, layer), parent, layer, -1, below, 0, len(rows), *box)


def _boxes(sizes: Sequence[float], room: tuple[float, float, float, float]) -> list[tuple[float, float, float, float]]:
    """Return boxes for the sizes, in their order; inside, the largest comes first."""
    order = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
    boxes = squarified([sizes[place] for place in order], *room)
    return [box for _, box in sorted(zip(order, boxes, strict=True))]


def squarified(
    weights: Sequence[float], x: float, y: float, width: float, height: float
) -> list[tuple[float, float, float, float]]:
    """Return boxes (x, y, width, height) that fill a box, their areas as the weights, as square as can be.

    weights: positive, the largest first. Source: Bruls, Huizing and van Wijk, Squarified Treemaps (2000).
    """
    total = sum(weights)
    areas = [weight * width * height / total for weight in weights] if total > 0 else [0.0] * len(weights)
    boxes: list[tuple[float, float, float, float]] = []
    while len(boxes) < len(areas):
        side, start = min(width, height), len(boxes)
        row = areas[start : start + 1]
        while start + len(row) < len(areas) and _worst([*row, areas[start + len(row)]], side) <= _worst(row, side):
            row.append(areas[start + len(row)])
        depth = sum(row) / side if side > 0 else 0.0
        at = 0.0
        for area in row:  # a row lies along the shorter side of what is left
            length = area / depth if depth > 0 else 0.0
            boxes.append((x, y + at, depth, length) if width >= height else (x + at, y, length, depth))
            at += length
        if width >= height:
            x, width = x + depth, max(0.0, width - depth)
        else:
            y, height = y + depth, max(0.0, height - depth)
    return boxes


def _worst(row: Sequence[float], side: float) -> float:
    """Return the largest ratio of sides in a row of boxes along that side."""
    total = sum(row)
    if total <= 0 or side <= 0:
        return 1.0
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))
