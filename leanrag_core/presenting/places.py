"""Places of a story's pictures: parents in rectangles of their own, their children in rows inside, nothing overlaps.

Plain arithmetic on counts, so that the same index gives the same places on every machine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_ASPECT = 880 / 560  # of the figure
_DIGITS = 4


@dataclass(frozen=True)
class Point:
    """A place in the figure, fractions of its width and height."""

    x: float
    y: float


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    width: float
    height: float


def grouped_places(group_of: Sequence[int]) -> tuple[Point, ...]:
    """The place of each node: the nodes of a group lie side by side, in the order in which they are given."""
    sizes: dict[int, int] = {}
    for group in group_of:
        sizes[group] = sizes.get(group, 0) + 1
    order = sorted(sizes, key=lambda group: (-sizes[group], group))
    boxes = dict(zip(order, _boxes([sizes[group] for group in order], _Box(0.0, 0.0, 1.0, 1.0)), strict=True))
    cells = {group: iter(_cells(sizes[group], box)) for group, box in boxes.items()}
    return tuple(next(cells[group]) for group in group_of)


def around(centre: Point, n: int, radius: float) -> tuple[Point, ...]:
    """n places around a centre, the first nearest to it. radius: as a fraction of the figure's width."""
    points = []
    for number in range(n):
        far, angle = radius * math.sqrt((number + 0.5) / max(n, 1)), number * _GOLDEN_ANGLE
        x, y = centre.x + far * math.cos(angle), centre.y + far * math.sin(angle) * _ASPECT
        points.append(_point(x, y))
    return tuple(points)


def _boxes(sizes: Sequence[int], box: _Box) -> list[_Box]:
    """The box cut into boxes with areas by these sizes, halving the longer side."""
    if len(sizes) == 1:
        return [box]
    total, half, cut = sum(sizes), 0, 0
    while cut < len(sizes) - 1 and (half + sizes[cut] / 2 < total / 2 or cut == 0):
        half += sizes[cut]
        cut += 1
    share = half / total
    if box.width * _ASPECT >= box.height:
        first = _Box(box.x, box.y, box.width * share, box.height)
        rest = _Box(box.x + first.width, box.y, box.width - first.width, box.height)
    else:
        first = _Box(box.x, box.y, box.width, box.height * share)
        rest = _Box(box.x, box.y + first.height, box.width, box.height - first.height)
    return [*_boxes(sizes[:cut], first), *_boxes(sizes[cut:], rest)]


def _cells(n: int, box: _Box) -> list[Point]:
    """n places in rows, from left to right and back, so that neighbours in the order are neighbours in the figure."""
    columns = max(1, round(math.sqrt(n * box.width * _ASPECT * 0.8 / box.height)))
    rows = math.ceil(n / columns)
    cells = []
    for row in range(rows):
        first = row * n // rows
        in_row = (row + 1) * n // rows - first
        for number in range(in_row):
            place = number if row % 2 == 0 else in_row - 1 - number
            # Neighbours are not on one line, so that relations between them can be told apart.
            shift = 0.09 if (place + row) % 2 else -0.09
            x = box.x + box.width * (place + 0.5) / in_row
            cells.append(_point(x, box.y + box.height * (row + 0.5 + shift) / rows))
    return cells


def _point(x: float, y: float) -> Point:
    return Point(round(min(max(x, 0.0), 1.0), _DIGITS), round(min(max(y, 0.0), 1.0), _DIGITS))
