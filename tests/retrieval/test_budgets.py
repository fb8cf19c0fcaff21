"""Budgets of sections under one budget for all."""

import pytest

from leanrag_core.retrieval.base import MAX_TOKENS, TOP_C, equal_budget, strategies
from leanrag_core.retrieval.budgets import scaled


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
