"""Turns of pieces of work in one process, where more of them at one time would make each of them slower.

Python runs one thread at a time. Fifty pages that are drawn at once are all ready at the end; one after the other they
are ready on average in half of that time, and a moved slider need not wait for pages that were opened before it.
"""

import heapq
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """Lets a few pieces of work go on at one time, in the order of their arrival; quick ones overtake those that came
    up to head_start_seconds before them. Any number of threads may ask.

    Who has been at work for hold_seconds counts no more, and goes on: it may wait for a model, which takes no processor
    time of this process. clock: seconds that never go back.
    """

    def __init__(
        self,
        at_once: int,
        *,
        head_start_seconds: float,
        hold_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._at_once, self._head_start, self._hold = at_once, head_start_seconds, hold_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, int, threading.Event]] = []  # a heap: the next one first
        self._since: dict[int, float] = {}  # when those that are at work began, by their number
        self._n_asked = 0

    @contextmanager
    def taken(self, *, quick: bool) -> Iterator[None]:
        """Wait for the turn, and hold it inside the block."""
        mine = threading.Event()
        with self._lock:
            self._n_asked += 1
            number = self._n_asked
            heapq.heappush(self._waiting, (self._clock() - self._head_start * quick, number, mine))
            self._admit()
        while not mine.wait(self._hold):  # those that are at work count no more after that time
            with self._lock:
                self._admit()
        try:
            yield
        finally:
            with self._lock:
                self._since.pop(number, None)
                self._admit()

    @property
    def is_idle(self) -> bool:
        """Whether nothing that counts is at work, and nothing waits."""
        with self._lock:
            return not self._waiting and not self._n_at_work(self._clock())

    def _n_at_work(self, now: float) -> int:
        return sum(now - since < self._hold for since in self._since.values())

    def _admit(self) -> None:
        now = self._clock()
        while self._waiting and self._n_at_work(now) < self._at_once:
            _, number, event = heapq.heappop(self._waiting)
            self._since[number] = now
            event.set()
