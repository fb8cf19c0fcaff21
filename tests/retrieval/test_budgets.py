"""Budgets of sections under one budget for all."""

import pytest

from leanrag_core.retrieval.base import MAX_TOKENS, TOP_C, equal_budget, strategies
from leanrag_core.retrieval.budgets import choose, scaled, text_line


def test_budgets_that_fit_stay() -> None:
    assert scaled({"a": 10, "b": 20}, 30) == {"a": 10, "b": 20}


def test_budgets_shrink_in_proportion_and_add_up() -> None:
    assert scaled({"a": 10, "b": 20, "c": 30}, 31) == {"a": 6, "b": 10, "c": 15}
    assert sum(scaled({"a": 1, "b": 1, "c": 1}, 2).values()) == 2


def test_an_equal_budget_takes_only_options_that_the_strategy_has() -> None:
    for info in strategies().strategies:
        options = equal_budget(info, 4000)
        fields = info.config.__dataclass_fields__
        assert set(options) <= set(fields)
        for name, value in options.items():
            bound = fields[name].metadata["high"] if name == TOP_C else fields[name].metadata["equal"]
            assert value == (4000 if name == MAX_TOKENS else bound)


@pytest.mark.parametrize("name", ["fastgraphrag", "kag", "lightrag"])
def test_sections_of_graph_strategies_add_up_to_the_whole_so_that_all_shrink_alike(name: str) -> None:
    info = strategies().named(name)
    for preset in info.presets:
        config = info.config(**preset.options)
        assert config.entity_tokens + config.relation_tokens + config.chunk_tokens == config.max_tokens


def test_a_long_text_takes_half_of_a_budget_that_others_need_too() -> None:
    sentence = "Every hive of the valley is looked after by somebody who knows its queen. "
    long, short = text_line("chunk", "a", "One:", sentence * 11), text_line("chunk", "b", "Two:", sentence * 4)
    budget = long.tokens("C1") + 8  # the long one fits alone, and would leave no room
    taken = choose([long, short], ["C1", "C2"], budget)
    assert taken[1] is short
    assert taken[0].trimmed
    assert sum(part.tokens("C1") for part in taken.values()) <= budget
