"""Absolute scores at equal length: what a run would score if its answers were as long as those of all runs together."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from leanrag_core.evaluation.statistics.intervals import LEVEL, Interval
from leanrag_core.types.experiment import Judgement


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
