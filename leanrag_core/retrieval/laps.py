"""Milliseconds and model calls of each step of a retrieval."""

import time

from leanrag_core.models.metering import Meter
from leanrag_core.types.usage import NO_USAGE, Usage


class Laps:
    """What each step took: milliseconds between two laps, and what its model calls cost.

    meter: of the question's tools, for strategies that call a model.
    """

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter
        self._last = time.perf_counter()
        self._spent = self._reading()
        self.milliseconds: dict[str, float] = {}
        self.usage: dict[str, Usage] = {}

    def lap(self, name: str) -> None:
        """What was done since the last lap belongs to that step; a step of several laps adds up."""
        now, spent = time.perf_counter(), self._reading()
        self.milliseconds[name] = self.milliseconds.get(name, 0.0) + (now - self._last) * 1000
        self.usage[name] = self.usage.get(name, NO_USAGE) + (spent - self._spent)
        self._last, self._spent = now, spent

    def _reading(self) -> Usage:
        return self._meter.read().usage if self._meter is not None else NO_USAGE
