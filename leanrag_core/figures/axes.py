"""Axes of drawings: round values on them, and where a value lies."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from leanrag_core.figures.drawing import Number

_STEPS = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Axis:
    """Values from low to high along pixels from start to end. ticks: round values between the ends."""

    low: float
    high: float
    start: Number
    end: Number
    ticks: tuple[float, ...] = ()

    def at(self, value: float) -> float:
        """The pixel of a value; one beyond an end lies at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether the value lies between the ends."""
        return self.low <= value <= self.high


def round_axis(values: Iterable[float], start: Number, end: Number, *, most_ticks: int = 6) -> Axis:
    """The shortest axis with round ends that holds all values. Values of one height get a step around them."""
    kept = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(kept), max(kept)
    if high - low < 1e-9:
        pad = abs(low) * 0.1 or 0.1
        low, high = low - pad, high + pad
    step = _step((high - low) / max(1, most_ticks - 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(place * step, 10) for place in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def _step(least: float) -> float:
    """The smallest round number that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))
