"""Where the types of a schema are drawn: the one with most relations in the middle, the others around it, rare ones
folded into one box, so that the picture stays legible with any number of types."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FOLD = -1  # in the place of a type: the box of those that are folded


@dataclass(frozen=True)
class SchemaSize:
    """The room of a drawing and of its boxes in px, and how many types have a box of their own."""

    width: int
    height: int
    box_width: int
    box_height: int
    boxes: int


WIDE = SchemaSize(width=700, height=540, box_width=112, box_height=44, boxes=12)
NARROW = SchemaSize(width=350, height=560, box_width=96, box_height=40, boxes=7)


@dataclass(frozen=True)
class TypePlace:
    """The middle of the box of a type. of: its position in the list of types, or FOLD."""

    of: int
    x: float
    y: float


@dataclass(frozen=True)
class SchemaGraph:
    """A layout. folded: how many types the box FOLD stands for."""

    width: int
    height: int
    box_width: int
    box_height: int
    places: tuple[TypePlace, ...]
    folded: int


def schema_graph(counts: Sequence[int], links: Mapping[tuple[int, int], int], size: SchemaSize) -> SchemaGraph:
    """Return the layout of types. counts: entities of each type, the most frequent first. links: relations between two
    types, each a position in counts."""
    # A box for a single folded type would take the room of that type.
    shown = list(range(len(counts) if len(counts) <= size.boxes + 1 else size.boxes))
    folded = len(counts) - len(shown)
    if not shown:
        return SchemaGraph(size.width, size.height, size.box_width, size.box_height, (), 0)
    weight = {place: sum(n for pair, n in links.items() if place in pair) for place in shown}
    middle = max(shown, key=lambda place: (weight[place], -place))
    ring = [*_around([place for place in shown if place != middle], links), *([FOLD] if folded else [])]
    x, y = size.width / 2, size.height / 2
    radius_x = x - size.box_width / 2 - 6
    radius_y = y - size.box_height / 2 - 18
    angles = _even_angles(len(ring), radius_x, radius_y)
    places = [TypePlace(middle, x, y)]
    places += [
        TypePlace(place, round(x + radius_x * math.cos(angle), 1), round(y + radius_y * math.sin(angle), 1))
        for place, angle in zip(ring, angles, strict=True)
    ]
    return SchemaGraph(size.width, size.height, size.box_width, size.box_height, tuple(places), folded)


def _around(types: Sequence[int], links: Mapping[tuple[int, int], int]) -> list[int]:
    """Return the types in a row in which neighbours have many relations."""
    left = list(types)
    row = left[:1]
    del left[:1]
    while left:
        best = max(left, key=lambda place: (links.get((min(place, row[-1]), max(place, row[-1])), 0), -place))
        row.append(best)
        left.remove(best)
    return row


def _even_angles(n: int, radius_x: float, radius_y: float) -> list[float]:
    """Return n angles of points on an ellipse that have the same length of arc between them, the first one on top."""
    steps = 720
    lengths = [0.0]
    for step in range(steps):
        begin, end = (2 * math.pi * at / steps - math.pi / 2 for at in (step, step + 1))
        dx = radius_x * (math.cos(end) - math.cos(begin))
        dy = radius_y * (math.sin(end) - math.sin(begin))
        lengths.append(lengths[-1] + math.hypot(dx, dy))
    angles = []
    step = 0
    for place in range(n):
        while lengths[step] < lengths[-1] * place / n:
            step += 1
        angles.append(2 * math.pi * step / steps - math.pi / 2)
    return angles
