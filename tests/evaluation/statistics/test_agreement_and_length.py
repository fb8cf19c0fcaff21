"""Agreement of judges and the effect of length: by hand, beside libraries, and simulated."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.discrete.discrete_model import Logit

from leanrag_core.evaluation.statistics import cohen, fleiss, length_adjusted


def test_cohens_kappa_by_hand() -> None:
    # 20 both yes, 5 only the first, 10 only the second, 15 both no: observed .7, by chance .5
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen(a, b) == pytest.approx((0.7 - 0.5) / 0.5)
    assert cohen([1, 2, 0], [1, 2, 0]) == 1.0
    assert cohen([], []) is None
    assert cohen([1, 1], [1, 1]) is None
    with pytest.raises(ValueError, match="zip"):
        cohen([1], [])


def test_fleiss_kappa_of_the_example_of_its_author() -> None:
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert fleiss(table) == pytest.approx(0.210, abs=0.0005)


def test_agreement_without_two_judges_or_two_verdicts_is_unknown() -> None:
    assert fleiss([]) is None
    assert fleiss([[1, 0], [0, 1]]) is None
    assert fleiss([[3, 0], [3, 0]]) is None
    with pytest.raises(ValueError, match="same number"):
        fleiss([[1, 1], [3, 0]])


def test_a_judge_that_prefers_length_is_even_at_equal_length() -> None:
    adjusted = length_adjusted([1.0, 0.0] * 20 + [1.0] * 20, [200, 100] * 20 + [200] * 20, [100, 200] * 20 + [100] * 20)
    assert adjusted is not None
    assert adjusted.raw == pytest.approx(2 / 3)
    assert adjusted.equal_length.low < 0.5 < adjusted.equal_length.high
    assert adjusted.odds_per_doubling.low > 2
    assert adjusted.p < 0.001


def test_a_judge_that_looks_at_contents_alone_shows_no_effect_of_length() -> None:
    adjusted = length_adjusted([1.0] * 30, [50, 200, 100] * 10, [100, 100, 100] * 10)
    assert adjusted is not None
    assert adjusted.raw == 1.0
    assert adjusted.equal_length.low > 0.7
    assert adjusted.odds_per_doubling.value == pytest.approx(1.0, abs=0.1)
    assert adjusted.p > 0.5


def test_of_many_comparisons_it_is_the_logistic_regression_of_statsmodels() -> None:
    random = np.random.default_rng(4)
    ratio = random.normal(0.3, 1, 20_000)
    wins = (random.random(20_000) < 1 / (1 + np.exp(-(0.4 + 0.7 * ratio)))).astype(float)
    adjusted = length_adjusted(wins.tolist(), (1_000 * 2**ratio).tolist(), [1_000.0] * 20_000)
    plain = Logit(wins, np.column_stack([np.ones(20_000), ratio])).fit(disp=0)
    assert adjusted is not None
    assert adjusted.equal_length.value == pytest.approx(1 / (1 + math.exp(-plain.params[0])), abs=1e-3)
    assert adjusted.odds_per_doubling.value == pytest.approx(math.exp(plain.params[1]), rel=1e-3)


def test_its_interval_holds_the_truth_at_about_its_level() -> None:
    random, truth, holds = np.random.default_rng(9), 1 / (1 + math.exp(-0.4)), 0
    for _ in range(200):
        ratio = random.normal(0.5, 1, 80)
        wins = (random.random(80) < 1 / (1 + np.exp(-(0.4 + 0.8 * ratio)))).astype(float)
        adjusted = length_adjusted(wins.tolist(), (1_000 * 2**ratio).tolist(), [1_000.0] * 80)
        assert adjusted is not None
        holds += adjusted.equal_length.low <= truth <= adjusted.equal_length.high
    assert binom.ppf(0.0005, 200, 0.93) <= holds <= binom.ppf(0.9995, 200, 0.97)


def test_fewer_than_two_comparisons_say_nothing() -> None:
    assert length_adjusted([], [], []) is None
    assert length_adjusted([1.0], [10], [20]) is None
    empty = length_adjusted([1.0, 0.0], [0, 0], [0, 0])
    assert empty is not None
    assert empty.equal_length.value == pytest.approx(0.5)
