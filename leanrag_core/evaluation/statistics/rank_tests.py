"""Whether two systems differ on the same questions, and what many such tests together allow to say.

differ(pair_tests(...)) is the one rule of sentences, letters, forests and sweeps.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from leanrag_core.evaluation.statistics.intervals import Scores, differences

ALPHA = 0.05
_EXACT = 50  # differences up to which p is exact, beyond by the normal distribution


def paired_test(a: Scores, b: Scores) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test; a[i] and b[i] are of the same question.

    Questions without a score for either are left out, and so are equal scores, as Wilcoxon did. 1 where no difference
    is left. Below six differences p cannot fall under .05. Raises ValueError where the two differ in length.
    """
    # Means of repeats that are equal on paper may differ in the last bit, and would be ranked.
    rounded = np.round(differences(a, b), 12)
    unequal = rounded[rounded != 0]
    if not len(unequal):
        return 1.0
    if len(unequal) <= _EXACT:
        return _exact(unequal)
    from scipy.stats import wilcoxon

    return float(wilcoxon(unequal, zero_method="wilcox", method="asymptotic").pvalue)


def _exact(unequal: np.ndarray) -> float:
    """Return p from all sets of signs. unequal: (n,) float64 differences, none 0.

    scipy does the same where no two differences are equally large, and needs a third of a second where they are, as
    with shares of few quotes; a table has hundreds of pairs.
    """
    from scipy.stats import rankdata

    ranks = np.rint(2 * rankdata(np.abs(unequal))).astype(int)  # mean ranks are halves
    n_sets = np.zeros(int(ranks.sum()) + 1)  # of signs, by twice the sum of the positive ranks
    n_sets[0] = 1
    for rank in ranks.tolist():
        n_sets[rank:] += n_sets[:-rank].copy()
    positive = int(ranks[unequal > 0].sum())
    fewer = min(n_sets[: positive + 1].sum(), n_sets[positive:].sum())
    return float(min(1.0, 2 * fewer / 2 ** len(ranks)))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values of one family of tests, corrected after Holm, in the order given; empty for none.

    statsmodels gives the same and collects all garbage of the process each time, a quarter of a second for each column
    of a table (ADR 0024).
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return tuple(corrected.tolist())


def pair_tests(scores: Mapping[str, Sequence[float | None]]) -> Mapping[tuple[str, str], float]:
    """Return the p of the paired rank test for each pair of runs (a before b), corrected over all pairs after Holm.

    All pairs, also where only those with the best run are looked at: which run is best is known from the same scores.
    """
    names = list(scores)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    return dict(zip(pairs, holm([paired_test(scores[a], scores[b]) for a, b in pairs]), strict=True))


def differ(p: float) -> bool:
    """Return whether a corrected p is small enough to say that two runs differ."""
    return p < ALPHA
