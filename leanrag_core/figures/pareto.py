"""Settings by what they cost and what they bring: the front of those that no other one beats, as a staircase."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from leanrag_core.figures.drawing import (
    Axis,
    Drawing,
    Shape,
    boxes_overlap,
    circle,
    path,
    round_axis,
    text,
    text_width,
)

_HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 310, 46, 14, 14, 46  # px


@dataclass(frozen=True)
class ParetoPoint:
    """A setting. cost: such as tokens. low, high: ends of the value's interval, drawn for the chosen one. is_named: its
    name is written though it is neither on the front nor chosen."""

    name: str
    cost: float
    value: float
    low: float | None = None
    high: float | None = None
    is_front: bool = False
    is_chosen: bool = False
    shown: str = ""
    pick: str = ""
    is_named: bool = False


def front(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Return places of the points (cost, value) that no other one beats in both, by rising cost."""
    best, kept = float("-inf"), []
    for place in sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1], place)):
        if points[place][1] > best:
            best = points[place][1]
            kept.append(place)
    return tuple(kept)


@dataclass(frozen=True)
class CostAxis:
    """The axis of what a setting costs. tick: how a value of it is written."""

    title: str
    tick: Callable[[float], str]


def pareto(
    points: Sequence[ParetoPoint],
    *,
    width: int,
    label: str,
    cost: CostAxis,
    value_tick: Callable[[float], str],
) -> Drawing:
    """Draw points, and the staircase of their front with its settings written."""
    chosen = [point for point in points if point.is_chosen]
    ends = [end for point in chosen for end in (point.low, point.high) if end is not None]
    x = round_axis([point.cost for point in points], _LEFT, width - _RIGHT, most_ticks=max(3, min(7, width // 95)))
    y = _value_axis([*(point.value for point in points), *ends])
    shapes = _grid(x, y, width, cost.tick, value_tick, cost.title)
    line = sorted((point for point in points if point.is_front), key=lambda point: point.cost)
    shapes += _staircase(line, x, y)
    for point in points:
        shapes += _point(point, x, y)
    shapes += _names(points, line, x, y, width)
    return Drawing(width, _HEIGHT, label, tuple(shapes))


def _value_axis(values: Sequence[float]) -> Axis:
    """Return the axis of the values; where all are shares, it ends at 0 and 1."""
    axis = round_axis(values, _HEIGHT - _BOTTOM, _TOP, most_ticks=8)
    if min(values, default=0.0) < 0 or max(values, default=1.0) > 1:
        return axis
    ticks = tuple(tick for tick in axis.ticks if 0 <= tick <= 1)
    return Axis(ticks[0], ticks[-1], axis.start, axis.end, ticks) if len(ticks) > 1 else axis


def _grid(
    x: Axis, y: Axis, width: int, cost_tick: Callable[[float], str], value_tick: Callable[[float], str], cost_title: str
) -> list[Shape]:
    shapes: list[Shape] = []
    for value in y.ticks:
        place = y.at(value)
        shapes.append(path(f"M{_LEFT} {place:.1f}H{width - _RIGHT}", stroke="line", stroke_width="1"))
        shapes.append(text(_LEFT - 8, place + 4, value_tick(value), size=12, anchor="end", fill="mute"))
    base = _HEIGHT - _BOTTOM
    for value in x.ticks:
        anchor = "end" if x.at(value) > width - 30 else "middle"
        shapes.append(text(x.at(value), base + 18, cost_tick(value), size=12, anchor=anchor, fill="mute"))
    middle = (_LEFT + width - _RIGHT) / 2
    shapes.append(text(middle, base + 38, cost_title, size=12, anchor="middle", fill="mute"))
    return shapes


def _staircase(line: Sequence[ParetoPoint], x: Axis, y: Axis) -> list[Shape]:
    """Draw the front from the floor up to the cheapest setting, and to the right from the best one: what is above
    cannot be had."""
    if not line:
        return []
    steps = [f"M{x.at(line[0].cost):.1f} {y.start:.1f}"]
    for point in line:
        steps.append(f"H{x.at(point.cost):.1f}V{y.at(point.value):.1f}")
    steps.append(f"H{x.end:.1f}")
    return [path("".join(steps), stroke="text", stroke_width="1.8")]


def _step_boxes(line: Sequence[ParetoPoint], x: Axis, y: Axis) -> list[tuple[float, float, float, float]]:
    """Return boxes along the staircase."""
    boxes, floor = [], y.start
    for place, point in enumerate(line):
        across, up = x.at(point.cost), y.at(point.value)
        end = x.at(line[place + 1].cost) if place + 1 < len(line) else x.end
        boxes += [(across - 2, up - 2, across + 2, floor + 2), (across - 2, up - 2, end + 2, up + 2)]
        floor = up
    return boxes


def _point(point: ParetoPoint, x: Axis, y: Axis) -> list[Shape]:
    across, up = x.at(point.cost), y.at(point.value)
    shapes: list[Shape] = []
    radius, style = 4.2, {"fill": "bg", "stroke": "mute", "stroke_width": "1.4"}
    if point.is_front:
        radius, style = 4.6, {"fill": "text"}
    if point.is_chosen:
        radius, style = 7.0, {"fill": "prim", "stroke": "bg", "stroke_width": "1.5"}
        if point.low is not None and point.high is not None:
            whisker = f"M{across:.1f} {y.at(point.low):.1f}V{y.at(point.high):.1f}"
            shapes.append(path(whisker, stroke="prim", stroke_width="2.2"))
    disc = circle(across, up, radius, title=point.shown or point.name, **style)
    return [*shapes, replace(disc, pick=point.pick, is_picked=point.is_chosen)]


def _names(points: Sequence[ParetoPoint], line: Sequence[ParetoPoint], x: Axis, y: Axis, width: int) -> list[Shape]:
    """Return the settings of the front, and of the chosen one, where they cover no point and no other name; over the
    line of the front only where there is no other place."""
    shapes: list[Shape] = []
    steps = _step_boxes(line, x, y)
    places = [(x.at(point.cost), y.at(point.value)) for point in points]
    used_boxes = [(across - 5, up - 5, across + 5, up + 5) for across, up in places]
    named = [point for point in points if point.is_front or point.is_chosen or point.is_named]
    for point in sorted(named, key=lambda point: (not point.is_chosen, not point.is_named, point.cost)):
        across, up = x.at(point.cost), y.at(point.value)
        wide = text_width(point.name, 12) + 2
        boxes = [
            (left, low - 10, left + wide, low + 2)
            for left, low in (
                (across - wide - 6, up - 7),
                (across + 8, up + 16),
                (across + 8, up - 7),
                (across - wide - 8, up + 16),
                (across - wide / 2, up - 10),
                (across - wide / 2, up + 19),
            )
            if left >= _LEFT and left + wide <= width and low >= 10
        ]
        free = [box for box in boxes if not any(boxes_overlap(box, other) for other in used_boxes)]
        free.sort(key=lambda box: any(boxes_overlap(box, step) for step in steps))
        # The chosen one is always named, over points where there is no other place.
        for box in (free or boxes if point.is_chosen else free)[:1]:
            used_boxes.append(box)
            weight = "650" if point.is_chosen else "400"
            halo = {"stroke": "var(--lr-bg)", "stroke_width": "3", "paint_order": "stroke"}
            name = text(box[0], box[3] - 2, point.name, size=12, font_weight=weight, pointer_events="none", **halo)
            shapes.append(name)
    return shapes
