"""Scores over other scores: relative to a baseline's, question by question, and ratios of the means of two measures."""

from collections.abc import Callable, Sequence
from statistics import fmean

from leanrag_core.evaluation.base import Mean, Outcome, Ratio, info_of, measure_infos, measures

_PLACES = 12  # of scores, so that the order of a sum decides no tie


def relative(scores: Sequence[float | None], baseline: Sequence[float | None]) -> tuple[float | None, ...]:
    """Divide each score by the baseline's of the same question, as in relative context tokens.

    None where either is unknown or the baseline's is 0. Raises ValueError where the two differ in length.
    """
    pairs = zip(scores, baseline, strict=True)
    return tuple(ours / theirs if ours is not None and theirs else None for ours, theirs in pairs)


def scores_for_mean(measure: str, scores: Callable[[str], Sequence[float | None]]) -> tuple[float | None, ...]:
    """Return the scores, question by question, whose mean is the figure of the measure. scores: of a measure, by its
    name.

    These are the measure's own scores, but where it declares a ratio: a mean of ratios would be decided by the question
    with the fewest tokens.
    """
    ratio = next((info.ratio for info in measure_infos() if info.name == measure), None)
    if ratio is None:
        return tuple(scores(measure))
    over, under = scores(ratio.over), scores(ratio.under)
    return ratio_scores(ratio, over, under) if over and under else ()


def ratio_scores(ratio: Ratio, over: Sequence[float | None], under: Sequence[float | None]) -> tuple[float | None, ...]:
    """Spread the ratio R of the means of over and under over the questions: R + (over - R under) / mean(under).

    Their mean is R, and the spread of their mean is that of R to first order, so that bootstraps and paired tests apply
    as to any score. None where either is unknown, and everywhere if the mean of under is 0.
    Source: Budylin et al., Consistent Transformation of Ratio Metrics (2018).
    """
    pairs = list(zip(over, under, strict=True))
    known = [(top, bottom) for top, bottom in pairs if top is not None and bottom is not None]
    mean_under = fmean(bottom for _, bottom in known) if known else 0.0
    if not mean_under:
        return (None,) * len(pairs)
    of_means = fmean(top for top, _ in known) / mean_under
    return tuple(
        None
        if top is None or bottom is None
        else round(ratio.scale * (of_means + (top - of_means * bottom) / mean_under), _PLACES)
        for top, bottom in pairs
    )


def means(outcomes: Sequence[Outcome], *, only_main: bool = False) -> tuple[Mean, ...]:
    """Return the mean of each measure over the outcomes."""
    chosen = {measure.name: measure for measure in measures()}
    table = []
    for name, measure in chosen.items():
        if only_main and not info_of(measure).is_main:
            continue
        scores = scores_for_mean(name, lambda of: [chosen[of].score(outcome) for outcome in outcomes])
        known = [score for score in scores if score is not None]
        table.append(Mean(name, measure.title, fmean(known) if known else None, len(known)))
    return tuple(table)
