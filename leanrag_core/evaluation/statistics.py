"""Statistics of scores and verdicts: bootstrap intervals and chances, paired rank tests, letters, length, agreement.

differ(pair_tests(...)) is the one rule by which sentences, letters, forest plots and sweeps say that runs differ.
"""

import math
import string
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

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


def share_interval(shares: Sequence[float], seed: int = 0) -> Interval | None:
    """Return the mean of shares from 0 to 1, such as verdicts of questions; None for none.

    Where all are equal a bootstrap has no width: six of six are not surely all. There the interval is Wilson's, as of
    so many verdicts (statsmodels).
    """
    interval = mean_interval(shares, seed)
    if interval is None or (interval.low is not None and interval.low != interval.high):
        return interval
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(interval.value * interval.n, interval.n, alpha=1 - LEVEL, method="wilson")
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


def _drawn(rng: "np.random.Generator", n: int) -> Iterator[np.ndarray]:
    """Yield the rows of scores that each resample takes, (some resamples, n) int64 at a time."""
    size = max(1, _AT_ONCE // n)
    for first in range(0, N_RESAMPLES, size):
        yield rng.integers(0, n, (min(size, N_RESAMPLES - first), n))


def _widened(level: float, n: int) -> float:
    from scipy.special import ndtr, stdtrit  # as scipy.stats computes them, which takes a second to import

    quantile = stdtrit(n - 1, (1 + level) / 2) * np.sqrt(n / (n - 1))
    return float(min(2 * ndtr(quantile) - 1, _WIDEST_LEVEL))


@dataclass(frozen=True)
class Within:
    """Scores of questions, and the bounds that their mean should keep; None: no bound. is_share: of shares from 0 to 1,
    whose mean is as unsure as so many verdicts where all are equal."""

    scores: Scores
    low: float | None = None
    high: float | None = None
    is_share: bool = False


def chance_within(wanted: Sequence[Within]) -> float | None:
    """Return the chance that all means keep their bounds at once; None below two questions. Questions without a score
    for one of the means are left out.

    It is the share of the resamples in which the means keep their bounds, widened for few questions as the intervals of
    mean_interval() are, so that an interval of this level would just touch its bound. Where all scores of a mean are
    the same, resamples tell nothing: for shares Wilson's interval stands in their place, as in share_interval(). Raises
    ValueError where the scores differ in length.
    """
    rows = [row for row in zip(*(each.scores for each in wanted), strict=True) if None not in row]
    if len(rows) < 2:
        return None
    columns = np.array(rows, dtype=np.float64).T
    keep, certain = np.ones(N_RESAMPLES, dtype=bool), 1.0
    for each, column in zip(wanted, columns, strict=True):
        if np.ptp(column) > 0:
            means = np.round(_resampled_means(column, 0), _PLACES)
            keep &= (means >= (-np.inf if each.low is None else each.low)) & (
                means <= (np.inf if each.high is None else each.high)
            )
        else:
            certain *= _chance_of_equal(float(column[0]), len(rows), each)
    return certain * _widened_chance(float(keep.mean()), len(rows))


def _chance_of_equal(value: float, n: int, wanted: Within) -> float:
    """Return the chance that the mean of n equal scores keeps its bounds."""
    chance = 1.0
    for bound, side in ((wanted.low, 1), (wanted.high, -1)):
        if bound is None:
            continue
        if wanted.is_share and 0 < bound < 1:
            from scipy.stats import norm

            chance *= float(norm.cdf(side * (value - bound) / math.sqrt(bound * (1 - bound) / n)))
        else:
            chance *= float(side * (value - bound) >= 0)
    return chance


def _widened_chance(share: float, n: int) -> float:
    """Return the level of Student's interval whose bound is the percentile at that share; see _widened()."""
    if share in (0.0, 1.0):
        return share
    from scipy.stats import norm, t

    return float(t.cdf(norm.ppf(share) * math.sqrt((n - 1) / n), n - 1))


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
    pairs = list(combinations(scores, 2))
    return dict(zip(pairs, holm([paired_test(scores[a], scores[b]) for a, b in pairs]), strict=True))


def differ(p: float) -> bool:
    """Return whether a corrected p is small enough to say that two runs differ."""
    return p < ALPHA


def compact_letters(
    names: Sequence[str], p_values: Sequence[Sequence[float]], means: Sequence[float | None]
) -> dict[str, str]:
    """Return the letters of each name, "a" for the group of the best mean; two names share a letter unless they
    differ().

    p_values: (n, n), symmetric, already corrected; the diagonal is not read. means: in the order of the names; a name
    whose mean is None has no letter. Source: Piepho, An algorithm for a letter-based representation of all-pairwise
    comparisons, 2004; its columns are the largest groups of which no two differ.
    """
    import networkx as nx

    ranked = sorted((-mean, row) for row, mean in enumerate(means) if mean is not None)
    rank = {row: place for place, (_, row) in enumerate(ranked)}
    graph = nx.Graph()
    graph.add_nodes_from(rank)
    graph.add_edges_from(
        (first, second) for first in rank for second in rank if first < second and not differ(p_values[first][second])
    )
    groups = sorted(sorted(rank[row] for row in group) for group in nx.find_cliques(graph))
    letters = _by_rank(_without_needless(groups))
    return {name: letters.get(rank[row], "") if row in rank else "" for row, name in enumerate(names)}


def _without_needless(groups: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Return the groups without those whose every pair shares another group."""
    kept = list(groups)
    for group in sorted(groups, key=lambda each: (len(each), each)):
        others = [set(other) for other in kept if other is not group]
        pairs = [{first, second} for first in group for second in group if first < second] or [set(group)]
        if all(any(pair <= other for other in others) for pair in pairs):
            kept.remove(group)
    return kept


def _by_rank(groups: Sequence[Sequence[int]]) -> Mapping[int, str]:
    letters: dict[int, str] = {}
    for number, group in enumerate(groups):
        for place in group:
            letters[place] = letters.get(place, "") + letter(number)
    return letters


def letter(number: int) -> str:
    """Return the letter of a group: a to z, A to Z, then numbers in brackets."""
    return string.ascii_letters[number] if number < len(string.ascii_letters) else f"({number + 1})"


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
    wins: Sequence[float], words: Sequence[float], other_words: Sequence[float]
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
    z = float(norm.ppf((1 + LEVEL) / 2))
    (centre, slope), (centre_error, slope_error) = fit.params.tolist(), fit.bse.tolist()
    n = len(triples)
    rates = [_share(centre + side * z * centre_error) for side in (0, -1, 1)]
    odds = [math.exp(min(slope + side * z * slope_error, 700)) for side in (0, -1, 1)]
    rate, doubling = (Interval(value, low, high, n) for value, low, high in (rates, odds))
    return LengthAdjusted(float(np.mean(wins)), rate, doubling, float(fit.pvalues[1]), n)


def _share(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0


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
