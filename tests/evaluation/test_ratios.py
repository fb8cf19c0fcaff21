"""Recall per 1,000 tokens over several questions: the ratio of the means, wherever it is shown."""

import pytest

from leanrag_core.evaluation.base import Ratio
from leanrag_core.evaluation.statistics import mean_interval
from leanrag_core.evaluation.sweeps.findings import findings
from leanrag_core.evaluation.tables import ratio_scores, score_table, scores_for_mean
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, QuestionRow, RunSpec
from leanrag_core.types.sweep import Axis, PointResult, SweepPoint, SweepResult, SweepSpec
from pages.evaluate import measure_words

NAME, RECALL, TOKENS = "recall-per-1000", "evidence-recall", "context-tokens"
# The third question finds its gold in 10 tokens: 100 per 1,000, beside .25 and .5.
SCORES = {RECALL: (0.5, 1.0, 1.0), TOKENS: (2000.0, 2000.0, 10.0), NAME: (0.25, 0.5, 100.0)}
OF_MEANS = 2500 / 4010


def test_one_question_with_a_short_context_does_not_decide_the_figure() -> None:
    scores = scores_for_mean(NAME, SCORES.__getitem__)
    interval = mean_interval(scores)
    assert interval is not None
    assert interval.value == pytest.approx(OF_MEANS)
    assert scores_for_mean(RECALL, SCORES.__getitem__) == SCORES[RECALL]


def test_the_interval_is_that_of_a_bootstrap_of_the_ratio_over_questions() -> None:
    import numpy as np

    rng = np.random.default_rng(7)
    tokens = rng.integers(800, 1600, 200).astype(float)
    recall = rng.integers(0, 2, 200).astype(float)
    drawn = rng.integers(0, 200, (4000, 200))
    ratios = 1000 * recall[drawn].mean(axis=1) / tokens[drawn].mean(axis=1)
    interval = mean_interval(ratio_scores(Ratio(RECALL, TOKENS, 1000), recall.tolist(), tokens.tolist()))
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(np.percentile(ratios, [2.5, 97.5]).tolist(), rel=0.02)


def test_questions_without_a_score_are_left_out_and_no_tokens_at_all_have_no_ratio() -> None:
    ratio = Ratio(RECALL, TOKENS, 1000)
    assert ratio_scores(ratio, (0.5, None, 1.0), (500.0, 100.0, None)) == (1.0, None, None)
    assert ratio_scores(ratio, (0.0, 0.0), (0.0, 0.0)) == (None, None)
    assert scores_for_mean(NAME, lambda name: ()) == ()


def test_tables_and_sweeps_show_the_ratio_of_the_means() -> None:
    questions = ("a", "b", "c")
    rows = tuple(
        QuestionRow("run", question, "", {name: SCORES[name][place] for name in SCORES})
        for place, question in enumerate(questions)
    )
    spec = ExperimentSpec("Test", "set", (RunSpec("run", "index", "vector"),))
    cell = score_table(ExperimentResult("x", spec, rows), measures=(NAME,)).rows[0].cells[NAME]
    assert cell.interval is not None
    assert cell.interval.value == pytest.approx(OF_MEANS)
    point = PointResult(SweepPoint("p", {"tau": 1}), scores=SCORES)
    sweep = SweepResult("s", SweepSpec("Test", (Axis("tau", (1,)),), "set"), (point,), questions, ("",) * 3)
    [standing] = findings(sweep, NAME).points
    assert standing.value is not None
    assert standing.value.value == pytest.approx(OF_MEANS)
    assert measure_words.mean_of(point, NAME) == pytest.approx(OF_MEANS)
