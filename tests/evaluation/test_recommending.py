"""Which system fits a wish, worked out by hand on a few questions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.recommending import (
    CALLS,
    MAY,
    MEETS,
    MISSES,
    NOTHING,
    TOO_FEW,
    IndexFacts,
    Recommendation,
    StoredExperiment,
    Wish,
    alike_words,
    headline,
    missing_words,
    recommend,
)
from leanrag_core.evaluation.statistics import Within, chance_within, mean_interval, share_interval
from leanrag_core.evaluation.tables import CORPUS_TOKENS, RECALL, TOKENS
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, QuestionRow, RunCost, RunSpec

FACTS = {"index-1": IndexFacts("Bees", {"model": "builtin", "cluster_size": 8}, True)}


def stored(
    recalls: Mapping[str, Sequence[float | None]], tokens: Mapping[str, float], *, id_: str = "e1", **options: int
) -> StoredExperiment:
    """Return a stored experiment. recalls: of each run, question by question, facts and multi-hop by turns. A call a
    question."""
    runs = tuple(RunSpec(name, "index-1", name.lower(), dict(options)) for name in recalls)
    rows, costs = [], []
    for name, values in recalls.items():
        for place, value in enumerate(values):
            scores = {RECALL: value, TOKENS: tokens[name]}
            rows.append(QuestionRow(name, f"q{place}", ("fact", "multi-hop")[place % 2], scores))
            costs.append(RunCost(name, f"q{place}", 10.0 + place, calls=1))
    spec = ExperimentSpec(id_.upper(), "bees", runs)
    result = ExperimentResult(id_, spec, tuple(rows), tuple(costs), is_complete=True)
    return StoredExperiment(result, "2026-11-02T10:00:00+00:00", FACTS)


def names(made: Recommendation) -> list[str]:
    return [each.run.name for each in made.candidates]


GOOD, FAIR, POOR = [1.0, 0.8] * 10, [1.0, 0.8, 1.0, 0.7] * 5, [0.5, 0.1] * 10
TOKENS_OF = {"Good": 3000.0, "Fair": 1000.0, "Poor": 500.0}


def test_the_best_recall_that_surely_meets_the_wish_is_first_and_those_like_it_are_named() -> None:
    made = recommend(Wish(0.8), [stored({"Poor": POOR, "Fair": FAIR, "Good": GOOD}, TOKENS_OF)])
    assert (made.state, names(made)) == (MEETS, ["Good", "Fair", "Poor"])
    assert made.best is not None
    assert (made.best.figures[RECALL].value, made.best.figures[CALLS].value) == (pytest.approx(0.9), 1.0)
    assert made.best.milliseconds == 19.5, "the median of 10 ... 29"
    assert made.best.source.engine == "builtin"
    assert [each.run.name for each in made.alike] == ["Fair"], "five differences of a tenth are no proof"
    said = alike_words(made)
    assert said is not None
    assert "Fair takes the fewest tokens, 1,000" in sentence(said)
    assert made.telling == "q1", "Good .8, Poor .1: the first question with the widest span"


def test_a_system_that_is_told_apart_is_not_called_as_good() -> None:
    made = recommend(Wish(0.2), [stored({"Good": GOOD, "Poor": POOR}, TOKENS_OF)])
    assert (made.state, names(made), made.alike) == (MEETS, ["Good", "Poor"], ())


def test_a_limit_on_tokens_moves_the_choice_to_what_keeps_it() -> None:
    made = recommend(Wish(0.8, tokens=2000), [stored({"Good": GOOD, "Fair": FAIR}, TOKENS_OF)])
    assert names(made) == ["Fair", "Good"]
    assert [(each.measure, each.by) for each in made.candidates[1].shortfalls] == [(TOKENS, 1000.0)]
    assert made.candidates[1].chance == 0.0
    assert made.alike == (), "Good finds no less, and takes too many tokens"


def test_a_mean_that_is_above_by_chance_only_may_meet_it() -> None:
    made = recommend(Wish(0.88), [stored({"Good": GOOD}, TOKENS_OF)])
    assert made.state == MAY
    assert made.best is not None
    assert made.best.chance is not None
    assert 0.5 < made.best.chance < 0.95


def test_where_nothing_meets_it_the_nearest_one_says_what_is_missing() -> None:
    made = recommend(Wish(1.0, calls=0, milliseconds=5), [stored({"Good": GOOD, "Poor": POOR}, TOKENS_OF)])
    assert (made.state, names(made)) == (MISSES, ["Good", "Poor"])
    assert "nearest is Good" in sentence(headline(made))
    assert made.best is not None
    said = [sentence(each) for each in missing_words(made.best)]
    assert said == [
        "Wanted are 100 % of the gold evidence.",
        "It makes 1.0 calls for a question; 0.0 are allowed.",
        "Its retrieval takes 20 ms; 5 ms are allowed.",
    ]


def test_nothing_is_told_of_few_questions_of_none_and_of_no_experiment() -> None:
    few = recommend(Wish(0.5, kind="fact"), [stored({"Good": GOOD[:18]}, TOKENS_OF)])
    assert (few.state, few.questions) == (TOO_FEW, 9)
    assert few.best is not None
    assert few.best.chance is None
    assert "9 with gold evidence" in sentence(headline(few))
    without = recommend(Wish(0.5), [stored({"Good": [None] * 20}, TOKENS_OF)])
    assert (without.state, without.candidates, [sentence(each) for each in without.left_out]) == (NOTHING, (), ["Good"])
    assert recommend(Wish(0.5), []).state == NOTHING


def test_the_same_settings_in_two_experiments_count_once_and_others_are_told_apart_by_name() -> None:
    first, again = (stored({"Good": GOOD}, TOKENS_OF, id_=id_, max_tokens=4000) for id_ in ("new", "old"))
    small = stored({"Good": FAIR}, TOKENS_OF, id_="small", max_tokens=900)
    made = recommend(Wish(0.5), [first, again, small])
    assert [each.source.experiment for each in made.candidates] == ["new", "small"]
    assert [sentence(made.name(each)) for each in made.candidates] == [
        "Good, at most 4,000 tokens",
        "Good, at most 900 tokens",
    ]


def test_the_time_of_a_failed_question_does_not_count() -> None:
    experiment = stored({"Good": GOOD}, TOKENS_OF)
    rows = tuple(
        replace(row, scores={}, error="no answer") if place < 10 else row
        for place, row in enumerate(experiment.result.rows)
    )
    best = recommend(Wish(0.5), [replace(experiment, result=replace(experiment.result, rows=rows))]).best
    assert best is not None
    assert (best.source.failed, best.source.questions) == (10, 10)
    assert best.milliseconds == 24.5, "the median of 20 ... 29"


def test_a_run_that_was_stopped_early_displaces_none_that_was_not() -> None:
    whole = stored({"Good": GOOD, "Poor": POOR}, TOKENS_OF, id_="whole")
    stopped = stored({"Good": [0.0, *[None] * 19], "Poor": [None] * 20}, TOKENS_OF, id_="stopped")
    made = recommend(Wish(0.5), [stopped, whole])
    assert [each.source.experiment for each in made.candidates] == ["whole", "whole"]
    assert made.candidates[0].figures[RECALL].value == pytest.approx(0.9)
    assert made.left_out == ()


@pytest.mark.parametrize("values", [{"recall": 1.1}, {"recall": -0.1}, {"recall": 0.5, "tokens": -1}])
def test_a_wish_that_nothing_can_meet_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(InvalidConfig):
        Wish(**values)  # type: ignore[arg-type]


def test_a_chance_is_the_level_at_which_the_interval_touches_the_bound() -> None:
    interval = mean_interval(FAIR)
    assert interval is not None
    assert chance_within([Within(FAIR, low=interval.low)]) == pytest.approx(0.975, abs=0.005)
    assert chance_within([Within(FAIR, high=interval.high)]) == pytest.approx(0.975, abs=0.005)
    sure = share_interval([1.0] * 20)
    assert sure is not None
    assert chance_within([Within([1.0] * 20, low=sure.low, is_share=True)]) == pytest.approx(0.975, abs=0.001)


def test_chances_are_of_all_bounds_at_once_on_the_questions_that_have_all_scores() -> None:
    tokens = [100.0, 300.0] * 10  # more tokens where more is found: each bound alone is kept in half of the resamples
    recall = [0.2, 0.6] * 10
    both = chance_within([Within(recall, low=0.4), Within(tokens, high=200.0)])
    alone = chance_within([Within(recall, low=0.4)])
    assert alone == pytest.approx(0.59, abs=0.03), "a half, and the resamples that are exactly even"
    assert both is not None
    assert both < 0.25, "only the exactly even ones keep both"
    assert chance_within([Within([1.0, None, 0.0], low=0.5), Within([None, 2.0, 3.0], high=5)]) is None
    assert chance_within([Within([0.0] * 5, high=0.0)]) == 1.0


def test_a_system_that_reads_most_of_the_corpus_for_an_answer_is_named_with_that_caution() -> None:
    experiment = stored({"Poor": POOR, "Good": GOOD}, TOKENS_OF)
    sized = replace(experiment.result, versions={f"{CORPUS_TOKENS} index-1": "5000"})
    best, poor = recommend(Wish(0.8), [replace(experiment, result=sized)]).candidates
    assert best.caution is not None
    assert "Good reads 3,000 tokens for an answer, more than half of the corpus (5,000)" in sentence(best.caution)
    assert poor.caution is None
