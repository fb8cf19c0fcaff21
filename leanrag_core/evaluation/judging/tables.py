"""Judgements added up for tables: win rates, mean scores, grades."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import numpy as np

from leanrag_core.evaluation.audit.comparisons import (
    Comparison,
    at_equal_length,
    by_judge,
    comparisons,
    criteria_of,
    pairs_of,
    question_scores,
    rate,
)
from leanrag_core.evaluation.statistics import LEVEL, Interval, LengthAdjusted, holm, mean_interval, paired_test
from leanrag_core.types.experiment import ABSOLUTE, GRADED, PAIRWISE, Judgement, is_human


def scores_at_equal_length(judgements: Sequence[Judgement], criterion: str) -> Mapping[str, Interval]:
    """Estimate the score of each run at the geometric mean length of all the answers; empty for lengths that are not
    known or do not differ within a run, and for fewer than two questions.

    judgements: of one judge, absolute. Least squares of the score on the run and the logarithm of the words, errors
    clustered by question. A run without a score has no entry.
    """
    points = _points(judgements, criterion)
    runs = tuple(dict.fromkeys(run for run, _ in points))
    questions = tuple(dict.fromkeys(question for _, question in points))
    lengths = np.array([length for _, length in points.values()])
    if len(questions) < 2 or len(points) < len(runs) + 2 or not _differ_within(points, runs):
        return {}
    from statsmodels.regression.linear_model import OLS

    places = [runs.index(run) for run, _ in points]
    columns = np.column_stack([np.eye(len(runs))[places], lengths - lengths.mean()])
    groups = [questions.index(question) for _, question in points]
    scores = np.array([score for score, _ in points.values()])
    fit = OLS(scores, columns).fit(cov_type="cluster", cov_kwds={"groups": groups})
    bounds = fit.conf_int(1 - LEVEL)
    counts = [places.count(place) for place in range(len(runs))]
    return {
        run: Interval(float(fit.params[row]), float(bounds[row][0]), float(bounds[row][1]), counts[row])
        for row, run in enumerate(runs)
    }


_Points = Mapping[tuple[str, str], tuple[float, float]]  # by run and question: the mean score, log2 of the words


def _points(judgements: Sequence[Judgement], criterion: str) -> _Points:
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    words: dict[tuple[str, str], int] = {}
    for judgement in judgements:
        score = judgement.verdicts.get(criterion)
        if score is not None and judgement.words[0]:
            scores[judgement.first, judgement.question].append(score)
            words[judgement.first, judgement.question] = judgement.words[0]
    return {key: (fmean(values), math.log2(words[key])) for key, values in scores.items()}


def _differ_within(points: _Points, runs: Sequence[str]) -> bool:
    """Return whether the lengths of any run's answers differ: where only runs differ, length and run are the same."""
    return any(len({length for (run, _), (_, length) in points.items() if run == name}) > 1 for name in runs)


@dataclass(frozen=True)
class WinRate:
    """How often a wins over b by the judge and the criterion, ties half; n of win_rate counts questions.

    by_question: win rate of a on each question, over orders and repeats. p_holm: corrected for the judge's pairs and
    criteria. unparsed: judgements that are counted nowhere. words: mean length of the answers of a and b, and length:
    the win rate between answers of the same length; None where lengths are not known.
    """

    judge: str
    criterion: str
    a: str
    b: str
    win_rate: Interval | None
    by_question: Mapping[str, float]
    p_holm: float
    unparsed: int
    words: tuple[float, float] | None = None
    length: LengthAdjusted | None = None


@dataclass(frozen=True)
class MeanScore:
    """A run's mean score (or share, of GRADED) by the judge and the criterion, with its interval over questions.

    spread: standard deviation of the run's mean over the repeats, as the paper's Table 1 gives it; None for one repeat.
    by_question: the mean over repeats of each question. words: mean length of the answers; equal_length: the score at
    the mean length of all the judge's answers; None where lengths are not known, or do not differ.
    """

    judge: str
    criterion: str
    run: str
    mean: Interval | None
    spread: float | None
    by_question: Mapping[str, float]
    unparsed: int
    words: float | None = None
    equal_length: Interval | None = None


def win_rates(judgements: Iterable[Judgement], seed: int = 0, order: Sequence[str] = ()) -> tuple[WinRate, ...]:
    """Return the win rates by judge, pair and criterion, in the order in which they come.

    order: of runs, of which the earlier one is a where persons judged, who saw them in a drawn order; a judge's pair is
    as it was compared first.
    """
    return tuple(
        row
        for judge, each in by_judge(judgements).items()
        for row in _win_rates(each, seed, order if is_human(judge) else ())
    )


def _win_rates(judgements: Sequence[Judgement], seed: int, order: Sequence[str]) -> tuple[WinRate, ...]:
    pairs = [pair[::-1] if _is_turned(pair, order) else pair for pair in pairs_of(judgements)]
    keys = [(pair, name) for pair in pairs for name in criteria_of(judgements, PAIRWISE)]
    compared = [comparisons(judgements, pair, name) for pair, name in keys]
    scores = [dict(question_scores(each)) for each in compared]
    tests = holm([paired_test(list(each.values()), [1 - score for score in each.values()]) for each in scores])
    return tuple(
        WinRate(
            judge=judgements[0].judge,
            criterion=name,
            a=a,
            b=b,
            win_rate=rate(each, seed),
            by_question=by_question,
            p_holm=p,
            unparsed=sum(comparison.won is None for comparison in each),
            words=_mean_words(each),
            length=at_equal_length(each),
        )
        for ((a, b), name), each, by_question, p in zip(keys, compared, scores, tests, strict=True)
    )


def _is_turned(pair: tuple[str, str], order: Sequence[str]) -> bool:
    return pair[0] in order and pair[1] in order and order.index(pair[0]) > order.index(pair[1])


def _mean_words(compared: Sequence[Comparison]) -> tuple[float, float] | None:
    known = [comparison.words for comparison in compared if min(comparison.words) > 0]
    return (fmean(a for a, _ in known), fmean(b for _, b in known)) if known else None


def mean_scores(judgements: Iterable[Judgement], kind: str = ABSOLUTE, seed: int = 0) -> tuple[MeanScore, ...]:
    """Return the mean scores by judge, run and criterion, in the order in which they come. kind: ABSOLUTE or GRADED."""
    of_kind = by_judge(judgement for judgement in judgements if judgement.kind == kind)
    return tuple(row for each in of_kind.values() for row in _mean_scores(each, seed))


def _mean_scores(judgements: Sequence[Judgement], seed: int) -> tuple[MeanScore, ...]:
    criteria = criteria_of(judgements, judgements[0].kind)
    equal = {criterion: scores_at_equal_length(judgements, criterion) for criterion in criteria}
    runs = dict.fromkeys(each.first for each in judgements)
    by_run = {run: [each for each in judgements if each.first == run] for run in runs}
    return tuple(
        replace(_mean_score(by_run[run], criterion, seed), equal_length=equal[criterion].get(run))
        for run in runs
        for criterion in criteria
    )


def grades(judgements: Iterable[Judgement], seed: int = 0) -> tuple[MeanScore, ...]:
    """Return the share of answers that are right, wrong and declined, by judge and run."""
    return mean_scores(judgements, GRADED, seed)


def _mean_score(judgements: Sequence[Judgement], criterion: str, seed: int) -> MeanScore:
    by_question: dict[str, list[float]] = defaultdict(list)
    by_repeat: dict[int, list[float]] = defaultdict(list)
    unparsed = 0
    for judgement in judgements:
        score = judgement.verdicts.get(criterion)
        if score is None:
            unparsed += 1
            continue
        by_question[judgement.question].append(score)
        by_repeat[judgement.repeat].append(score)
    means = {question: fmean(scores) for question, scores in by_question.items()}
    words = [judgement.words[0] for judgement in judgements if judgement.words[0]]
    repeats = [fmean(scores) for scores in by_repeat.values()]
    return MeanScore(
        judge=judgements[0].judge,
        criterion=criterion,
        run=judgements[0].first,
        mean=mean_interval(list(means.values()), seed),
        spread=stdev(repeats) if len(repeats) > 1 else None,
        by_question=means,
        unparsed=unparsed,
        words=fmean(words) if words else None,
    )
