"""What experiments of the store measured of a presentation's strategies, on the very index that it shows."""

from collections.abc import Mapping, Sequence

from leanrag_core.evaluation.relative import relative
from leanrag_core.evaluation.statistics.intervals import Interval, difference_interval, mean_interval
from leanrag_core.evaluation.tables import RECALL, TOKENS, questions_of, scores_of
from leanrag_core.presenting.story import Estimate, Measured, PresentedStrategy
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import all_settings
from leanrag_core.types.experiment import ExperimentResult, RunSpec

_DIGITS = 6


def measured(
    results: Sequence[ExperimentResult], index_id: str, strategies: Sequence[PresentedStrategy]
) -> tuple[Measured, ...]:
    """Of each strategy beside the first, the first complete experiment that ran both with these options on that index.

    index_id: the index's own, which an experiment records: an index that was built otherwise has another.
    """
    return tuple(
        first
        for place, beside in enumerate(strategies[1:], start=1)
        if (first := _first(results, index_id, strategies[0], beside, place)) is not None
    )


def _first(
    results: Sequence[ExperimentResult], index_id: str, first: PresentedStrategy, beside: PresentedStrategy, place: int
) -> Measured | None:
    for result in results:
        ours, theirs = (_run(result, index_id, strategy) for strategy in (first, beside))
        if result.is_complete and ours is not None and theirs is not None:
            return _measured(result, ours.name, theirs.name, place)
    return None


def _run(result: ExperimentResult, index_id: str, strategy: PresentedStrategy) -> RunSpec | None:
    return next((run for run in result.spec.runs if _is_same(result.versions, run, index_id, strategy)), None)


def _is_same(versions: Mapping[str, str], run: RunSpec, index_id: str, strategy: PresentedStrategy) -> bool:
    if versions.get(f"index {run.index}") != index_id or run.strategy != strategy.name:
        return False
    info = strategies().named(strategy.name)
    return all_settings(info, run.options) == all_settings(info, strategy.options)


def _measured(result: ExperimentResult, ours: str, theirs: str, place: int) -> Measured | None:
    questions = questions_of(result)
    tokens = scores_of(result, TOKENS, questions)
    ratio = mean_interval(relative(tokens[ours], tokens[theirs]), result.spec.seed)
    if ratio is None:
        return None
    recall = scores_of(result, RECALL, questions)
    return Measured(
        experiment=result.spec.title,
        beside=place,
        questions=len(questions),
        tokens=_estimate(ratio),
        recall=_known(mean_interval(recall[ours], result.spec.seed)),
        recall_beside=_known(mean_interval(recall[theirs], result.spec.seed)),
        difference=_known(difference_interval(recall[ours], recall[theirs], result.spec.seed)),
    )


def _known(interval: Interval | None) -> Estimate | None:
    return None if interval is None else _estimate(interval)


def _estimate(interval: Interval) -> Estimate:
    low, high = (None if bound is None else round(bound, _DIGITS) for bound in (interval.low, interval.high))
    return Estimate(round(interval.value, _DIGITS), low, high, interval.n)
