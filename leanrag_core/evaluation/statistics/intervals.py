"""Bootstrap intervals of a mean and of a paired difference."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95
_N_RESAMPLES = 4_999
_WIDEST_LEVEL = 0.9999  # beyond it 4,999 resamples have no quantiles

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

    @property
    def excludes_zero(self) -> bool:
        """Whether both bounds are on one side of zero: of a difference, that it is more than chance."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def mean_interval(scores: Scores, seed: int = 0, *, level: float = LEVEL) -> Interval | None:
    """The mean of the scores, None among them left out; None where none is left.

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
    from scipy.stats import bootstrap

    bounds = bootstrap(
        (known,),
        np.mean,
        n_resamples=_N_RESAMPLES,
        confidence_level=_widened(level, len(known)),
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(value, float(bounds.low), float(bounds.high), len(known), level)


def difference_interval(a: Scores, b: Scores, seed: int = 0, *, level: float = LEVEL) -> Interval | None:
    """The mean of a minus b over the questions that both have a score for; a[i] and b[i] are of the same question.

    Raises ValueError where the two differ in length.
    """
    return mean_interval(differences(a, b), seed, level=level)


def differences(a: Scores, b: Scores) -> tuple[float, ...]:
    """a minus b of each question that both have a score for. Raises ValueError where the two differ in length."""
    pairs = zip(a, b, strict=True)
    return tuple(left - right for left, right in pairs if left is not None and right is not None)


def _widened(level: float, n: int) -> float:
    from scipy.stats import norm, t

    quantile = t.ppf((1 + level) / 2, n - 1) * np.sqrt(n / (n - 1))
    return float(min(2 * norm.cdf(quantile) - 1, _WIDEST_LEVEL))
