"""How far judges agree beyond chance."""

from collections.abc import Hashable, Sequence

import numpy as np


def cohen(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Return Cohen's kappa of two judges; a[i] and b[i] are their verdicts on the same thing.

    1 is full agreement, 0 what chance would give. None without verdicts, and where both always say the same single
    thing, since chance would then agree as well. Raises ValueError where the two differ in length.
    """
    pairs = list(zip(a, b, strict=True))
    labels = sorted({verdict for pair in pairs for verdict in pair}, key=repr)
    if len(labels) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    number = {label: place for place, label in enumerate(labels)}
    left, right = ([number[pair[side]] for pair in pairs] for side in (0, 1))
    return float(cohen_kappa_score(left, right))


def fleiss(table: Sequence[Sequence[int]]) -> float | None:
    """Return Fleiss' kappa of any number of judges.

    table: (n things judged, k verdicts), how many judges gave each verdict; every row has the same sum. None without
    rows, with fewer than two judges, and where all verdicts are the same single one. Raises ValueError for rows of
    different sums.
    """
    counts = np.asarray(table, dtype=np.int64)
    if not counts.size:
        return None
    judges = counts.sum(axis=1)
    if np.ptp(judges):
        raise ValueError("every row of the table needs the same number of verdicts")
    if judges[0] < 2 or np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    from statsmodels.stats.inter_rater import fleiss_kappa

    return float(fleiss_kappa(counts, method="fleiss"))


def observed(table: Sequence[Sequence[int]]) -> float | None:
    """Return the share of pairs of verdicts on the same thing that agree. table: as in fleiss(). None without such
    pairs."""
    counts = np.asarray(table, dtype=np.int64)
    if not counts.size:
        return None
    judges = counts.sum(axis=1)
    pairs = (judges * (judges - 1)).sum()
    return float((counts * (counts - 1)).sum() / pairs) if pairs else None
