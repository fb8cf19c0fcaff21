"""Estimates with their intervals: marks in the cells of a table, and a forest of differences."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from leanrag_core.figures.drawing import Axis, Drawing, Shape, circle, fitted, path, rect, round_axis, text, text_width

_ROOM = 4.0  # percent at either end, so that a dot at the end is whole


class Estimate(Protocol):
    """A value and the interval around it, both ends None where the interval is unknown."""

    @property
    def value(self) -> float: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True)
class CellMark:
    """A dot at `dot`, over a bar from `left` that is `width` wide. All in percent; a width of 0 is no bar."""

    dot: float
    left: float
    width: float


@dataclass(frozen=True)
class CellScale:
    """The scale that all cells of a column share, from low to high."""

    low: float
    high: float

    def mark(self, estimate: Estimate) -> CellMark:
        """Return where the estimate is drawn."""
        axis = Axis(self.low, self.high, _ROOM, 100 - _ROOM)
        dot = round(axis.at(estimate.value), 2)
        if estimate.low is None or estimate.high is None:
            return CellMark(dot, dot, 0.0)
        left, right = round(axis.at(estimate.low), 2), round(axis.at(estimate.high), 2)
        return CellMark(dot, left, round(right - left, 2))


def column_scale(estimates: Iterable[Estimate | None]) -> CellScale:
    """Return the scale from the lowest end of an interval to the highest. estimates: None where nothing is known."""
    known = [end for each in estimates if each is not None for end in (each.value, each.low, each.high)]
    ends = [end for end in known if end is not None and math.isfinite(end)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return CellScale(low, high) if high - low > 1e-12 else CellScale(low - 0.5, high + 0.5)


@dataclass(frozen=True)
class PairMark:
    """Shares of wins in percent: when shown first and second (None where unknown), of both orders, and its interval."""

    shown_first: float | None
    shown_second: float | None
    both: float
    left: float
    width: float

    @property
    def span(self) -> tuple[float, float]:
        """Return left end and width of the line that joins the two orders."""
        ends = [end for end in (self.shown_first, self.shown_second) if end is not None] or [self.both]
        return min(ends), round(max(ends) - min(ends), 2)


def pair_mark(both: Estimate, shown_first: float | None, shown_second: float | None) -> PairMark:
    """Return the marks of a pair of systems, on a scale from 0 to 100 %. Shares are from 0 to 1."""
    low = both.value if both.low is None else both.low
    high = both.value if both.high is None else both.high
    first, second = (None if share is None else round(100 * share, 2) for share in (shown_first, shown_second))
    return PairMark(first, second, round(100 * both.value, 2), round(100 * low, 2), round(100 * (high - low), 2))


_ROW, _TOP, _BOTTOM, _SIZE = 24, 8, 26, 13  # px
_VALUE = 52  # px of the column with the values
_MOST_NAME = 190


@dataclass(frozen=True)
class Difference:
    """A paired difference with its interval. note: such as the number of questions; shown: the value as written.
    is_sure: the two can be told apart. pick: what a click on its dot reports, "" for nothing."""

    name: str
    note: str
    value: float
    low: float
    high: float
    shown: str
    is_sure: bool
    pick: str = ""


@dataclass(frozen=True)
class Beside:
    """A value of this machine (None: not measured) and the published one (None: not published), as they are drawn."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    published: float | None
    shown: str


def forest(
    differences: Sequence[Difference], *, width: int, colour: str, label: str, tick: Callable[[float], str]
) -> Drawing:
    """Return a row for each difference: a filled dot where it is sure, else a ring; the value at the right.

    colour: of the palette. tick: how a value of the axis is written.
    """
    left = _name_width([f"{each.name} {each.note}" for each in differences], width)
    ends = [end for each in differences for end in (each.low, each.high, each.value)]
    axis = round_axis([0.0, *ends], left, width - _VALUE - 8, most_ticks=_n_ticks(width - left))
    base = _TOP + _ROW * len(differences)
    ink = colour
    shapes = _grid(axis, base, tick)
    zero = axis.at(0.0)
    shapes.append(path(f"M{zero:.1f} {_TOP - 6}V{base + 2}", stroke="mute", stroke_width="1.2"))
    for place, each in enumerate(differences):
        y = _TOP + _ROW * (place + 0.5)
        shapes += _name(each.name, each.note, y, left)
        shapes.append(path(f"M{axis.at(each.low):.1f} {y:.1f}H{axis.at(each.high):.1f}", stroke=ink, stroke_width="2"))
        fill = ink if each.is_sure else "bg"
        title = f"{each.name}: {each.shown}"
        dot = circle(axis.at(each.value), y, 5, title=title, fill=fill, stroke=ink, stroke_width="2")
        shapes.append(replace(dot, pick=each.pick))
        weight = "650" if each.is_sure else "400"
        shapes.append(text(width - 2, y + 4.5, each.shown, size=_SIZE, anchor="end", font_weight=weight))
    return Drawing(width, base + _BOTTOM, label, tuple(shapes))


def beside_published(rows: Sequence[Beside], *, width: int, label: str, tick: Callable[[float], str]) -> Drawing:
    """Return a row for each system: a dot with its interval for this machine, a dashed hollow square for what is
    published."""
    left = _name_width([each.name for each in rows], width)
    ends = [end for each in rows for end in (each.value, each.low, each.high, each.published) if end is not None]
    axis = round_axis(ends, left + 8, width - _VALUE - 8, most_ticks=_n_ticks(width - left))
    base = _TOP + _ROW * len(rows)
    shapes = _grid(axis, base, tick)
    for place, each in enumerate(rows):
        y = _TOP + _ROW * (place + 0.5)
        shapes += _name(each.name, "", y, left)
        if each.value is not None:
            if each.low is not None and each.high is not None:
                line = f"M{axis.at(each.low):.1f} {y:.1f}H{axis.at(each.high):.1f}"
                shapes.append(path(line, stroke="text", stroke_width="2"))
            shapes.append(circle(axis.at(each.value), y, 4.5, fill="text"))
        if each.published is not None:
            x, title = axis.at(each.published), f"{each.name}: {tick(each.published)}"
            dashes = {"fill": "none", "stroke": "chunk", "stroke_width": "1.8", "stroke_dasharray": "2.4 1.6"}
            shapes.append(rect(x - 5, y - 5, 10, 10, radius=0, title=title, **dashes))
        shapes.append(text(width - 2, y + 4.5, each.shown, size=_SIZE, anchor="end"))
    return Drawing(width, base + _BOTTOM, label, tuple(shapes))


def _n_ticks(room: float) -> int:
    return max(3, min(7, int(room / 70)))


def _name_width(names: Sequence[str], width: int) -> float:
    """Return where the plot begins: right of the longest name, which gets 42 % of the width at most."""
    longest = max((text_width(name, _SIZE) for name in names), default=0.0)
    return min(longest + 16, _MOST_NAME, 0.42 * width)


def _name(name: str, note: str, y: float, left: float) -> list[Shape]:
    room = left - 12 - (text_width(note, 12) + 6 if note else 0)
    short = fitted(name, room, _SIZE)
    shapes = [text(0, y + 4.5, short, size=_SIZE, title=name)]
    if note:
        shapes.append(text(text_width(short, _SIZE) + 7, y + 4.5, note, size=12, fill="mute"))
    return shapes


def _grid(axis: Axis, base: float, tick: Callable[[float], str]) -> list[Shape]:
    shapes: list[Shape] = []
    for value in axis.ticks:
        x = axis.at(value)
        shapes.append(path(f"M{x:.1f} {_TOP - 6}V{base + 2}", stroke="line", stroke_width="1"))
        shapes.append(text(x, base + 18, tick(value), size=12, anchor="middle", fill="mute"))
    return shapes
