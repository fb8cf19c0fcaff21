"""How fast calls may go, what they cost while they are made, and what a budget allows."""

import random
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from leanrag_core.errors import BudgetSpent, CallFailed, EndpointBusy, EndpointError, EndpointRefusal
from leanrag_core.types.calls import NO_USAGE, Budget, Spending, Usage
from leanrag_core.types.settings import Settings

T = TypeVar("T")
_BURST_SECONDS = 2.0  # how much of a minute's allowance may be used at once
_DOWN_AFTER = 12  # calls in a row that failed after every retry: chance does not do that, the server is down
_GROWTH = 1.2  # times the work a second that twice the calls in flight must bring
_REFUSED_SECONDS = 1.0  # for which a refusal of every call holds for those that come after it
_FIRST_WAIT = 0.25  # seconds; doubled each time
_LONGEST_WAIT = 60.0
_LONGEST_FOR_A_READER = 10.0  # seconds of wait that a server may ask for while a person waits for the answer
_UNPROVEN_IN_FLIGHT = 2  # calls at one time until the server has answered one: a refusal of all costs few requests
_SLOW_DOWN_SECONDS = 900.0  # waits that the server asks for count as no retry for so long


class _Ramp:
    """Finds how many calls a server answers in parallel: level, doubled while the work a second grows by a fifth."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self.level = 1
        self._most, self._clock = most, clock
        self._settled = False
        self._before = (0, 0.0)  # the level before, and its tokens a second
        self._began, self._n, self._tokens = clock(), 0, 0

    def begin(self) -> None:
        """Start the clock with the first call of a level: what came before was no work."""
        if not self._n:
            self._began = self._clock()

    def answered(self, tokens: int) -> bool:
        """Count a call of so many tokens; return whether more may be in flight than before."""
        if self._settled:
            return False
        self._n += 1
        self._tokens += max(1, tokens)
        if self._n < 2 * self.level:
            return False
        rate = self._tokens / max(1e-6, self._clock() - self._began)
        level, best = self._before
        grew = rate > _GROWTH * best
        if grew:
            self._before = self.level, rate
            self._settled = self.level >= self._most
            self.level = min(self._most, 2 * self.level)
        else:
            self.level, self._settled = level, True
        self._began, self._n, self._tokens = self._clock(), 0, 0
        return grew


class Pacer:
    """Shared by all threads that call one endpoint.

    In flight: at most settings.concurrency, and the slots that the server tells; halved when the server asks to slow
    down, one more after each round of good replies; two until the first one. A server on this machine that does not
    tell its slots begins with one call; their number is doubled as long as that brings more. A refusal of every call
    (a key, a credit) ends those that wait with it. An overloaded server (429, 503) is left alone by all threads, for
    as long as it asks and each time longer until it answers again. A minute: requests and tokens by the generic cell
    rate algorithm, a burst of two
    seconds.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        n_slots: Callable[[], int | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings, self._n_slots = settings, n_slots
        self._ramp = _Ramp(settings.concurrency, clock) if settings.local and settings.concurrency > 1 else None
        self.limit = float(settings.concurrency)
        self._clock, self._sleep = clock, sleep
        self._free = threading.Condition()
        self._in_flight = 0
        self._paused_until = 0.0
        self._overloads_in_a_row = 0
        self._due = {"requests": 0.0, "tokens": 0.0}
        self._failed_in_a_row = 0
        self._is_proven = False
        self._refusal: tuple[float, EndpointError] | None = None  # of every call, and when it came
        self._random = random.Random(0)  # jitter only

    def call(
        self,
        work: Callable[[], T],
        *,
        tokens: int = 0,
        on_fault: Callable[[str], None] = lambda text: None,
        most_retries: int | None = None,
    ) -> T:
        """Call work, again while it raises EndpointBusy, and return what it gives. tokens: the expected size of the
        call. most_retries: where somebody waits for it, fewer than the settings allow.

        Raises CallFailed after the last try, and EndpointError when the server is down altogether.
        """
        retries = self.settings.retries if most_retries is None else min(most_retries, self.settings.retries)
        started, tries = self._clock(), 0
        while True:
            with self._slot(tokens):
                self._require_not_refused(started)
                try:
                    result = work()
                except EndpointBusy as error:
                    problem = error
                except EndpointRefusal:  # of this request alone
                    self._on_success()
                    raise
                except EndpointError as error:
                    self._refusal = (self._clock(), error)
                    raise
                else:
                    self._on_success(tokens)
                    return result
            on_fault(str(problem))
            asked_to_wait = problem.retry_after is not None and self._clock() - started < _SLOW_DOWN_SECONDS
            tries += 0 if asked_to_wait and most_retries is None else 1
            too_long = most_retries is not None and (problem.retry_after or 0.0) > _LONGEST_FOR_A_READER
            if tries > retries or too_long:
                self._give_up(problem, max(1, tries))
            self._slow_down(problem, tries)

    @contextmanager
    def _slot(self, tokens: int) -> Iterator[None]:
        """Hold a place among the calls in flight, once the limit per minute allows it."""
        wait = self._reserve(tokens)
        if wait > 0:
            self._sleep(wait)
        with self._free:
            while self._in_flight >= self._allowed_in_flight():
                self._free.wait()
            self._in_flight += 1
            if self._ramp is not None and self._in_flight == 1:
                self._ramp.begin()
        try:
            while (pause := self._paused_until - self._clock()) > 0:  # it may have grown meanwhile
                self._sleep(pause)
            yield
        finally:
            with self._free:
                self._in_flight -= 1
                self._free.notify()

    def _allowed_in_flight(self) -> int:
        limit, n_slots = max(1, int(self.limit)), self._n_slots()
        if n_slots is not None:
            limit = min(limit, n_slots)
        elif self._ramp is not None:
            limit = min(limit, self._ramp.level)
        return limit if self._is_proven else min(limit, _UNPROVEN_IN_FLIGHT)

    def _require_not_refused(self, started: float) -> None:
        """Raise the refusal of every call that came since this one began to wait, or just before."""
        if self._refusal is not None and self._refusal[0] >= started - _REFUSED_SECONDS:
            raise self._refusal[1]

    def _reserve(self, tokens: int) -> float:
        """Count the call in the allowances, and return the seconds to wait until it fits into them."""
        wait = 0.0
        with self._free:
            now = self._clock()
            allowances = (
                ("requests", self.settings.requests_per_minute, 1),
                ("tokens", self.settings.tokens_per_minute, tokens),
            )
            for name, a_minute, amount in allowances:
                if a_minute:
                    due = max(self._due[name], now)
                    wait = max(wait, due - _BURST_SECONDS - now)
                    self._due[name] = due + 60.0 * amount / a_minute
        return wait

    def _on_success(self, tokens: int = 0) -> None:
        with self._free:
            if self._ramp is not None and self._n_slots() is None and self._ramp.answered(tokens):
                self._free.notify_all()
            self._failed_in_a_row = self._overloads_in_a_row = 0
            if not self._is_proven:
                self._is_proven = True
                self._free.notify_all()
            if self.limit < self.settings.concurrency:
                self.limit = min(self.settings.concurrency, self.limit + 1 / max(1.0, self.limit))
                self._free.notify()

    def _slow_down(self, problem: EndpointBusy, tries: int) -> None:
        """Wait before the next try; when the server is overloaded every call waits."""
        if not problem.overloaded:
            with self._free:
                wait = self._backoff(tries)
            self._sleep(wait)
            return
        with self._free:
            now = self._clock()
            if now >= self._paused_until:  # calls that were in flight when the pause began mean the same overload
                self._overloads_in_a_row += 1
                self.limit = max(1.0, self.limit / 2)
            wait = max(problem.retry_after or 0.0, self._backoff(self._overloads_in_a_row))
            self._paused_until = max(self._paused_until, now + min(wait, _LONGEST_WAIT))

    def _backoff(self, times: int) -> float:
        """Return the seconds to wait after so many failures; seeded jitter keeps threads from coming back together."""
        return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(times - 1, 16) * self._random.uniform(0.7, 1.3))

    def _give_up(self, problem: EndpointBusy, tries: int) -> None:
        with self._free:
            self._failed_in_a_row += 1
            down = self._failed_in_a_row >= _DOWN_AFTER
        if down:
            raise EndpointError("endpoint.down", problem=problem.message, n=_DOWN_AFTER)
        raise CallFailed("call.failed", problem=problem.message, n=tries)


_ERRORS_KEPT = 8


class Meter:
    """Adds up calls of all threads. A budget that is spent stops the next call.

    within: the meter of the work that this one's calls are part of; it counts them too, and its budget holds.
    """

    def __init__(self, budget: Budget | None = None, within: "Meter | None" = None) -> None:
        self.budget, self._within = budget or Budget(), within
        self._lock = threading.Lock()
        self._by_stage: dict[str, Usage] = defaultdict(Usage)
        self._total = NO_USAGE
        self._reused = 0
        self._faults = 0
        self._cut = 0
        self._last: deque[str] = deque(maxlen=_ERRORS_KEPT)

    def add(self, stage: str, usage: Usage) -> None:
        """Count a call that was answered, usable or not."""
        with self._lock:
            self._by_stage[stage] = self._by_stage[stage] + usage
            self._total = self._total + usage
        if self._within is not None:
            self._within.add(stage, usage)

    def add_reused(self) -> None:
        """Count an answer that came from the call store."""
        with self._lock:
            self._reused += 1
        if self._within is not None:
            self._within.add_reused()

    def add_fault(self, text: str) -> None:
        """Count a try that failed."""
        with self._lock:
            self._faults += 1
            self._last.append(text)
        if self._within is not None:
            self._within.add_fault(text)

    def add_cut(self) -> None:
        """Count a prompt that was cut to fit the window of its model."""
        with self._lock:
            self._cut += 1
        if self._within is not None:
            self._within.add_cut()

    def require_budget(self) -> None:
        """Raise BudgetSpent when the budget does not allow another call."""
        with self._lock:
            spent = self._total
        tokens = spent.prompt_tokens + spent.completion_tokens
        budget, reading = self.budget, {"calls": spent.calls, "tokens": tokens, "cost": spent.cost}
        if budget.dollars and spent.cost >= budget.dollars:
            raise BudgetSpent("budget.dollars_spent", dollars=budget.dollars, **reading)
        if budget.tokens and tokens >= budget.tokens:
            raise BudgetSpent("budget.tokens_spent", limit=budget.tokens, **reading)
        if budget.calls and spent.calls >= budget.calls:
            raise BudgetSpent("budget.calls_spent", n=budget.calls, **reading)
        if self._within is not None:
            self._within.require_budget()

    def read(self) -> Spending:
        """Return the present reading."""
        with self._lock:
            return Spending(self._total, dict(self._by_stage), self._reused, self._faults, tuple(self._last), self._cut)
