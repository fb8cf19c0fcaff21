"""Absolute scores of a judge: their spread over repeats, and whether they follow length."""

from collections import defaultdict
from collections.abc import Sequence
from math import isfinite
from statistics import fmean, stdev

from leanrag_core.evaluation.audit.comparisons import criteria_of
from leanrag_core.evaluation.audit.records import ScoreSpread
from leanrag_core.types.experiment import ABSOLUTE, Judgement


def score_spreads(judgements: Sequence[Judgement], judge: str) -> tuple[ScoreSpread, ...]:
    """Return the spread of the judge's scores by criterion. judgements: that judge's alone."""
    return tuple(_spread(judgements, judge, criterion) for criterion in criteria_of(judgements, ABSOLUTE))


def _spread(judgements: Sequence[Judgement], judge: str, criterion: str) -> ScoreSpread:
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)  # by run and question
    words: dict[tuple[str, str], int] = {}
    unparsed = 0
    for judgement in judgements:
        if judgement.kind != ABSOLUTE:
            continue
        score = judgement.verdicts.get(criterion)
        if score is None:
            unparsed += 1
            continue
        answer = judgement.first, judgement.question
        scores[answer].append(score)
        words[answer] = judgement.words[0]
    repeated = [stdev(each) for each in scores.values() if len(each) > 1]
    return ScoreSpread(
        judge=judge,
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
