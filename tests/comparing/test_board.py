"""Settings over a question set: what is scored, how a setting stands beside a pinned one, what can be moved."""

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest

from leanrag_core.comparing.board import (
    ALL,
    FOUND,
    MEASURES,
    PASSAGES,
    PER_THOUSAND,
    Changes,
    KindMeans,
    QuestionScorer,
    Scored,
    SetScores,
    Standing,
    by_kind,
    finding,
    standing,
)
from leanrag_core.comparing.board_controls import (
    CHOICE,
    SLIDER,
    SWITCH,
    Control,
    index_controls,
    index_settings,
    neighbours,
    settings_link,
    settings_name,
    settings_of_link,
    split_settings,
    strategy_controls,
    values_of_links,
)
from leanrag_core.comparing.gold_passages import GoldFinder
from leanrag_core.comparing.over_questions import over_questions
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import RERANK, Query, strategies, strategy
from leanrag_core.retrieval.strategies import leanrag, vector
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.tools import TOOLS

QUEEN = np.array([1, 0, 0, 0], dtype=np.float32)
NAME = message("plain", text="N 5")


def scores(*questions: tuple[int, int, int]) -> SetScores:
    """Return scores made of the gold found, all gold, and the tokens of each question."""
    return SetScores(tuple(Scored(found, gold, tokens, 2) for found, gold, tokens in questions))


def sentences_of_board(now: SetScores, pinned: SetScores, measure: str = FOUND) -> str:
    parts = finding(NAME, standing(now, pinned, measure))
    return " ".join(sentence(each) for each in (parts.before, parts.claim, parts.after))


def questions(index: Index) -> tuple[GoldQuestion, ...]:
    finder = GoldFinder(index)
    gold = [Evidence(finder.chunk(row).document, index.chunk(row).text) for row in range(4)]
    return (
        GoldQuestion("1", "the queen", evidence=(gold[0], gold[1])),
        GoldQuestion("2", "all of it", evidence=tuple(gold)),
        GoldQuestion("3", "nothing"),
    )


def retrieve(index: Index, **options: Any) -> Any:
    def one(question: str) -> Trace:
        return strategy("leanrag", options).retrieve(Query(question, QUEEN), index, TOOLS)

    return one


@pytest.mark.parametrize("options", [{}, {"top_c": 2}, {"max_tokens": 40}, {"context": "compact", "top_n": 2}])
def test_gold_is_found_as_the_measure_of_the_experiments_finds_it(index: Index, options: dict[str, Any]) -> None:
    asked, one = questions(index), retrieve(index, **options)
    scored = QuestionScorer(asked).score(one)
    expected = [Outcome(question, one(question.question)).ranking for question in asked]
    assert scored.scores(FOUND) == tuple(each.recall if each else None for each in expected)
    assert scored.tokens == tuple(float(one(question.question).context.tokens) for question in asked)


@pytest.mark.parametrize("system", ["leanrag", "leanrag_walk"])
@pytest.mark.parametrize("options", [{}, {"top_n": 3, "top_c": 2}, {"max_tokens": 60}, {"findings": True}])
def test_the_board_counts_what_a_question_by_itself_has(index: Index, system: str, options: dict[str, Any]) -> None:
    def counted(tools: Tools) -> SetScores:
        chosen = strategy(system, options)
        return QuestionScorer(questions(index)).score(
            lambda question: chosen.retrieve(Query(question, QUEEN), index, tools)
        )

    alone = replace(TOOLS, context_alone=True)
    assert counted(alone) == counted(TOOLS)
    assert not strategy(system, options).retrieve(Query("the queen", QUEEN), index, alone).steps


def test_work_that_is_no_longer_wanted_ends_before_the_next_question(index: Index) -> None:
    seen: list[int] = []

    def enough() -> None:
        seen.append(len(seen))
        if len(seen) == 2:
            raise StopIteration

    with pytest.raises(StopIteration):
        QuestionScorer(questions(index)).score(retrieve(index), enough)
    assert seen == [0, 1]


def test_measures_are_means_of_questions_with_gold_and_the_ratio_is_that_of_the_means() -> None:
    scored = scores((1, 2, 500), (2, 2, 1500), (0, 0, 9000))
    values = {measure: scored.interval(measure) for measure in MEASURES}
    assert {measure: each.value for measure, each in values.items() if each} == {
        FOUND: 0.75,
        ALL: 0.5,
        PER_THOUSAND: 0.75,  # .75 of the gold at 1,000 tokens, not the mean of 1.0 and .67
        PASSAGES: 2.0,
    }
    assert scores((0, 0, 9)).interval(FOUND) is None


def test_questions_are_won_and_lost_by_gold_the_largest_change_first() -> None:
    pinned = scores((1, 4, 100), (0, 2, 100), (2, 2, 100), (1, 1, 100), (0, 0, 100))
    now = scores((2, 4, 150), (2, 2, 150), (1, 2, 150), (1, 1, 150), (0, 0, 150))
    stands = standing(now, pinned, FOUND)
    assert (stands.changes, stands.n_gold, stands.tokens) == (Changes((1, 0), (2,)), 4, 1.5)
    assert standing(now, pinned, PASSAGES).changes == stands.changes
    with pytest.raises(ValueError, match="zip"):
        standing(now, scores((1, 1, 1)), FOUND)


def test_more_gold_is_said_only_where_the_paired_rank_test_tells_the_settings_apart() -> None:
    pinned = scores(*[(0, 2, 1000)] * 10, *[(1, 1, 1000)] * 10)
    won = scores(*[(1, 2, 1150)] * 10, *[(1, 1, 1150)] * 10)
    text = sentences_of_board(won, pinned)
    assert text.strip().startswith("N 5 finds 25 points more gold than the pinned setting (95 % interval")
    assert "on 15 % more tokens; 10 questions won, 0 lost." in text
    assert sentences_of_board(pinned, won).strip().startswith("N 5 finds 25 points less gold than the pinned setting")
    assert "on 13 % fewer tokens" in sentences_of_board(pinned, won)
    few = scores(*[(1, 2, 1000)] * 4, *[(0, 2, 1000)] * 6, *[(1, 1, 1000)] * 10)
    assert "cannot be told apart from the pinned setting on 20 questions" in sentences_of_board(few, pinned)
    assert "as many tokens" in sentences_of_board(few, pinned)
    more = scores(*[(each.found, each.n_gold, 1150) for each in pinned.questions])
    assert sentences_of_board(more, pinned).strip() == (
        "N 5 scores the same as the pinned setting on each of 20 questions, with 15 % more tokens."
    )


@pytest.mark.parametrize(
    ("measure", "interval", "told", "not_told"),
    [
        (FOUND, (0.25, 0.13, 0.38), "finds 25 points more gold than *13 to 38)", "(25, 95 % interval 13 to 38)"),
        (FOUND, (-0.25, -0.38, -0.13), "finds 25 points less gold than *13 to 38)", "(−25, 95 % interval −38 to −13)"),
        (ALL, (0.25, 0.13, 0.38), "for 25 points more questions than *13 to 38)", "(25, 95 % interval 13 to 38)"),
        (PER_THOUSAND, (0.25, 0.13, 0.38), "finds 0.25 more gold per *0.13 to 0.38)", "(0.25, * 0.13 to 0.38)"),
        (PASSAGES, (-2, -3, -1), "takes 2.0 passages fewer than *1.0 to 3.0)", "(−2.0, * −3.0 to −1.0)"),
        (FOUND, (0.25, None, None), "finds 25 points more gold than *– to –)", "(25, 95 % interval – to –)"),
    ],
)
def test_a_difference_is_written_with_its_interval_in_its_direction(
    measure: str, interval: tuple[float, float | None, float | None], told: str, not_told: str
) -> None:
    stands = Standing(measure, Interval(*interval, 20), True, False, 1.0, Changes((1,), ()), 20)
    for differs, expected in ((True, f"N 5 {told} on *"), (False, f"N 5 cannot be told apart * {not_told}, on *")):
        parts = finding(NAME, replace(stands, differs=differs))
        text = " ".join(sentence(each) for each in (parts.before, parts.claim, parts.after)).strip()
        assert fnmatchcase(text, expected.replace("N 5 for", "N 5 * for")), text


def test_few_questions_are_said_to_tell_little_and_none_with_gold_nothing() -> None:
    assert "With gold on 2 questions only, too few to tell." in sentences_of_board(
        scores((1, 1, 5), (0, 1, 5)), scores(*[(0, 1, 5)] * 2)
    )
    stands = standing(scores((1, 1, 5), (0, 1, 5)), scores((0, 1, 0), (0, 1, 0)), FOUND)
    assert stands.tokens == 1, "of contexts without tokens no ratio is known"
    is_said = ["too few" in sentence(finding(NAME, replace(stands, n_gold=n)).after) for n in (0, 9, 10)]
    assert is_said == [False, True, False]
    assert "No question of this set can be measured so." in sentences_of_board(scores((0, 0, 5)), scores((0, 0, 5)))


def test_kinds_of_questions_have_means_of_their_own() -> None:
    asked = [GoldQuestion(str(n), "?", kind=kind) for n, kind in enumerate(("fact", "hop", "fact", "none"))]
    now, pinned = scores((1, 1, 5), (1, 2, 5), (0, 1, 5), (0, 0, 5)), scores((1, 1, 5), (0, 2, 5), (1, 1, 5), (0, 0, 5))
    assert by_kind(asked, now, pinned, FOUND) == (KindMeans("fact", 2, 1.0, 0.5), KindMeans("hop", 1, 0.0, 0.5))
    now = scores((1, 1, 500), (2, 2, 4000), (2, 2, 1500), (0, 0, 9000))
    fact, hop = by_kind(asked, now, now, PER_THOUSAND)
    assert (fact.now, hop.now) == (1.0, 0.25), "of a kind, too, the ratio is that of its means"


def test_every_option_with_bounds_or_choices_of_every_system_has_a_control() -> None:
    for info in strategies().strategies:
        controls = {control.name: control for control in strategy_controls(info.config, ())}
        for name, spec in info.config.__dataclass_fields__.items():
            if name == RERANK:  # asks a server for each question: no slider of a board
                assert name not in controls
                continue
            if isinstance(spec.default, bool) or spec.metadata.get("choices") or spec.metadata.get("high") is not None:
                assert controls[name].place(spec.default) is not None, (info.name, name)
                for stop in controls[name].stops:
                    info.config(**{name: stop})
            else:
                assert name not in controls


def test_sliders_have_each_number_or_round_ones_and_the_values_in_use() -> None:
    controls = {each.name: each for each in strategy_controls(leanrag.Config, [{"top_n": 42, "max_tokens": 3333}])}
    assert controls["top_n"].stops == tuple(range(1, 43))
    assert {3333, 2000, 8000, 37_000, 128_000} < set(controls["max_tokens"].stops)
    assert 0 not in controls["max_tokens"].stops
    assert 0 in controls["inter_cluster_share"].stops
    assert (controls["findings"].kind, controls["context"].kind, controls["top_n"].kind) == (SWITCH, CHOICE, SLIDER)
    assert controls["top_c"].place(5.0) == controls["top_c"].place(5) == 5
    assert controls["findings"].place(1) is None


def test_an_index_offers_what_changes_its_hierarchy_alone() -> None:
    config = IndexConfig(cluster_size=7)
    controls = index_controls(config, ({"index.cluster_size": 9},), heuristic=True)
    assert [each.key for each in controls] == ["index.cluster_size", "index.tau", "index.size_cap"]
    assert {7, 9} < set(controls[0].stops)
    settings = index_settings(config, heuristic=True)
    assert settings == {"index.cluster_size": 7, "index.tau": "3,q0.75", "index.size_cap": True}
    assert controls[1].stops[3:5] == ("3", "3,q0.75")
    assert split_settings({"top_n": 3, **settings}) == (
        {"top_n": 3},
        {"cluster_size": 7, "tau": "3,q0.75", "size_cap": True},
    )


def test_a_setting_is_named_by_what_differs() -> None:
    controls = (*strategy_controls(leanrag.Config, ()), *index_controls(IndexConfig(), (), heuristic=False))
    base = {each.key: each.stops[0] for each in controls} | {"top_n": 10, "top_c": 5, "inter_cluster": True}

    def name(**changes: Any) -> str:
        return sentence(settings_name(controls, {**base, **changes}, base))

    assert name() == "N 10, C 5"
    assert name(top_n=5) == "N 5"
    assert name(top_n=5, **{"index.cluster_size": 8}) == "N 5, clustersize 8"
    assert name(inter_cluster=False) == "Inter-cluster relations off"
    assert name(max_tokens=8000) == "budget 8,000"
    assert name(top_n=5, top_c=8, findings=True, root=True) == "N 5, C 8, 2 more"


def test_what_is_likely_next_goes_on_the_way_of_the_slider_that_was_moved() -> None:
    controls = (
        Control("top_n", SLIDER, (1, 2, 3, 4)),
        Control("findings", SWITCH, (False, True)),
        Control("cluster_size", SLIDER, (2, 3), of_index=True),
        Control("ties", CHOICE, ("a", "b"), first=False),
    )
    now = {"top_n": 2, "findings": False, "index.cluster_size": 2, "ties": "a"}
    ahead = list(neighbours(controls, now, "top_n", 1))
    assert [each["top_n"] for each in ahead] == [3, 4, 1, 2]
    assert ahead[-1] == now | {"findings": True}
    assert next(neighbours(controls, now | {"top_n": 4}, "top_n", 1))["top_n"] == 3


def test_settings_come_back_from_the_part_of_a_link_that_says_what_differs() -> None:
    controls = (*strategy_controls(leanrag.Config, ()), *index_controls(IndexConfig(), (), heuristic=False))
    ground = {each.key: each.stops[0] for each in controls}
    moved = {**ground, "top_n": 12, "findings": True, "index.tau": "3"}
    link = settings_link(moved, ground)
    assert link == "top_n=12;findings=1;index.tau=3"
    assert settings_of_link(link, controls, ground) == moved
    assert settings_link(ground, ground) == "-"
    assert settings_of_link("-", controls, ground) == ground
    by_hand = "top_n=1000000;findings=yes;unknown=3;top_n"
    assert settings_of_link(by_hand, controls, ground) == ground, "what no control can stand at is passed over"


def test_values_of_links_within_the_bounds_of_their_options_get_stops() -> None:
    links = ["top_n=42;findings=1;max_tokens=3333", "top_n=-1;top_c=many;top_n=100000"]
    assert values_of_links(links, leanrag.Config) == [{"top_n": 42}, {"max_tokens": 3333}]
    assert values_of_links(["least_cosine=0.25;top_c=0.5"], vector.Config) == [{"least_cosine": 0.25}]
    of_index = "index.cluster_size=16;index.cluster_size=1;index.tau=q0.5;index.tau=much;index.chunk_tokens=many"
    assert values_of_links([of_index], leanrag.Config) == [{"index.cluster_size": 16}, {"index.tau": "q0.5"}]


def test_a_link_brings_back_settings_of_another_index_than_the_one_that_is_asked() -> None:
    pinned = "index.cluster_size=16;index.tau=q0.5"
    controls = index_controls(IndexConfig(cluster_size=8), values_of_links([pinned], leanrag.Config), heuristic=False)
    ground = index_settings(IndexConfig(cluster_size=8), heuristic=False)
    settings = settings_of_link(pinned, controls, ground)
    assert (settings["index.cluster_size"], settings["index.tau"]) == (16, "q0.5")


def test_the_board_and_the_question_set_have_the_same_figures(index: Index) -> None:
    asked, one = questions(index), retrieve(index, top_c=2)
    means = {mean.measure: mean.value for mean in over_questions(index, asked, one).means}
    scored = QuestionScorer(asked).score(one)
    for measure, name in ((FOUND, "evidence-recall"), (PER_THOUSAND, "recall-per-1000")):
        interval = scored.interval(measure)
        assert interval is not None
        assert means[name] == pytest.approx(interval.value, abs=1e-9)


def test_passages_are_those_that_the_context_holds(index: Index) -> None:
    one = retrieve(index, max_tokens=60)
    of_each = [one(question.question) for question in questions(index)]
    held = [sum(item.mark.startswith("C") for section in t.context.sections for item in section.items) for t in of_each]
    assert [len(trace.passages) for trace in of_each] != held, "some are cut off"
    assert QuestionScorer(questions(index)).score(one).scores(PASSAGES) == tuple(map(float, held))
