"""What length does to a win rate, and what the rate would be between answers of the same length."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.evaluation.statistics.intervals import LEVEL, Interval


@dataclass(frozen=True)
class LengthAdjusted:
    """A win rate beside its value at equal length.

    raw: mean of the wins. equal_length: win rate between answers of the same number of words. odds_per_doubling: by
    how much the odds to win are multiplied when the answer doubles in length; 1 is no effect. p: that there is no
    effect of length.
    """

    raw: float
    equal_length: Interval
    odds_per_doubling: Interval
    p: float
    n: int


def length_adjusted(
    wins: Sequence[float], words: Sequence[float], other_words: Sequence[float], *, level: float = LEVEL
) -> LengthAdjusted | None:
    """Fit a logistic regression of winning on the logarithm of the ratio of lengths; None for fewer than two
    comparisons.

    wins: 1 won, 0 lost, 0.5 tie, or the mean over repeats and orders of a question; give a question once, since
    repeats are not independent. words, other_words: lengths of the two answers; below one word counts as one.

    Two ties are added, one with each sign at the spread of the lengths: where length alone decides, the regression
    would have no solution. They draw a result of few comparisons towards "no difference" (the idea of Agresti and
    Coull's interval of a share). Raises ValueError where the three differ in length.
    """
    triples = list(zip(wins, words, other_words, strict=True))
    if len(triples) < 2:
        return None
    from scipy.stats import norm
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

    ratio = np.array([math.log2(max(ours, 1) / max(theirs, 1)) for _, ours, theirs in triples])
    spread = float(np.sqrt((ratio**2).mean())) or 1.0
    won = np.append([win for win, _, _ in triples], (0.5, 0.5))
    columns = np.column_stack([np.ones(len(won)), np.append(ratio, (spread, -spread))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerfectSeparationWarning)  # the two ties keep the regression finite
        fit = GLM(won, columns, family=Binomial()).fit()
    z = float(norm.ppf((1 + level) / 2))
    (centre, slope), (centre_error, slope_error) = fit.params.tolist(), fit.bse.tolist()
    n = len(triples)
    rates = [_share(centre + side * z * centre_error) for side in (0, -1, 1)]
    odds = [math.exp(min(slope + side * z * slope_error, 700)) for side in (0, -1, 1)]
    rate, doubling = (Interval(value, low, high, n, level) for value, low, high in (rates, odds))
    return LengthAdjusted(float(np.mean(wins)), rate, doubling, float(fit.pvalues[1]), n)


def _share(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
