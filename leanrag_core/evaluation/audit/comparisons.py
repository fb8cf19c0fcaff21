"""Pairwise judgements put in one form: who won a question, in which order the answers were shown."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean, pstdev

from leanrag_core.evaluation.audit.records import CANNOT_TELL, WINS, WINS_WEAKLY, PairAudit, Swaps
from leanrag_core.evaluation.judging.asking import FIRST, TIE
from leanrag_core.evaluation.statistics import (
    Interval,
    LengthAdjusted,
    holm,
    length_adjusted,
    paired_test,
    share_interval,
)
from leanrag_core.types.experiment import PAIRWISE, Judgement, is_human

Pair = tuple[str, str]


@dataclass(frozen=True)
class Comparison:
    """A judgement of a and b by a criterion. won: by a: 1, 0, .5 for a tie, None for an unreadable reply."""

    judgement: Judgement
    is_a_first: bool
    won: float | None

    @property
    def question(self) -> str:
        """Return the question's id."""
        return self.judgement.question

    @property
    def first_won(self) -> float | None:
        """Tell whether the answer shown first won: 1, 0, .5 for a tie."""
        return self.won if self.won is None or self.is_a_first else 1 - self.won

    @property
    def words(self) -> tuple[int, int]:
        """Return the numbers of words of the answers of a and b; (0, 0) where they are not known."""
        first, second = self.judgement.words
        return (first, second) if self.is_a_first else (second, first)


def by_judge(judgements: Iterable[Judgement]) -> Mapping[str, Sequence[Judgement]]:
    """Group the judgements by the name of their judge, in the order in which they come."""
    groups: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        groups[judgement.judge].append(judgement)
    return groups


def pairs_of(judgements: Iterable[Judgement]) -> tuple[Pair, ...]:
    """Return the pairs that were compared, each in the order in which it was compared first."""
    pairs: dict[Pair, None] = {}
    for judgement in judgements:
        if judgement.kind == PAIRWISE and (judgement.second, judgement.first) not in pairs:
            pairs.setdefault((judgement.first, judgement.second))
    return tuple(pairs)


def criteria_of(judgements: Iterable[Judgement], kind: str) -> tuple[str, ...]:
    """Return the criteria of judgements of that kind, in the order in which they come."""
    return tuple(
        dict.fromkeys(name for judgement in judgements if judgement.kind == kind for name in judgement.verdicts)
    )


def comparisons(judgements: Iterable[Judgement], pair: Pair, criterion: str) -> tuple[Comparison, ...]:
    """Return the pairwise judgements of the two by that criterion, in either order. A reply without this criterion
    counts as unreadable; a person who was not asked for it gave none."""
    both = {pair, pair[::-1]}
    return tuple(
        Comparison(judgement, judgement.first == pair[0], _won(judgement, pair[0], criterion))
        for judgement in judgements
        if judgement.kind == PAIRWISE
        and (judgement.first, judgement.second) in both
        and (criterion in judgement.verdicts or not is_human(judgement.judge))
    )


def _won(judgement: Judgement, a: str, criterion: str) -> float | None:
    verdict = judgement.verdicts.get(criterion)
    if verdict is None or verdict == TIE:
        return None if verdict is None else 0.5
    return float((verdict == FIRST) == (judgement.first == a))


def by_question(compared: Iterable[Comparison]) -> Mapping[str, tuple[Comparison, ...]]:
    """Group the readable comparisons by question."""
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in compared:
        if comparison.won is not None:
            groups[comparison.question].append(comparison)
    return {question: tuple(group) for question, group in groups.items()}


def swapped(compared: Sequence[Comparison]) -> tuple[tuple[Comparison, Comparison], ...]:
    """Return couples of readable judgements of the same question and repeat: the one in which a was shown first, then
    the one in which it was shown second."""
    by_place = {
        (comparison.question, comparison.judgement.repeat, comparison.is_a_first): comparison
        for comparison in compared
        if comparison.won is not None
    }
    couples = ((first, by_place.get((*key[:2], False))) for key, first in by_place.items() if key[2])
    return tuple((first, second) for first, second in couples if second is not None)


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
    return _mean_over_groups(scores, seed)


def _mean_over_groups(scores: Mapping[Hashable, Sequence[float]], seed: int) -> Interval | None:
    """Return the mean of all scores, with an interval over the groups; None without scores."""
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
    return Swaps(len(flipped), int(sum(flipped)), _mean_over_groups(flips, seed))


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


ALPHA = 0.05
MOST_FLIPS = 0.45  # from here on the order decides as often as the answers do
_NORMAL_SUM = 1.96 + 0.84  # quantiles of 5 % error and 80 % power
_MOST_QUESTIONS = 100_000


@dataclass(frozen=True)
class QuestionLengths:
    """A question of a pair: win rate of a, and the words of both answers, each a mean over its judgements."""

    question: str
    won: float
    words: tuple[float, float]


def pair_audits(judgements: Sequence[Judgement], seed: int) -> tuple[PairAudit, ...]:
    """Audit every pair by every criterion of one judge. judgements: that judge's alone."""
    audits = [
        _pair_audit(comparisons(judgements, pair, criterion), judgements[0].judge, criterion, pair, seed)
        for pair in pairs_of(judgements)
        for criterion in criteria_of(judgements, PAIRWISE)
    ]
    corrected = holm([audit.p for audit in audits])
    return tuple(_with_verdict(audit, p) for audit, p in zip(audits, corrected, strict=True))


def _pair_audit(compared: Sequence[Comparison], judge: str, criterion: str, pair: Pair, seed: int) -> PairAudit:
    winners = [comparison.won for comparison in compared]
    scores = list(question_scores(compared).values())
    return PairAudit(
        judge=judge,
        criterion=criterion,
        a=pair[0],
        b=pair[1],
        win_rate=rate(compared, seed),
        shown_first=rate((each for each in compared if each.is_a_first), seed),
        shown_second=rate((each for each in compared if not each.is_a_first), seed),
        first_answer=first_answer_share(compared, seed),
        swaps=swaps([compared], seed),
        wins=winners.count(1.0),
        losses=winners.count(0.0),
        ties=winners.count(0.5),
        unparsed=winners.count(None),
        p=paired_test(scores, [1 - score for score in scores]),
        p_holm=1.0,
        verdict=CANNOT_TELL,
        winner="",
        length=at_equal_length(compared),
        questions_needed=_questions_needed(scores),
    )


def _with_verdict(audit: PairAudit, p_holm: float) -> PairAudit:
    audit = replace(audit, p_holm=p_holm)
    if audit.win_rate is None or p_holm >= ALPHA or (audit.swaps.flip_rate or 0.0) >= MOST_FLIPS:
        return audit
    is_a = audit.win_rate.value > 0.5
    # A person sees a question once, with the sides at random.
    is_balanced = audit.swaps.n or is_human(audit.judge)
    in_both = is_balanced and all(_is_won(interval, is_a) for interval in (audit.shown_first, audit.shown_second))
    return replace(
        audit,
        verdict=WINS if in_both else WINS_WEAKLY,
        winner=audit.a if is_a else audit.b,
        questions_needed=None,
    )


def _is_won(interval: Interval | None, is_a: bool) -> bool:
    return interval is not None and (interval.value > 0.5 if is_a else interval.value < 0.5)


def _questions_needed(scores: Sequence[float]) -> int | None:
    """Estimate how many questions a test would need to tell the two apart, at the difference and spread seen here."""
    if len(scores) < 2 or not (difference := abs(fmean(scores) - 0.5)) or not (spread := pstdev(scores)):
        return None
    needed = math.ceil((_NORMAL_SUM * spread / difference) ** 2)
    return needed if len(scores) < needed <= _MOST_QUESTIONS else None


def question_lengths(compared: Iterable[Comparison]) -> tuple[QuestionLengths, ...]:
    """Return the lengths and the win rate of each question whose answers' lengths are known."""
    known = by_question(comparison for comparison in compared if min(comparison.words) > 0)
    return tuple(
        QuestionLengths(
            question,
            fmean(each.won or 0.0 for each in group),
            (fmean(each.words[0] for each in group), fmean(each.words[1] for each in group)),
        )
        for question, group in known.items()
    )


def at_equal_length(compared: Sequence[Comparison]) -> LengthAdjusted | None:
    """Estimate the win rate of a between answers of the same length; None where lengths are not known."""
    lengths = question_lengths(compared)
    return length_adjusted(
        [each.won for each in lengths], [each.words[0] for each in lengths], [each.words[1] for each in lengths]
    )
