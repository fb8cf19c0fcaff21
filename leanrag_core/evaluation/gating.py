"""A gate before an index or a setting goes into use: measures of a question set against floors and a baseline, failed
only where the questions show it.

Of all checks of a gate together at most one in twenty gates fails without a reason (Bonferroni). A mean is below its
floor where its interval ends below it. A loss is shown where the interval of the paired differences ends below zero and
the exact signed-rank test agrees: of few differing questions a bootstrap alone is too sure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.evaluation.statistics import (
    ALPHA,
    Interval,
    Scores,
    difference_interval,
    differences,
    mean_interval,
    paired_test,
)

FLOOR, LOSS = "floor", "loss"
POWER = 0.8  # the share of losses of the stated size that is found with needed_questions()
_EFFICIENCY = 0.864  # least of the signed-rank test beside Student's (Hodges and Lehmann, 1956)


@dataclass(frozen=True)
class Gated:
    """A measure and what the gate requires of it. scores, before: of each question, in the same order; before: None
    without a baseline. floor: None for none. is_lower_better: floor is a ceiling then, and more is a loss. is_share: of
    shares from 0 to 1. size: of the loss that is to be found."""

    measure: str
    scores: Scores
    before: Scores | None = None
    floor: float | None = None
    is_lower_better: bool = False
    is_share: bool = True
    size: float = 0.05


@dataclass(frozen=True)
class Check:
    """The result of a check of a measure. kind: FLOOR or LOSS. interval: of the mean, or of the mean difference to the
    baseline, in the measure's own direction; at its bound one gate in twenty would be wrong. bound: the floor, or 0.
    is_ceiling: the mean should stay below it. p: of the one-sided test of LOSS. needed: questions that find a loss of
    that size; None for a floor."""

    measure: str
    kind: str
    interval: Interval
    bound: float
    failed: bool
    is_ceiling: bool = False
    p: float | None = None
    size: float = 0.0
    needed: int | None = None


def gate(wanted: Sequence[Gated]) -> tuple[Check, ...]:
    """Check each measure against its floor and its baseline; measures without a score are left out.

    Raises ValueError where scores and baseline differ in length.
    """
    n_checks = sum((each.floor is not None) + (each.before is not None) for each in wanted)
    alpha = ALPHA / max(1, n_checks)
    checks: list[Check] = []
    for each in wanted:
        if each.floor is not None:
            checks += _floor_check(each, each.floor, alpha)
        if each.before is not None:
            checks += _loss_check(each, each.before, alpha)
    return tuple(checks)


def _floor_check(gated: Gated, floor: float, alpha: float) -> list[Check]:
    level = 1 - 2 * alpha
    known = [score for score in gated.scores if score is not None]
    interval = mean_interval(known, level=level)
    if interval is None:
        return []
    if gated.is_share and len(set(known)) == 1:
        interval = _of_equal_shares(interval)
    return [Check(gated.measure, FLOOR, interval, floor, _is_missed(gated, interval, floor), gated.is_lower_better)]


def _is_missed(gated: Gated, interval: Interval, bound: float) -> bool:
    """Return whether all of the interval is on the worse side of the bound."""
    if gated.is_lower_better:
        return interval.low is not None and interval.low > bound
    return interval.high is not None and interval.high < bound


def _of_equal_shares(interval: Interval) -> Interval:
    """Return the exact interval (Clopper and Pearson) of as many verdicts; a bootstrap of equal shares has no width."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(interval.value * interval.n, interval.n, alpha=1 - interval.level, method="beta")
    return replace(interval, low=float(low), high=float(high))


def _loss_check(gated: Gated, before: Scores, alpha: float) -> list[Check]:
    interval = difference_interval(gated.scores, before, level=1 - 2 * alpha)
    if interval is None:
        return []
    is_loss = interval.value > 0 if gated.is_lower_better else interval.value < 0
    p = paired_test(gated.scores, before) / 2
    p = p if is_loss else 1 - p
    changes = differences(gated.scores, before)
    needed = needed_questions(changes, gated.size, alpha, is_share=gated.is_share)
    failed = _is_missed(gated, interval, 0.0) and p < alpha
    return [Check(gated.measure, LOSS, interval, 0.0, failed, gated.is_lower_better, p, gated.size, needed)]


def needed_questions(changes: Sequence[float], size: float, alpha: float = ALPHA, *, is_share: bool = True) -> int:
    """Return how many questions find a mean loss of that size in POWER of all cases, where questions scatter as these
    changes do.

    A loss of shares is taken to come as questions that are lost whole, the form that is hardest to find: its own
    scatter is added, and enough of them must be met for the exact test to count them.
    """
    from scipy.stats import nbinom, norm

    scatter = float(np.var(np.asarray(changes, dtype=np.float64))) if len(changes) else 0.0
    least = 2
    if is_share:
        scatter += size * (1 - size)
        n_lost = math.ceil(math.log2(1 / alpha))  # so many, and none won, have p at most alpha
        least = n_lost + int(nbinom.ppf(POWER, n_lost, size))  # questions that are not lost, until so many are
    quantiles = float(norm.ppf(1 - alpha) + norm.ppf(POWER))
    return max(least, math.ceil(quantiles**2 * scatter / size**2 / _EFFICIENCY) + 2)
