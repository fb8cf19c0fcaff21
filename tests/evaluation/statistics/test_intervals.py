"""Intervals: hand-worked cases, and how often they hold the truth."""

import numpy as np
import pytest
from scipy.stats import binom, bootstrap, norm, t

from leanrag_core.evaluation.statistics import N_RESAMPLES, difference_interval, mean_interval


def test_too_few_scores_have_no_interval_and_equal_ones_no_width() -> None:
    assert mean_interval([]) is None
    assert mean_interval([None, None]) is None
    single = mean_interval([None, 0.25])
    assert single is not None
    assert (single.value, single.low, single.high, single.n) == (0.25, None, None, 1)
    equal = mean_interval([0.5, None, 0.5, 0.5])
    assert equal is not None
    assert (equal.value, equal.low, equal.high, equal.n) == (0.5, 0.5, 0.5, 3)


def test_the_same_seed_gives_the_same_interval_and_another_one_nearly_the_same() -> None:
    scores = np.random.default_rng(5).normal(3, 1, 60).tolist()
    first, again, other = mean_interval(scores, 1), mean_interval(scores, 1), mean_interval(scores, 2)
    assert first == again != other
    assert first is not None
    assert other is not None
    assert other.low == pytest.approx(first.low, abs=0.03)


@pytest.mark.parametrize("n", [6, 200])
def test_of_normal_scores_it_is_about_as_wide_as_students(n: int) -> None:
    scores = np.random.default_rng(8).normal(0, 1, n)
    interval = mean_interval(scores.tolist())
    assert interval is not None
    half = t.ppf(0.975, n - 1) * scores.std(ddof=1) / np.sqrt(n)
    assert interval.high == pytest.approx(scores.mean() + half, abs=0.15 * half)
    assert interval.low == pytest.approx(scores.mean() - half, abs=0.15 * half)


@pytest.mark.parametrize("n", [7, 130, 500])
def test_its_resamples_are_those_of_scipy(n: int) -> None:
    scores = np.random.default_rng(n).random(n)
    interval = mean_interval(scores.tolist(), seed=3)
    assert interval is not None
    wide = t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1))
    same = bootstrap(
        (scores,), np.mean, n_resamples=N_RESAMPLES, confidence_level=2 * norm.cdf(wide) - 1, method="percentile",
        rng=np.random.default_rng(3),
    )  # fmt: skip
    assert (interval.low, interval.high) == pytest.approx(tuple(same.confidence_interval), abs=1e-9)


def test_a_difference_is_over_the_questions_that_both_have() -> None:
    a, b = [1.0, 0.5, None, 1.0, 0.25], [0.5, 0.0, 1.0, None, 0.75]
    interval = difference_interval(a, b)
    assert interval is not None
    assert (interval.value, interval.n) == (pytest.approx(0.5 / 3), 3)
    assert interval.low is not None
    assert interval.low <= 0
    with pytest.raises(ValueError, match="zip"):
        difference_interval([1.0], [])


def test_pairing_removes_what_questions_have_in_common() -> None:
    hard = np.linspace(0, 1, 40)
    a, b = (hard + 0.05).tolist(), (hard + 0.01 * np.tile([1, -1], 20)).tolist()
    paired, alone = difference_interval(a, b), mean_interval(a)
    assert paired is not None
    assert alone is not None
    assert paired.low is not None
    assert paired.low > 0
    assert paired.high - paired.low < 0.1 * (alone.high - alone.low)


@pytest.mark.parametrize("n", [8, 40])
def test_intervals_hold_the_truth_at_about_their_level(n: int) -> None:
    """Check that of 300 samples the interval misses the true mean about 15 times. The bounds hold 999 of 1,000 such
    counts for a coverage from .93 to .97."""
    n_samples, holds = 300, 0
    random = np.random.default_rng(2026)
    for seed in range(n_samples):
        interval = mean_interval(random.beta(2, 3, n).tolist(), seed)
        assert interval is not None
        holds += interval.low <= 0.4 <= interval.high
    assert binom.ppf(0.0005, n_samples, 0.93) <= holds <= binom.ppf(0.9995, n_samples, 0.97)
