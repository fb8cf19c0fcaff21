"""Where each block of an icicle or treemap stands. Pure: the browser draws what stands here, and measures its texts.

x and width are fractions of the drawing's width, which only the browser knows; y and height are pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.figures.direction import isolated
from leanrag_core.figures.icicle import Cell, HierarchyView

HEIGHT = 580.0
_FOCUS_SHARE = 0.5  # width of the outermost column of an icicle, the others being 1
_WIDTH = 660.0  # a treemap's blocks are as square as can be at this width
_STRIP = 20.0  # for the name of a block that holds others
_LEAST_FOR_STRIP = 44.0
_GAP = 2.0
_TREEMAP_LEVELS = 3


@dataclass(frozen=True)
class Block:
    """A block as it is drawn. parent: id of the block it lies in. strip: whether its name stands in a strip at its top,
    because others lie in it. about: what it is, in two lines. folded: it stands for nodes that are not drawn."""

    id: str
    parent: str
    name: str
    layer: int
    x: float
    y: float
    width: float
    height: float
    strip: bool
    folded: bool
    about: str


@dataclass(frozen=True)
class Blocks:
    """All that the drawing needs. columns: widths of an icicle's columns, adding up to 1; none for a treemap."""

    blocks: tuple[Block, ...]
    columns: tuple[float, ...]
    height: float = HEIGHT


def icicle_blocks(view: HierarchyView) -> Blocks:
    """A column for every level, the focus on the left; children lie beside their parent, in its height."""
    shares = [_FOCUS_SHARE if place == 0 and len(view.columns) > 1 else 1.0 for place in range(len(view.columns))]
    widths = [share / sum(shares) for share in shares]
    left = {layer: sum(widths[:place]) for place, (layer, _, _) in enumerate(view.columns)}
    width = {layer: widths[place] for place, (layer, _, _) in enumerate(view.columns)}
    per_weight = HEIGHT / (view.cells[0].weight or 1.0)
    filled: dict[str, float] = {"": 0.0}  # down to which y the children of a block stand
    blocks = []
    for cell in view.cells:  # every block comes after the one it lies in
        y, height = filled[cell.parent], cell.weight * per_weight
        filled[cell.parent], filled[cell.id] = y + height, y
        blocks.append(_block(cell, left[cell.layer], y, width[cell.layer], height, strip=False))
    return Blocks(tuple(blocks), tuple(widths))


def treemap_blocks(view: HierarchyView) -> Blocks:
    """Children lie inside their parent, its name above them; three levels."""
    inside: dict[str, list[Cell]] = {}
    for cell in view.cells:
        inside.setdefault(cell.parent, []).append(cell)
    lowest = view.cells[0].layer - _TREEMAP_LEVELS + 1
    blocks = []
    pending = [(view.cells[0], 0.0, 0.0, _WIDTH, HEIGHT)]
    while pending:
        cell, x, y, width, height = pending.pop()
        children = inside.get(cell.id, []) if cell.layer > lowest else []
        strip = bool(children) and width > _LEAST_FOR_STRIP and height > _LEAST_FOR_STRIP
        blocks.append(_block(cell, x / _WIDTH, y, width / _WIDTH, height, strip=strip))
        gap = _GAP if min(width, height) > 4 * _GAP else 0.0
        top = y + (_STRIP if strip else gap)
        boxes = squarified(
            [child.weight for child in children],
            x + gap,
            top,
            max(0.0, width - 2 * gap),
            max(0.0, y + height - gap - top),
        )
        pending += [(child, *box) for child, box in zip(children, boxes, strict=True)]
    place = {cell.id: number for number, cell in enumerate(view.cells)}
    return Blocks(tuple(sorted(blocks, key=lambda block: place[block.id])), ())


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
    """The largest ratio of sides in a row of boxes along that side."""
    total = sum(row)
    if total <= 0 or side <= 0:
        return 1.0
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def _block(cell: Cell, x: float, y: float, width: float, height: float, *, strip: bool) -> Block:
    left, top, wide, high = (round(number, 5) for number in (x, y, width, height))
    return Block(
        cell.id, cell.parent, cell.name, cell.layer, left, top, wide, high, strip, cell.folded > 0, _about(cell)
    )


def _about(cell: Cell) -> str:
    if cell.folded:
        return f"{cell.folded:,} more nodes of layer {cell.layer}\nThey are in the list of children."
    if cell.layer == 0:
        return f"{isolated(cell.name)}\nLayer 0, entity"
    facts = f"Layer {cell.layer}, {cell.children:,} in the layer below, {cell.below:,} entities in all"
    return f"{isolated(cell.name)}\n{facts}"
