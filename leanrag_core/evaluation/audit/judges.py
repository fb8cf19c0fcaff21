"""A judge over all its pairs: what decides its verdicts besides the answers."""

from collections.abc import Sequence
from itertools import chain

from leanrag_core.evaluation.audit.comparisons import Comparison, comparisons, criteria_of, pairs_of
from leanrag_core.evaluation.audit.pairs import ALPHA, MOST_FLIPS, at_equal_length, question_lengths
from leanrag_core.evaluation.audit.records import (
    Audit,
    FirstAnswerBias,
    JudgeAudit,
    LengthEffect,
    LengthPoint,
    PairAudit,
    Swaps,
)
from leanrag_core.evaluation.audit.win_rates import (
    consistency,
    decided_for_first,
    first_answer_share,
    longer_answer_share,
    swaps,
)
from leanrag_core.evaluation.judging.verdicts import OVERALL
from leanrag_core.evaluation.statistics.intervals import Interval, share_interval
from leanrag_core.evaluation.statistics.length import length_adjusted
from leanrag_core.evaluation.statistics.rank_tests import holm, paired_test
from leanrag_core.messages.message import Message, message
from leanrag_core.types.experiment import PAIRWISE, Judgement

_MOST_FIRST = 0.6  # share of verdicts for the answer shown first
_MOST_LONGER = 0.65  # share of verdicts for the longer answer
_LEAST_CONSISTENT = 0.75  # share of repeats with the same winner; a coin has half
_MOST_UNPARSED = 0.1
_MOST_TIES = 0.9


def main_criterion(judgements: Sequence[Judgement]) -> str:
    """Return the criterion that a judge is summed up by: overall where there is one."""
    criteria = criteria_of(judgements, PAIRWISE)
    return OVERALL if OVERALL in criteria or not criteria else criteria[0]


def main_of(audit: Audit) -> tuple[PairAudit, ...]:
    """Return the pairs of the audit by their judge's main criterion."""
    criteria: dict[str, list[str]] = {}
    for pair in audit.pairs:
        criteria.setdefault(pair.judge, []).append(pair.criterion)
    return tuple(
        pair
        for pair in audit.pairs
        if pair.criterion == (OVERALL if OVERALL in criteria[pair.judge] else criteria[pair.judge][0])
    )


def first_answer_bias(judgements: Sequence[Judgement], judge: str, seed: int) -> tuple[FirstAnswerBias, ...]:
    """Measure by criterion how often the answer shown first wins. Between pairs that were shown in both orders equally
    often, the quality of the answers cancels out."""
    criteria = criteria_of(judgements, PAIRWISE)
    compared = [_all_pairs(judgements, criterion) for criterion in criteria]
    corrected = holm([_bias_test(each) for each in compared])
    return tuple(
        FirstAnswerBias(judge, criterion, first_answer_share(each, seed), p)
        for criterion, each, p in zip(criteria, compared, corrected, strict=True)
    )


def _all_pairs(judgements: Sequence[Judgement], criterion: str) -> tuple[Comparison, ...]:
    return tuple(chain.from_iterable(comparisons(judgements, pair, criterion) for pair in pairs_of(judgements)))


def _bias_test(compared: Sequence[Comparison]) -> float:
    """Return the p that the judge favours a position: by question and pair, wins of the answer shown first minus wins
    of the second."""
    sums: dict[tuple[frozenset[str], str], float] = {}
    for comparison in compared:
        if (won := decided_for_first(comparison)) is not None:
            key = frozenset((comparison.judgement.first, comparison.judgement.second)), comparison.question
            sums[key] = sums.get(key, 0.0) + 2 * won - 1
    return paired_test(list(sums.values()), [0.0] * len(sums))


def length_effect(judgements: Sequence[Judgement], judge: str, seed: int) -> LengthEffect | None:
    """Measure how length affects the verdicts; None where no lengths are known or nothing was decided."""
    criterion = main_criterion(judgements)
    longer_wins = longer_answer_share(_all_pairs(judgements, criterion), seed)
    if longer_wins is None:
        return None
    points = [
        LengthPoint(judge, *pair, each.question, each.words[0] / each.words[1], each.won)
        for pair in pairs_of(judgements)
        for each in question_lengths(comparisons(judgements, pair, criterion))
    ]
    fit = length_adjusted(
        [point.win_rate for point in points], [point.ratio * 1000 for point in points], [1000.0] * len(points)
    )
    return LengthEffect(judge, longer_wins, fit, tuple(points), _follows_length(judgements, criterion))


def _follows_length(judgements: Sequence[Judgement], criterion: str) -> bool:
    fits = [at_equal_length(comparisons(judgements, pair, criterion)) for pair in pairs_of(judgements)]
    known = [fit for fit in fits if fit is not None]
    corrected = holm([fit.p for fit in known])
    return any(p < ALPHA and fit.odds_per_doubling.value > 1 for fit, p in zip(known, corrected, strict=True))


def judge_audit(judgements: Sequence[Judgement], judge: str, length: LengthEffect | None, seed: int) -> JudgeAudit:
    """Sum up the judge by its main criterion. judgements: that judge's alone."""
    criterion = main_criterion(judgements)
    by_pair = [comparisons(judgements, pair, criterion) for pair in pairs_of(judgements)]
    compared = tuple(chain.from_iterable(by_pair))
    total = swaps(by_pair, seed)
    repeats = share_interval(list(chain.from_iterable(map(consistency, by_pair))), seed)
    first = first_answer_share(compared, seed)
    ties = sum(comparison.won == 0.5 for comparison in compared)
    unparsed = sum(not any(each is not None for each in judgement.verdicts.values()) for judgement in judgements)
    longer = length.longer_wins if length else None
    faults = [
        _shares(unparsed, len(judgements), _MOST_UNPARSED, "audit.unreadable"),
        _order(first, _bias_test(compared)),
        _flips(total, sum(comparison.won is not None for comparison in compared)),
        _length(length),
        _repeats(repeats),
        _shares(ties, len(compared), _MOST_TIES, "audit.never_decides"),
    ]
    return JudgeAudit(
        judge=judge,
        judgements=len(judgements),
        questions=len({judgement.question for judgement in judgements}),
        unparsed=unparsed,
        ties=ties,
        swaps=total,
        first_answer=first,
        consistency=repeats,
        longer_wins=longer,
        faults=tuple(fault for fault in faults if fault is not None),
    )


def band(interval: Interval, *, of_others: bool = False) -> Message:
    """Put the bounds of a share into words, to follow its value. of_others: of 1 minus the share."""
    if interval.low is None or interval.high is None:
        return message("audit.no_band", n=interval.n)
    low, high = (1 - interval.high, 1 - interval.low) if of_others else (interval.low, interval.high)
    return message("audit.band", low=low, high=high, n=interval.n)


def _order(first: Interval | None, p: float) -> Message | None:
    if first is None or p >= ALPHA or 1 - _MOST_FIRST < first.value < _MOST_FIRST:
        return None
    if first.value > 0.5:
        return message("audit.prefers_first", share=first.value, band=band(first))
    return message("audit.prefers_second", share=1 - first.value, band=band(first, of_others=True))


def _flips(total: Swaps, n_readable: int) -> Message | None:
    if n_readable and not total.n:
        return message("audit.one_order")
    if total.rate is not None and total.rate.value >= MOST_FLIPS:
        return message("audit.flips", share=total.rate.value, band=band(total.rate))
    return None


def _length(length: LengthEffect | None) -> Message | None:
    if length is None or not length.within_pairs:
        return None
    if length.longer_wins.value < _MOST_LONGER or (length.longer_wins.low or 0.0) <= 0.5:
        return None
    return message("audit.prefers_longer", share=length.longer_wins.value, band=band(length.longer_wins))


def _repeats(repeats: Interval | None) -> Message | None:
    if repeats is None or repeats.value >= _LEAST_CONSISTENT:
        return None
    return message("audit.inconsistent", share=repeats.value, band=band(repeats))


def _shares(n: int, of: int, most: float, code: str) -> Message | None:
    return message(code, share=n / of) if of and n / of > most else None
