"""What can be said of a sweep: the best point, those that cannot be told from it, the front, what each axis does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from leanrag_core.evaluation.measuring import written_difference
from leanrag_core.evaluation.statistics import Interval, Scores, differ, difference_interval, mean_interval, pair_tests
from leanrag_core.evaluation.sweeps.points import shown_value
from leanrag_core.evaluation.tables import less_is_better, scores_for_mean
from leanrag_core.figures.pareto import front
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.experiments import StoredSweep
from leanrag_core.types.experiment import ExperimentResult, Parameter, QuestionRow
from leanrag_core.types.sweep import GRID, PointResult, SweepResult


def assembled(id_: str, stored: StoredSweep, experiment: ExperimentResult | None) -> SweepResult:
    """Put the sweep's result together. experiment: that of the sweep, None where it has not begun."""
    record = stored.record
    indexes = {index.folder: index for index in stored.indexes}
    costs = {cost.folder: cost for cost in stored.costs}
    rows: dict[str, dict[str, QuestionRow]] = {point.name: {} for point in record.points}
    for row in experiment.rows if experiment else ():
        rows.setdefault(row.run, {})[row.question] = row
    results = []
    for point in record.points:
        folder, asked = record.folders[point.name], rows[point.name]
        errors = sum(bool(row.error) for row in asked.values())
        scores = _scores(asked, record.questions)
        # A stored record has its keys sorted; figures and titles have the axes in the order of the specification.
        settings = {axis.name: point.settings[axis.name] for axis in stored.spec.axes}
        results.append(
            PointResult(replace(point, settings=settings), indexes.get(folder), costs.get(folder), scores, errors)
        )
    return SweepResult(
        id=id_,
        spec=stored.spec,
        points=tuple(results),
        questions=record.questions,
        kinds=record.kinds,
        is_complete=record.is_complete,
        is_shipped=stored.is_shipped,
        versions=record.versions,
    )


def _scores(rows: dict[str, QuestionRow], questions: tuple[str, ...]) -> dict[str, tuple[float | None, ...]]:
    """Return the scores by measure, each in the order of the questions."""
    measures = sorted({name for row in rows.values() for name in row.scores})
    return {
        name: tuple(rows[question].scores.get(name) if question in rows else None for question in questions)
        for name in measures
    }


_EQUAL = 1e-9  # means that differ by less are equal
_OF_ANOTHER = 0.5  # share of another point's scores that the best has at least


@dataclass(frozen=True)
class PointStanding:
    """A point beside the best one. value, cost: means of the two measures, None where nothing is measured.

    difference: the point's scores minus those of the best point, question by question. p: of the paired rank test
    against the best point, corrected over all pairs of points. is_close: the point cannot be told from the one with the
    best mean. is_best: it has the best mean, and another one can be told from it. is_front: no point has a better value
    at no higher cost.
    """

    name: str
    value: Interval | None
    cost: float | None
    difference: Interval | None = None
    p: float = 1.0
    is_best: bool = False
    is_close: bool = False
    is_front: bool = False


@dataclass(frozen=True)
class ValueStanding:
    """A value of an axis: the mean over all points that have it. p, is_best, is_close: as of a point, among the
    values of the axis."""

    setting: Parameter
    value: Interval | None
    cost: float | None
    p: float = 1.0
    is_best: bool = False
    is_close: bool = False


@dataclass(frozen=True)
class AxisEffect:
    """What an axis does by itself. matters: a value can be told from the best value of the axis."""

    axis: str
    values: tuple[ValueStanding, ...]

    @property
    def matters(self) -> bool:
        """Tell whether a value can be told from the best one."""
        return any(not standing.is_close for standing in self.values)


@dataclass(frozen=True)
class Findings:
    """A sweep by a measure and a cost, over the questions of a kind, "" for all.

    best: name of the point with the best mean, the cheaper of equal ones, "" where nothing is measured. is_level: every
    point has the same score on every question, so that no setting moves the measure. n_without_score: questions that no
    point has a score of, such as those without gold. cheapest: of the points that cannot be told from the best, the one
    with the least cost.
    """

    measure: str
    cost: str
    kind: str
    n_questions: int
    points: tuple[PointStanding, ...]
    axes: tuple[AxisEffect, ...]
    best: str
    cheapest: str
    is_level: bool = False
    n_without_score: int = 0

    def at(self, name: str) -> PointStanding:
        """Return the point of that name. Raises KeyError."""
        return {standing.name: standing for standing in self.points}[name]

    @property
    def close(self) -> tuple[str, ...]:
        """Return the names of the points that cannot be told from the best, the best among them."""
        return tuple(standing.name for standing in self.points if standing.is_close)

    @property
    def tells(self) -> bool:
        """Tell whether a point can be told from the one with the best mean: else none is best."""
        return len(self.close) < len(self.points)


def findings(result: SweepResult, measure: str = "", *, kind: str = "") -> Findings:
    """Sum up what the sweep shows. measure: that of its specification by default. Points that have not run are
    left out."""
    measure, cost = measure or result.spec.measure, result.spec.cost
    places = [place for place, question_kind in enumerate(result.kinds) if not kind or question_kind == kind]
    run_points = [point for point in result.points if point.scores]
    names = [point.point.name for point in run_points]
    values = [_at(point, measure, places) for point in run_points]
    costs = [_mean(_at(point, cost, places)) for point in run_points]
    less, seed = less_is_better(measure), result.spec.seed
    best = _best(values, costs, less)
    p_values = _tests(values, best)
    points = _fronted(
        [
            PointStanding(
                name,
                mean_interval(scores, seed),
                mean_cost,
                None if best is None else difference_interval(scores, values[best], seed),
                p,
                place == best and any(map(differ, p_values)),
                best is not None and not differ(p),
            )
            for place, (name, scores, mean_cost, p) in enumerate(zip(names, values, costs, p_values, strict=True))
        ],
        less,
    )
    close = [(standing.cost, place) for place, standing in enumerate(points) if standing.is_close and standing.cost]
    return Findings(
        measure,
        cost,
        kind,
        len(places),
        points,
        _axes(result, measure, cost, places, less) if result.is_complete and result.spec.sampler == GRID else (),
        "" if best is None else names[best],
        points[min(close)[1]].name if close else "",
        best is not None and len(values) > 1 and all(_same(scores, values[0]) for scores in values),
        sum(not any(score is not None for score in row) for row in zip(*values, strict=True)),
    )


def _axes(result: SweepResult, measure: str, cost: str, places: Sequence[int], less: bool) -> tuple[AxisEffect, ...]:
    """Return the effect of each axis of a grid: between the values of an axis, its points have the same other
    settings."""
    effects = []
    for axis in result.spec.axes:
        values, costs = [], []
        for setting in axis.values:
            having = [point for point in result.points if point.point.settings[axis.name] == setting]
            columns = [_at(point, measure, places) for point in having]
            values.append([_mean(scores) for scores in zip(*columns, strict=True)])
            costs.append(_mean([_mean(_at(point, cost, places)) for point in having]))
        best = _best(values, costs, less)
        p_values = _tests(values, best)
        standings = tuple(
            ValueStanding(
                setting,
                mean_interval(scores, result.spec.seed),
                mean_cost,
                p,
                place == best and any(map(differ, p_values)),
                best is not None and not differ(p),
            )
            for place, (setting, scores, mean_cost, p) in enumerate(
                zip(axis.values, values, costs, p_values, strict=True)
            )
        )
        effects.append(AxisEffect(axis.name, standings))
    return tuple(effects)


def _at(point: PointResult, measure: str, places: Sequence[int]) -> tuple[float | None, ...]:
    """Return the scores of the questions at these places whose mean is the measure's figure."""

    def scores(name: str) -> list[float | None]:
        known = point.scores.get(name, ())
        return [known[place] for place in places] if known else [None] * len(places)

    return scores_for_mean(measure, scores)


def _mean(scores: Scores) -> float | None:
    known = [score for score in scores if score is not None]
    return fmean(known) if known else None


def _best(values: Sequence[Scores], costs: Sequence[float | None], less: bool) -> int | None:
    """Return the place of the best mean; of equal ones the cheapest, then the first. A point with less than half as
    many scores as another has only begun, and is not the best."""
    counts = [sum(score is not None for score in scores) for scores in values]
    enough = _OF_ANOTHER * max(counts, default=0)
    means = [_mean(scores) if count >= enough else None for scores, count in zip(values, counts, strict=True)]
    known = [(-mean if less else mean) for mean in means if mean is not None]
    if not known:
        return None
    ranked = [
        (float("inf") if costs[place] is None else costs[place], place)
        for place, mean in enumerate(means)
        if mean is not None and (-mean if less else mean) >= max(known) - _EQUAL
    ]
    return min(ranked)[1]


def _tests(values: Sequence[Scores], best: int | None) -> list[float]:
    """Return the p of each against the best; 1 for the best itself."""
    if best is None:
        return [1.0] * len(values)
    p_values = pair_tests({str(place): scores for place, scores in enumerate(values)})
    pairs = [(str(min(place, best)), str(max(place, best))) for place in range(len(values))]
    return [p_values.get(pair, 1.0) for pair in pairs]


def _same(scores: Scores, others: Scores) -> bool:
    return all(
        score == other or (score is not None and other is not None and abs(score - other) <= _EQUAL)
        for score, other in zip(scores, others, strict=True)
    )


def _fronted(points: Sequence[PointStanding], less: bool) -> tuple[PointStanding, ...]:
    known = [
        (standing.cost, -standing.value.value if less else standing.value.value, place)
        for place, standing in enumerate(points)
        if standing.cost is not None and standing.value is not None
    ]
    on_front = {known[place][2] for place in front([(cost, value) for cost, value, _ in known])}
    return tuple(replace(standing, is_front=place in on_front) for place, standing in enumerate(points))


def headline(findings: Findings) -> tuple[Message, ...]:
    """Say what each axis does by itself, how many points cannot be told from the best, and what the cheapest of them
    saves."""
    if not findings.best:
        return (message("sweep.headline.nothing"),)
    without = findings.n_without_score
    left_out = [message("grounds.without_gold", n=without, all=findings.n_questions)] if without else []
    if findings.is_level:
        return (_least_read(findings), *left_out)
    best, cheapest = findings.at(findings.best), findings.at(findings.cheapest or findings.best)
    sentences = [_of_axis(effect) for effect in findings.axes]
    code = "sweep.headline.close" if findings.tells else "sweep.headline.none"
    sentences.append(message(code, n=len(findings.close), all=len(findings.points), best=best.name))
    if cheapest.name != best.name and best.cost is not None and cheapest.cost is not None and cheapest.difference:
        saved = best.cost - cheapest.cost
        lost = written_difference(findings.measure, abs(cheapest.difference.value))
        # One that rounds to nothing is written without a sign.
        code = "sweep.headline.saves" if lost.startswith("+") else "sweep.headline.saves_free"
        sentences.append(message(code, cheapest=cheapest.name, saved=saved, lost=lost.removeprefix("+")))
    return (*sentences, *left_out)


def _least_read(findings: Findings) -> Message:
    """Say which point reads least, where all find the same."""
    costs = [(standing.cost, standing.name) for standing in findings.points if standing.cost is not None]
    (least, cheapest), (most, dearest) = min(costs, default=(0.0, "")), max(costs, default=(0.0, ""))
    if round(least) == round(most):
        return message("sweep.headline.level", all=len(findings.points))
    return message(
        "sweep.headline.level_cheapest",
        all=len(findings.points),
        cheapest=cheapest,
        least=least,
        dearest=dearest,
        most=most,
    )


def _of_axis(effect: AxisEffect) -> Message:
    if not effect.matters:
        return message("sweep.headline.axis_equal", axis=effect.axis)
    close = [shown_value(standing.setting) for standing in effect.values if standing.is_close]
    return message("sweep.headline.axis_best", axis=effect.axis, values=", ".join(close), n=len(close))
