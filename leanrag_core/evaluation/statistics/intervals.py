"""Bootstrap intervals of a mean and of a paired difference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

LEVEL = 0.95
N_RESAMPLES = 4_999
_WIDEST_LEVEL = 0.9999  # beyond it 4,999 resamples have no quantiles
_KEPT_SCORES = 300  # resamples of so many scores are kept, in 12 MB
_AT_ONCE = 4_000_000  # places that are drawn at once
_PLACES = 12  # of the bounds: libraries of linear algebra differ in the last bits

Scores = Sequence[float | None]


@dataclass(frozen=True)
class Interval:
    """A mean with the bounds between which it lies at the level. n: how many scores it is of; low, high: None for one
    score alone, which says nothing of the spread."""

    value: float
    low: float | None
    high: float | None
    n: int
    level: float = LEVEL


def mean_interval(scores: Scores, seed: int = 0, *, level: float = LEVEL) -> Interval | None:
    """Return the mean of the scores, None among them left out; None where none is left.

    Percentile bootstrap. Its level is widened for few scores so that the interval is as wide as Student's would be:
    plain percentiles of five scores hold the truth in 83 of 100 cases only (Hesterberg, What teachers should know about
    the bootstrap, 2015). Equal scores have an interval without width.
    """
    known = np.array([score for score in scores if score is not None], dtype=np.float64)
    if not len(known):
        return None
    value = float(known.mean())
    if len(known) == 1:
        return Interval(value, None, None, 1, level)
    if np.ptp(known) == 0:
        return Interval(value, value, value, len(known), level)
    means = _resampled_means(known, seed)
    tail = (1 - _widened(level, len(known))) / 2
    low, high = np.round(np.percentile(means, [100 * tail, 100 * (1 - tail)]), _PLACES).tolist()
    return Interval(value, low, high, len(known), level)


def share_interval(shares: Sequence[float], seed: int = 0, *, level: float = LEVEL) -> Interval | None:
    """Return the mean of shares from 0 to 1, such as verdicts of questions; None for none.

    Where all are equal a bootstrap has no width: six of six are not surely all. There the interval is Wilson's, as of
    so many verdicts (statsmodels).
    """
    interval = mean_interval(shares, seed, level=level)
    if interval is None or (interval.low is not None and interval.low != interval.high):
        return interval
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(interval.value * interval.n, interval.n, alpha=1 - level, method="wilson")
    return replace(interval, low=round(float(low), _PLACES), high=round(float(high), _PLACES))


def difference_interval(a: Scores, b: Scores, seed: int = 0, *, level: float = LEVEL) -> Interval | None:
    """Return the mean of a minus b over the questions that both have a score for; a[i] and b[i] are of the same
    question.

    Raises ValueError where the two differ in length.
    """
    return mean_interval(differences(a, b), seed, level=level)


def differences(a: Scores, b: Scores) -> tuple[float, ...]:
    """Subtract b from a for each question that both have a score for. Raises ValueError where the two differ in
    length."""
    pairs = zip(a, b, strict=True)
    return tuple(left - right for left, right in pairs if left is not None and right is not None)


def _resampled_means(scores: np.ndarray, seed: int) -> np.ndarray:
    """Return the means of resamples, those of scipy.stats.bootstrap with that seed.

    scores: (n,) float64; returns (N_RESAMPLES,) float64. A table asks for hundreds of intervals over the same
    questions, and drawing the resamples is what takes time.
    """
    if len(scores) <= _KEPT_SCORES:
        means: np.ndarray = _resamples(len(scores), seed) @ scores / len(scores)
        return means
    rng = np.random.default_rng(seed)
    return np.concatenate([scores[part].mean(axis=1) for part in _drawn(rng, len(scores))])


@lru_cache(maxsize=6)
def _resamples(n: int, seed: int) -> np.ndarray:
    """Count how often each of n scores is in each resample; shape (N_RESAMPLES, n), float64."""
    drawn = np.concatenate(list(_drawn(np.random.default_rng(seed), n)))
    offsets = n * np.arange(len(drawn))[:, None]
    counts = np.bincount((drawn + offsets).ravel(), minlength=len(drawn) * n)
    return counts.reshape(len(drawn), n).astype(np.float64)


def _drawn(rng: np.random.Generator, n: int) -> Iterator[np.ndarray]:
    """Yield the rows of scores that each resample takes, (some resamples, n) int64 at a time."""
    size = max(1, _AT_ONCE // n)
    for first in range(0, N_RESAMPLES, size):
        yield rng.integers(0, n, (min(size, N_RESAMPLES - first), n))


def _widened(level: float, n: int) -> float:
    from scipy.stats import norm, t

    quantile = t.ppf((1 + level) / 2, n - 1) * np.sqrt(n / (n - 1))
    return float(min(2 * norm.cdf(quantile) - 1, _WIDEST_LEVEL))
