"""Win rates, swaps and biases of comparisons, each with its interval over questions."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

from leanrag_core.evaluation.audit.comparisons import Comparison, by_question, swapped
from leanrag_core.evaluation.audit.records import Swaps
from leanrag_core.evaluation.statistics.intervals import Interval, share_interval

TIED = 0.5


def rate(compared: Iterable[Comparison], seed: int) -> Interval | None:
    """Return the win rate of a over all readable judgements, with an interval over questions; n counts questions."""
    return share(compared, lambda comparison: comparison.won, lambda comparison: comparison.question, seed)


def first_answer_share(compared: Iterable[Comparison], seed: int) -> Interval | None:
    """Return how often the answer that was shown first won, of the verdicts that name a winner."""
    return share(compared, decided_for_first, _place, seed)


def longer_answer_share(compared: Iterable[Comparison], seed: int) -> Interval | None:
    """Return how often the longer answer won, of the verdicts that name one of two answers of different length."""
    return share(compared, decided_for_longer, _place, seed)


def share(
    compared: Iterable[Comparison],
    score: Callable[[Comparison], float | None],
    group: Callable[[Comparison], Hashable],
    seed: int,
) -> Interval | None:
    """Return the mean score; its interval is over groups, since repeats of the same question are not independent."""
    scores: dict[Hashable, list[float]] = defaultdict(list)
    for comparison in compared:
        if (value := score(comparison)) is not None:
            scores[group(comparison)].append(value)
    interval = share_interval([fmean(values) for values in scores.values()], seed)
    if interval is None:
        return None
    return replace(interval, value=fmean(value for values in scores.values() for value in values))


def decided_for_first(comparison: Comparison) -> float | None:
    """Return 1 where the answer shown first won, 0 where the second did, else None."""
    return None if comparison.won == TIED else comparison.first_won


def decided_for_longer(comparison: Comparison) -> float | None:
    """Return 1 where the longer answer won, 0 where the shorter did, else None."""
    a, b = comparison.words
    if comparison.won in (None, TIED) or a == b or not a or not b:
        return None
    return float((comparison.won == 1) == (a > b))


def _place(comparison: Comparison) -> tuple[frozenset[str], str]:
    judgement = comparison.judgement
    return frozenset((judgement.first, judgement.second)), judgement.question


def question_scores(compared: Iterable[Comparison]) -> Mapping[str, float]:
    """Return the win rate of a on each question, over orders and repeats."""
    groups = by_question(compared)
    return {question: fmean(each.won or 0.0 for each in group) for question, group in groups.items()}


def swaps(by_pair: Iterable[Sequence[Comparison]], seed: int) -> Swaps:
    """Count the verdicts that were asked for in both orders, and those of them that name another winner after the
    swap. by_pair: comparisons of each pair of runs. The interval is over questions."""
    flips: dict[Hashable, list[float]] = defaultdict(list)
    for first, second in (couple for compared in by_pair for couple in swapped(compared)):
        flips[_place(first)].append(float(first.won != second.won))
    flipped = [value for values in flips.values() for value in values]
    interval = share_interval([fmean(values) for values in flips.values()], seed)
    rate = None if interval is None else replace(interval, value=fmean(flipped))
    return Swaps(len(flipped), int(sum(flipped)), rate)


def consistency(compared: Sequence[Comparison]) -> tuple[float, ...]:
    """Return, for each question and order that was judged more than once, the share of pairs of repeats with the same
    winner."""
    repeats: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for comparison in compared:
        if comparison.won is not None:
            repeats[comparison.question, comparison.is_a_first].append(comparison.won)
    return tuple(
        fmean(float(left == right) for left, right in combinations(winners, 2))
        for winners in repeats.values()
        if len(winners) > 1
    )
