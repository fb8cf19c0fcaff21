"""Whether two systems differ on the same questions, and what many such tests together allow to say."""

from collections.abc import Sequence

import numpy as np

from leanrag_core.evaluation.statistics.intervals import Scores, differences


def paired_test(a: Scores, b: Scores) -> float:
    """The two-sided p of Wilcoxon's signed-rank test; a[i] and b[i] are of the same question.

    Questions without a score for either are left out, and so are equal scores, as Wilcoxon did. 1 where no difference
    is left. Below six differences p cannot fall under .05. Raises ValueError where the two differ in length.
    """
    from scipy.stats import wilcoxon

    # Means of repeats that are equal on paper may differ in the last bit, and would be ranked.
    rounded = np.round(differences(a, b), 12)
    unequal = rounded[rounded != 0]
    if not len(unequal):
        return 1.0
    return float(wilcoxon(unequal, zero_method="wilcox", alternative="two-sided").pvalue)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values of one family of tests, corrected after Holm, in the order given; empty for none."""
    if not p_values:
        return ()
    from statsmodels.stats.multitest import multipletests

    return tuple(float(p) for p in multipletests(p_values, method="holm")[1])
