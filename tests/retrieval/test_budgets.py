"""Budgets of sections under one budget for all."""

import pytest

from leanrag_core.retrieval.base import MAX_TOKENS, TOP_C, equal_budget, strategies
from leanrag_core.retrieval.budgets import Candidate, choose, choose_until_full, scaled, shortened, text_line

SENTENCE = "Every hive of the valley is looked after by somebody who knows its queen. "
MARKS = ("C1", "C2", "C3")


def line_of(tokens: int) -> Candidate:
    """Return a line of so many tokens."""
    return text_line(
        "chunk", "b", "Two:", "bee" + " bee" * (tokens - text_line("chunk", "b", "Two:", "bee").tokens("C2"))
    )


def tokens_of(taken: dict[int, Candidate]) -> int:
    return sum(line.tokens(MARKS[place]) for place, line in taken.items())


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
    long, short = text_line("chunk", "a", "One:", SENTENCE * 11), text_line("chunk", "b", "Two:", SENTENCE * 4)
    budget = long.tokens("C1") + 8  # the long one fits alone, and would leave no room
    taken = choose([long, short], ["C1", "C2"], budget)
    assert taken[1] is short
    assert taken[0].trimmed
    assert tokens_of(taken) <= budget


def test_a_text_of_just_half_the_budget_and_one_that_fits_where_others_cannot_be_trimmed_stay_whole() -> None:
    long = text_line("chunk", "a", "One:", SENTENCE * 9)
    half = line_of(100)
    assert choose([half, long], MARKS[:2], 200)[0] is half
    heading = text_line("chunk", "b", "bee " * long.tokens("C1") + ":", "")
    assert choose([long, heading], MARKS[:2], long.tokens("C1")) == {0: long}


def test_room_that_is_left_goes_to_the_first_texts_that_were_trimmed_or_skipped_and_is_spent_once() -> None:
    first, last = text_line("chunk", "a", "One:", SENTENCE * 14), text_line("chunk", "c", "Three:", SENTENCE * 30)
    budget = 2 * first.tokens("C1") - 40  # half of it does not hold the first one
    taken = choose([first, line_of(40), last], MARKS, budget)
    assert taken[0] is first
    assert taken[2].trimmed
    assert budget - 24 < tokens_of(taken) <= budget


def test_a_rest_of_the_budget_that_says_too_little_is_not_given_away() -> None:
    long = text_line("chunk", "a", "One:", SENTENCE * 11)
    budget = long.tokens("C1") + 20
    trimmed = shortened(long, "C1", budget // 2)
    assert trimmed is not None
    before = trimmed.tokens("C1")
    for rest, grows in ((23, False), (24, True)):
        taken = choose([long, line_of(budget - before - rest)], MARKS[:2], budget)
        assert (taken[0].tokens("C1") > before) is grows


def test_a_budget_for_texts_in_their_order_ends_within_the_one_that_no_longer_fits() -> None:
    lines = [line_of(40), line_of(50), text_line("chunk", "c", "Three:", SENTENCE * 9)]
    assert choose_until_full(lines, MARKS, 90) == {0: lines[0], 1: lines[1]}
    taken = choose_until_full(lines, MARKS, 160)
    assert [taken[0], taken[1]] == lines[:2]
    assert taken[2].trimmed
    assert 160 - 24 < tokens_of(taken) <= 160
