"""Times and rates in words of the reader's language; numbers alone are in leanrag_core.figures.numbers."""

import math

from leanrag_core.figures import numbers
from pages.common.messages import say


def time_left(seconds: float | None) -> str:
    """ "about 39 min left"; steps of 5 s below two minutes, so that it does not flicker; empty while unknown."""
    if seconds is None:
        return ""
    shown = f"{max(5, 5 * math.ceil(seconds / 5))} s" if seconds < 119.5 else numbers.duration(seconds)
    return say("units.time_left", time=shown)


def rate(done: int, seconds: float) -> str:
    """ "9.8 a second" or "19 a minute"; empty before there is anything to tell."""
    if done <= 0 or seconds < 0.5:
        return ""
    per_second = done / seconds
    if per_second >= 1:
        return say("units.a_second", n=f"{per_second:.1f}" if per_second < 10 else f"{per_second:,.0f}")
    if per_second * 60 >= 1:
        return say("units.a_minute", n=f"{per_second * 60:.0f}")
    return say("units.an_hour", n=f"{per_second * 3600:.0f}")


def span(low: str, high: str) -> str:
    """ "11 s to 3 min", or one of them where both say the same."""
    return low if low == high else say("units.span", low=low, high=high)
