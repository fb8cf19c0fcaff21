"""What calls cost while they are made: counted for pages and logs, and held against a budget."""

import threading
from collections import defaultdict, deque

from leanrag_core.errors import BudgetSpent
from leanrag_core.types.calls import NO_USAGE, Budget, Spending, Usage

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
            return Spending(self._total, dict(self._by_stage), self._reused, self._faults, tuple(self._last))
