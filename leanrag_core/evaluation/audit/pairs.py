"""Two runs by a judge and a criterion: who wins, how sure that is, and whether it survives the swap."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from leanrag_core.evaluation.audit.comparisons import Comparison, Pair, by_question, comparisons, criteria_of, pairs_of
from leanrag_core.evaluation.audit.records import CANNOT_TELL, WINS, WINS_WEAKLY, PairAudit
from leanrag_core.evaluation.audit.win_rates import first_answer_share, question_scores, rate, swaps
from leanrag_core.evaluation.statistics.intervals import Interval
from leanrag_core.evaluation.statistics.length import LengthAdjusted, length_adjusted
from leanrag_core.evaluation.statistics.rank_tests import holm, paired_test
from leanrag_core.types.experiment import PAIRWISE, Judgement

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


def pair_audits(judgements: Sequence[Judgement], judge: str, seed: int) -> tuple[PairAudit, ...]:
    """Audit every pair by every criterion of one judge. judgements: that judge's alone."""
    audits = [
        _pair_audit(comparisons(judgements, pair, criterion), judge, criterion, pair, seed)
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
    in_both = audit.swaps.n and all(_is_won(interval, is_a) for interval in (audit.shown_first, audit.shown_second))
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
