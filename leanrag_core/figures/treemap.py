"""The treemap: children lie inside their parent, its name above them; areas follow the entities inside."""

from collections.abc import Sequence

import numpy as np

from leanrag_core.figures.blocks import Block, Picture, columns_of, fold_id, id_of, lowest_layer
from leanrag_core.figures.icicle import HEIGHT
from leanrag_core.figures.shown_tree import ShownTree, fold
from leanrag_core.types.graph import Place

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
        inner = tree.children(layer, row) if layer > lowest else np.zeros(0, dtype=np.int64)
        blocks.append(
            Block(
                id_,
                parent,
                layer,
                row,
                int(tree.below[layer][row]),
                len(inner),
                0,
                x / WIDTH,
                y,
                width / WIDTH,
                height,
                strip=is_open and len(inner) > 0,
            )
        )
        if not is_open or not len(inner):
            continue
        top = y + (_STRIP if height > 2 * _STRIP else _GAP)
        room = (x + _GAP, top, max(1.0, width - 2 * _GAP), max(1.0, y + height - _GAP - top))
        kept = [place for place, child in enumerate(inner) if int(child) in tree.kept[layer - 1]]
        least = _LEAST_AREA[min(focus.layer - layer, len(_LEAST_AREA) - 1)]
        area = room[2] * room[3]
        folding = fold(
            [float(weight) for weight in tree.below[layer - 1][inner]],
            [least] * len(inner),
            kept,
            area,
            fold_sizes=(_FOLDED_AREA, max(_FOLDED_AREA, area / 6)),
            skip=skip if layer == focus.layer else 0,
        )
        if not folding.named:
            blocks[-1] = _closed(blocks[-1])
            continue
        sizes = [*folding.sizes, *([folding.fold_size] if folding.folded else [])]
        boxes = _boxes(sizes, room)
        for place, box in zip(folding.named, boxes, strict=False):
            pending.append((layer - 1, int(inner[place]), id_, box))
        if folding.folded:
            left, upper, wide, high = boxes[-1]
            named = set(folding.named)
            rest = [int(child) for place, child in enumerate(inner) if place not in named]
            below = int(tree.below[layer - 1][rest].sum())
            id_of_fold, share = fold_id(id_, layer - 1), wide / WIDTH
            blocks.append(Block(id_of_fold, id_, layer - 1, -1, below, 0, len(rest), left / WIDTH, upper, share, high))
            skippable |= layer == focus.layer
    named_columns = columns_of(tree, focus.layer, focus.row, lowest, blocks)
    return Picture("treemap", tuple(blocks), named_columns, HEIGHT, skippable)


def _closed(block: Block) -> Block:
    return Block(**{**vars(block), "strip": False})


def _boxes(sizes: Sequence[float], room: tuple[float, float, float, float]) -> list[tuple[float, float, float, float]]:
    """Boxes for the sizes, in their order; inside, the largest comes first."""
    order = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
    boxes = squarified([sizes[place] for place in order], *room)
    return [box for _, box in sorted(zip(order, boxes, strict=True))]


def squarified(
    weights: Sequence[float], x: float, y: float, width: float, height: float
) -> list[tuple[float, float, float, float]]:
    """Boxes (x, y, width, height) that fill a box, their areas as the weights, as square as can be.

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
