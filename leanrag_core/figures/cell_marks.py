"""Marks in the cells of a table: where a dot, its interval and other signs lie, in percent of the cell's width."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_ROOM = 4.0  # percent at either end, so that a dot at the end is whole


@dataclass(frozen=True)
class Estimate:
    """A value and the interval around it, both None where the interval is unknown."""

    value: float
    low: float | None = None
    high: float | None = None


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
        dot = self._percent(estimate.value)
        if estimate.low is None or estimate.high is None:
            return CellMark(dot, dot, 0.0)
        left, right = self._percent(estimate.low), self._percent(estimate.high)
        return CellMark(dot, left, round(right - left, 2))

    def _percent(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_ROOM + (100 - 2 * _ROOM) * share, 2)


def column_scale(estimates: Iterable[Estimate]) -> CellScale:
    """Return the scale from the lowest end of an interval to the highest."""
    ends = [
        end for each in estimates for end in (each.value, each.low, each.high) if end is not None and math.isfinite(end)
    ]
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
        """Left end and width of the line that joins the two orders."""
        ends = [end for end in (self.shown_first, self.shown_second) if end is not None] or [self.both]
        return min(ends), round(max(ends) - min(ends), 2)


def pair_mark(both: Estimate, shown_first: float | None, shown_second: float | None) -> PairMark:
    """Return the marks of a pair of systems, on a scale from 0 to 100 %. Shares are from 0 to 1."""
    low = both.value if both.low is None else both.low
    high = both.value if both.high is None else both.high
    first, second = (None if share is None else round(100 * share, 2) for share in (shown_first, shown_second))
    return PairMark(first, second, round(100 * both.value, 2), round(100 * low, 2), round(100 * (high - low), 2))
