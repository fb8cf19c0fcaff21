"""A judge over all its pairs: what decides its verdicts besides the answers."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, combinations, pairwise
from math import isfinite
from statistics import fmean, stdev

from leanrag_core.evaluation.audit.comparisons import (
    ALPHA,
    MOST_FLIPS,
    Comparison,
    Pair,
    at_equal_length,
    by_judge,
    comparisons,
    consistency,
    criteria_of,
    decided_for_first,
    first_answer_share,
    longer_answer_share,
    pair_audits,
    pairs_of,
    question_lengths,
    swapped,
    swaps,
)
from leanrag_core.evaluation.audit.records import (
    CANNOT_TELL,
    WINS,
    Agreement,
    Audit,
    FirstAnswerBias,
    Flip,
    JudgeAudit,
    LengthEffect,
    LengthPoint,
    PairAudit,
    ScoreSpread,
    Swaps,
)
from leanrag_core.evaluation.judging.asking import OVERALL
from leanrag_core.evaluation.statistics import (
    Interval,
    cohen,
    fleiss,
    holm,
    length_adjusted,
    paired_test,
    share_interval,
)
from leanrag_core.figures import numbers
from leanrag_core.messages.message import Message, message
from leanrag_core.types.experiment import ABSOLUTE, PAIRWISE, Judgement, is_human

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


def first_answer_bias(judgements: Sequence[Judgement], seed: int) -> tuple[FirstAnswerBias, ...]:
    """Measure by criterion how often the answer that a judge is shown first wins. Between pairs that were shown in both
    orders equally often, the quality of the answers cancels out."""
    criteria = criteria_of(judgements, PAIRWISE)
    compared = [_all_pairs(judgements, criterion) for criterion in criteria]
    corrected = holm([_bias_test(each) for each in compared])
    return tuple(
        FirstAnswerBias(judgements[0].judge, criterion, first_answer_share(each, seed), p)
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


def length_effect(judgements: Sequence[Judgement], seed: int) -> LengthEffect | None:
    """Measure how length affects a judge's verdicts; None where no lengths are known or nothing was decided."""
    judge, criterion = judgements[0].judge, main_criterion(judgements)
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


def judge_audit(judgements: Sequence[Judgement], length: LengthEffect | None, seed: int) -> JudgeAudit:
    """Sum up a judge by its main criterion. judgements: that judge's alone."""
    judge, criterion = judgements[0].judge, main_criterion(judgements)
    by_pair = [comparisons(judgements, pair, criterion) for pair in pairs_of(judgements)]
    compared = tuple(chain.from_iterable(by_pair))
    total = swaps(by_pair, seed)
    repeats = share_interval([share for each in by_pair for share in consistency(each)], seed)
    first = first_answer_share(compared, seed)
    ties = sum(comparison.won == 0.5 for comparison in compared)
    unparsed = sum(not any(each is not None for each in judgement.verdicts.values()) for judgement in judgements)
    longer = length.longer_wins if length else None
    faults = [
        _shares(unparsed, len(judgements), _MOST_UNPARSED, "audit.unreadable"),
        _order(first, _bias_test(compared)),
        None if is_human(judge) else _many_flips(total, sum(comparison.won is not None for comparison in compared)),
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
    return message("audit.band", low=numbers.share(low), high=numbers.share(high), n=interval.n)


def _order(first: Interval | None, p: float) -> Message | None:
    if first is None or p >= ALPHA or 1 - _MOST_FIRST < first.value < _MOST_FIRST:
        return None
    if first.value > 0.5:
        return message("audit.prefers_first", share=numbers.share(first.value), band=band(first))
    return message("audit.prefers_second", share=numbers.share(1 - first.value), band=band(first, of_others=True))


def _many_flips(total: Swaps, n_readable: int) -> Message | None:
    if n_readable and not total.n:
        return message("audit.one_order")
    if total.rate is not None and total.rate.value >= MOST_FLIPS:
        return message("audit.flips", share=numbers.share(total.rate.value), band=band(total.rate))
    return None


def _length(length: LengthEffect | None) -> Message | None:
    if length is None or not length.within_pairs:
        return None
    if length.longer_wins.value < _MOST_LONGER or (length.longer_wins.low or 0.0) <= 0.5:
        return None
    return message("audit.prefers_longer", share=numbers.share(length.longer_wins.value), band=band(length.longer_wins))


def _repeats(repeats: Interval | None) -> Message | None:
    if repeats is None or repeats.value >= _LEAST_CONSISTENT:
        return None
    return message("audit.inconsistent", share=numbers.share(repeats.value), band=band(repeats))


def _shares(n: int, total: int, most: float, code: str) -> Message | None:
    return message(code, share=numbers.share(n / total)) if total and n / total > most else None


_Place = tuple[Pair, str, bool]  # the pair, the question, and whether the pair's first was shown first
_OUTCOMES = (0.0, 0.5, 1.0)


def agreements(judgements: Mapping[str, Sequence[Judgement]]) -> tuple[Agreement, ...]:
    """Compare each judge with itself between repeats, then with each later judge, by the main criterion.

    judgements: of each judge. Verdicts are compared in the same order of the answers, so that a preference for an order
    that both share counts as agreement.
    """
    winners = {judge: _winners(each) for judge, each in judgements.items()}
    pairs = pairs_of([judgement for each in judgements.values() for judgement in each])
    if not pairs:
        return ()
    alone = [_with_itself(judge, each) for judge, each in winners.items()]
    return (*alone, *(_of_two(*two, winners) for two in combinations(winners, 2)))


def fleiss_of(judgements: Mapping[str, Sequence[Judgement]]) -> float | None:
    """Return Fleiss' kappa over what all the judges judged; None below two judges."""
    if len(judgements) < 2:
        return None
    verdicts = [_majority(_winners(each)) for each in judgements.values()]
    shared = [place for place in verdicts[0] if all(place in each for each in verdicts)]
    return fleiss([[[each[place] for each in verdicts].count(outcome) for outcome in _OUTCOMES] for place in shared])


def _winners(judgements: Sequence[Judgement]) -> Mapping[_Place, Sequence[float]]:
    """Return the verdict of each repeat, in the order of the repeats, for each pair, question and order of the
    answers."""
    winners: dict[_Place, list[float]] = defaultdict(list)
    criterion = main_criterion(judgements)
    for a, b in pairs_of(judgements):
        ordered = (a, b) if a <= b else (b, a)
        for comparison in sorted(comparisons(judgements, ordered, criterion), key=lambda each: each.judgement.repeat):
            if comparison.won is not None:
                winners[ordered, comparison.question, comparison.is_a_first].append(comparison.won)
    return winners


def _majority(winners: Mapping[_Place, Sequence[float]]) -> Mapping[_Place, float]:
    """Return the verdict of most repeats for each place; a tie where they are even."""
    means = {place: fmean(each) for place, each in winners.items()}
    return {place: 0.5 if mean == 0.5 else float(mean > 0.5) for place, mean in means.items()}


def _with_itself(judge: str, winners: Mapping[_Place, Sequence[float]]) -> Agreement:
    couples = [couple for each in winners.values() for couple in pairwise(each)]
    kappa = cohen([earlier for earlier, _ in couples], [later for _, later in couples])
    return Agreement(judge, judge, kappa, len(couples))


def _of_two(judge: str, other: str, winners: Mapping[str, Mapping[_Place, Sequence[float]]]) -> Agreement:
    verdicts, other_verdicts = _majority(winners[judge]), _majority(winners[other])
    shared = [place for place in verdicts if place in other_verdicts]
    kappa = cohen([verdicts[place] for place in shared], [other_verdicts[place] for place in shared])
    same: dict[Hashable, list[float]] = defaultdict(list)
    for place in shared:
        same[place[:2]].append(float(verdicts[place] == other_verdicts[place]))
    return Agreement(judge, other, kappa, len(shared), share_interval([fmean(each) for each in same.values()]))


def score_spreads(judgements: Sequence[Judgement]) -> tuple[ScoreSpread, ...]:
    """Return the spread of a judge's scores by criterion. judgements: that judge's alone."""
    absolute = [judgement for judgement in judgements if judgement.kind == ABSOLUTE]
    return tuple(_spread(absolute, criterion) for criterion in criteria_of(absolute, ABSOLUTE))


def _spread(judgements: Sequence[Judgement], criterion: str) -> ScoreSpread:
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)  # by run and question
    words: dict[tuple[str, str], int] = {}
    unparsed = 0
    for judgement in judgements:
        score = judgement.verdicts.get(criterion)
        if score is None:
            unparsed += 1
            continue
        answer = judgement.first, judgement.question
        scores[answer].append(score)
        words[answer] = judgement.words[0]
    repeated = [stdev(each) for each in scores.values() if len(each) > 1]
    return ScoreSpread(
        judge=judgements[0].judge,
        criterion=criterion,
        mean=fmean(score for each in scores.values() for score in each) if scores else 0.0,
        spread=fmean(repeated) if repeated else None,
        with_length=_rank_correlation(
            [(fmean(each), words[answer]) for answer, each in scores.items() if words[answer]]
        ),
        n=sum(map(len, scores.values())),
        unparsed=unparsed,
    )


def _rank_correlation(points: Sequence[tuple[float, int]]) -> float | None:
    if len({score for score, _ in points}) < 2 or len({words for _, words in points}) < 2:
        return None
    from scipy.stats import spearmanr

    correlation = float(spearmanr([score for score, _ in points], [words for _, words in points]).statistic)
    return correlation if isfinite(correlation) else None


def audit(judgements: Iterable[Judgement], seed: int = 0) -> Audit:
    """Audit the judges and the pairs that they compared; empty for no judgements.

    seed: of the bootstrap; the same judgements give the same audit.
    """
    of_judge = by_judge(judgements)
    groups = of_judge.values()
    effects = [length_effect(each, seed) for each in groups]
    return Audit(
        judges=tuple(judge_audit(each, effect, seed) for each, effect in zip(groups, effects, strict=True)),
        pairs=tuple(row for each in groups for row in pair_audits(each, seed)),
        first_answer=tuple(row for each in groups for row in first_answer_bias(each, seed)),
        length=tuple(effect for effect in effects if effect is not None),
        agreement=agreements(of_judge),
        fleiss=fleiss_of(of_judge),
        scores=tuple(row for each in groups for row in score_spreads(each)),
        flips=tuple(flip for each in groups for flip in _flips(each)),
    )


def _flips(judgements: Sequence[Judgement]) -> tuple[Flip, ...]:
    """Return the verdicts by the main criterion that name another winner when the answers are swapped."""
    criterion = main_criterion(judgements)
    return tuple(
        Flip(judgements[0].judge, criterion, *pair, first.question, first.judgement, second.judgement)
        for pair in pairs_of(judgements)
        for first, second in swapped(comparisons(judgements, pair, criterion))
        if first.won != second.won
    )


def headline(audit: Audit) -> Message:
    """Say in a sentence the most important finding: the pair whose verdicts depend most on the order, a judge's first
    fault, or that the judge can be trusted."""
    if not audit.judges:
        return message("audit.nothing")
    main = [pair for pair in main_of(audit) if pair.verdict == CANNOT_TELL and pair.swaps.flip_rate is not None]
    worst = max(main, key=lambda pair: pair.swaps.flip_rate or 0.0, default=None)
    faults = [fault for judge in audit.judges for fault in judge.faults]
    rate = worst.swaps.rate if worst else None
    if worst is not None and rate is not None and rate.value > 0 and (faults or rate.value == 1):
        return message("audit.cannot_tell_pair", a=worst.a, b=worst.b, share=numbers.share(rate.value), band=band(rate))
    if faults:
        return faults[0]
    n, flipped = (sum(getattr(judge.swaps, name) for judge in audit.judges) for name in ("n", "flipped"))
    return message("audit.holds", share=numbers.share(1 - flipped / n)) if n else message("audit.holds_scores")


def advice(audit: Audit) -> tuple[Message, ...]:
    """Say which pairs can be reported as they are, which with their interval, and which cannot."""
    main = main_of(audit)
    groups = (
        ("audit.report", [pair for pair in main if pair.verdict == WINS]),
        ("audit.report_interval", [pair for pair in main if pair.verdict not in (WINS, CANNOT_TELL)]),
        ("audit.do_not_report", [pair for pair in main if pair.verdict == CANNOT_TELL]),
    )
    return tuple(message(code, pairs=_named(pairs)) for code, pairs in groups if pairs)


def _named(pairs: Sequence[PairAudit]) -> tuple[Message, ...]:
    names = dict.fromkeys((pair.winner or pair.a, pair.b if pair.winner != pair.b else pair.a) for pair in pairs)
    return tuple(message("audit.pair", a=a, b=b) for a, b in names)
