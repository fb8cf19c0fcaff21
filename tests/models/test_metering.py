import pytest

from leanrag_core.errors import BudgetSpent, InvalidConfig
from leanrag_core.models.pacing import Meter
from leanrag_core.types.calls import Budget, Usage


def test_a_budget_of_calls_stops_the_next_one() -> None:
    meter = Meter(Budget(calls=2))
    for _ in range(2):
        meter.require_budget()
        meter.add("answers", Usage(calls=1, prompt_tokens=10))
    with pytest.raises(BudgetSpent, match="the budget of 2 calls is spent: 2 calls, 20 tokens"):
        meter.require_budget()


def test_budgets_of_tokens_and_dollars_stop_the_call_after_the_one_that_spent_the_last() -> None:
    for budget in (Budget(tokens=30), Budget(dollars=1.5)):
        meter = Meter(budget)
        meter.add("answers", Usage(calls=1, prompt_tokens=20, completion_tokens=9, cost=1.0))
        meter.require_budget()
        meter.add("answers", Usage(calls=1, prompt_tokens=1, cost=0.5))
        with pytest.raises(BudgetSpent):
            meter.require_budget()


def test_no_budget_stops_nothing_and_one_below_zero_is_refused() -> None:
    meter = Meter()
    meter.add("answers", Usage(calls=10**9, cost=10.0**9))
    meter.require_budget()
    with pytest.raises(InvalidConfig, match="-1 calls"):
        Budget(calls=-1)
