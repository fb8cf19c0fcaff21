"""The charts of a sweep: a heat map of two settings, recall against cost, all runs over parallel axes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.evaluation.sweeps.findings import Findings, PointStanding
from leanrag_core.evaluation.sweeps.points import shown_value
from leanrag_core.figures.pareto import CostAxis, ParetoPoint, pareto
from leanrag_core.figures.sweep_charts import HeatAxis, HeatCell, ParallelAxis, ParallelRun, heat_map, parallel
from leanrag_core.types.sweep import Axis, PointResult, SweepResult
from pages.common.messages import say
from pages.evaluate import figure_view, measure_words

_MAP_WIDTHS = (330, 430, 520)
_FRONT_WIDTHS = (330, 480, 600)
_PARALLEL_WIDTHS = (360, 560, 760)
_LAYERS, _BUILD = "layers", "build-seconds"


@dataclass(frozen=True)
class Marks:
    """The point that is shown, the selected points, and the callbacks of a click and of a box."""

    chosen: str
    selected: tuple[str, ...]
    picked: Callable[[str], None]
    brushed: Callable[[tuple[str, ...]], None]


def short_name(result: PointResult, axes: Sequence[Axis]) -> str:
    """Return the settings of a point alone, such as "20 / 3"."""
    return " / ".join(shown_value(result.point.settings[axis.name]) for axis in axes)


def heat(sweep: SweepResult, shown: Findings, colour: str, marks: Marks) -> bool:
    """Draw the heat map of the first two axes, with the chosen point's values of all others; tell whether there is
    one."""
    axes = [axis for axis in sweep.spec.axes if axis.values][:2]
    at = sweep.at(marks.chosen)
    if not axes or at is None:
        return False
    rest = [axis.name for axis in sweep.spec.axes if axis.name not in {each.name for each in axes}]
    standings = {standing.name: standing for standing in shown.points}
    cells = []
    for point in sweep.points:
        settings = point.point.settings
        if all(settings[name] == at.point.settings[name] for name in rest):
            cells.append(_cell(point, standings.get(point.point.name), axes, marks, colour, shown))
    sides = [HeatAxis(measure_words.axis_title(axis.name), [*map(shown_value, axis.values)]) for axis in axes[:2]]
    rows, columns = sides if len(sides) > 1 else (sides[0], HeatAxis("", [""]))
    title = measure_words.title_of(colour)
    label = say("evaluate.sweep.heat_label", measure=title)
    drawings = [
        heat_map(cells, rows, columns, width=width, label=label, less_is_better=measure_words.less_is_better(colour))
        for width in _MAP_WIDTHS
    ]
    head = (say("evaluate.sweep.setting"), title, measure_words.title_of(shown.cost), say("evaluate.sweep.close"))
    table = [
        (f"{cell.row} / {cell.column}", cell.shown, cell.note, say("evaluate.yes") if cell.is_close else "")
        for cell in cells
    ]
    note = say("evaluate.sweep.heat_note", measure=measure_words.title_of(shown.cost))
    figure_view.title(say("evaluate.sweep.heat", measure=title), note)
    figure_view.show(drawings, head, table, key="sweep_heat", picked=marks.picked, brushed=marks.brushed)
    return True


def _cell(
    point: PointResult, standing: PointStanding | None, axes: Sequence[Axis], marks: Marks, colour: str, shown: Findings
) -> HeatCell:
    settings, name = point.point.settings, point.point.name
    value = measure_words.mean_of(point, colour)
    cost = None if standing is None else standing.cost
    return HeatCell(
        row=shown_value(settings[axes[0].name]),
        column=shown_value(settings[axes[1].name]) if len(axes) > 1 else "",
        value=value,
        shown=measure_words.shown(colour, value),
        note=measure_words.shown(shown.cost, cost) if colour != shown.cost else "",
        is_best=standing is not None and standing.is_best,
        is_close=standing is not None and standing.is_close and not standing.is_best,
        is_chosen=name == marks.chosen,
        pick=name,
        is_off=bool(marks.selected) and name not in marks.selected,
    )


def front(sweep: SweepResult, shown: Findings, marks: Marks) -> None:
    """Draw the measure against the cost, with the front and the interval of the chosen point."""
    results = {result.point.name: result for result in sweep.points}
    points = [
        ParetoPoint(
            short_name(results[standing.name], sweep.spec.axes),
            standing.cost,
            standing.value.value,
            standing.value.low,
            standing.value.high,
            standing.is_front,
            standing.name == marks.chosen,
            _point_words(results[standing.name], standing, shown),
            standing.name,
            standing.name in marks.selected,
        )
        for standing in shown.points
        if standing.value is not None and standing.cost is not None
    ]
    if len(points) < 2:
        return
    measure, cost = measure_words.title_of(shown.measure), measure_words.title_of(shown.cost)
    settings = " / ".join(measure_words.axis_title(axis.name) for axis in sweep.spec.axes)
    figure_view.title(
        say("evaluate.sweep.front", measure=measure, cost=cost), say("evaluate.sweep.front_note", settings=settings)
    )
    label = say("evaluate.sweep.front_label", measure=measure, cost=cost)
    drawings = [
        pareto(
            points,
            width=width,
            label=label,
            cost=CostAxis(cost, lambda value: measure_words.shown(shown.cost, value)),
            value_tick=lambda value: measure_words.shown(shown.measure, value),
        ).with_selected(marks.selected)
        for width in _FRONT_WIDTHS
    ]
    head = (say("evaluate.sweep.setting"), measure, cost, say("evaluate.on_front"))
    table = [
        (
            point.name,
            measure_words.shown(shown.measure, point.value),
            measure_words.shown(shown.cost, point.cost),
            say("evaluate.yes") if point.is_front else "",
        )
        for point in points
    ]
    figure_view.show(drawings, head, table, key="sweep_front", picked=marks.picked, brushed=marks.brushed)


def _point_words(result: PointResult, standing: PointStanding, shown: Findings) -> str:
    value = None if standing.value is None else standing.value.value
    return say(
        "evaluate.sweep.point",
        point=measure_words.point_title(result.point),
        value=measure_words.shown(shown.measure, value),
        cost=measure_words.shown(shown.cost, standing.cost),
    )


def lines(sweep: SweepResult, shown: Findings, keep: float | None, marks: Marks) -> tuple[int, int]:
    """Draw all points over parallel axes. The selected ones are in colour; without a selection those whose measure is
    at least `keep`. Return how many are at least `keep`, and how many there are."""
    columns = _columns(sweep, shown)
    kept_axis = list(columns).index(shown.measure)
    runs, n_kept = [], 0
    for place, point in enumerate(result.point for result in sweep.points):
        values = tuple(column[place] for column in columns.values())
        score = values[kept_axis]
        is_kept = keep is not None and score is not None and score >= keep
        n_kept += is_kept
        in_colour = point.name in marks.selected if marks.selected else is_kept
        title, is_chosen = measure_words.point_title(point), point.name == marks.chosen
        runs.append(ParallelRun(title, values, in_colour, is_chosen=is_chosen, pick=point.name))
    axes = [_axis(name, values, keep if name == shown.measure else None) for name, values in columns.items()]
    label = say("evaluate.sweep.lines_label")
    drawn = [parallel(axes, runs, width=width, label=label) for width in _PARALLEL_WIDTHS]
    drawings = [drawing.with_selected(marks.selected) for drawing in drawn]
    head = (say("evaluate.sweep.setting"), *(axis.title for axis in axes))
    table = [
        (
            run.name,
            *("–" if value is None else _written(name, value) for name, value in zip(columns, run.values, strict=True)),
        )
        for run in runs
    ]
    figure_view.show(drawings, head, table, key="sweep_lines", picked=marks.picked, brushed=marks.brushed)
    return n_kept, len(runs)


def _columns(sweep: SweepResult, shown: Findings) -> Mapping[str, list[float | None]]:
    """Return settings and results by name, one number per point. A setting that is no number counts by its position."""
    columns: dict[str, list[float | None]] = {}
    for axis in sweep.spec.axes:
        values = [result.point.settings[axis.name] for result in sweep.points]
        order = list(dict.fromkeys(axis.values or values))
        columns[axis.name] = [measure_words.number(value, order) for value in values]
    columns[_LAYERS] = [None if result.index is None else float(result.index.layers) for result in sweep.points]
    columns[shown.cost] = [measure_words.mean_of(result, shown.cost) for result in sweep.points]
    columns[shown.measure] = [measure_words.mean_of(result, shown.measure) for result in sweep.points]
    columns[_BUILD] = [None if result.build is None else result.build.seconds for result in sweep.points]
    return {name: values for name, values in columns.items() if any(value is not None for value in values)}


def _axis(name: str, values: Sequence[float | None], keep: float | None) -> ParallelAxis:
    known = [value for value in values if value is not None]
    low, high = min(known), max(known)
    kept = None if keep is None else (max(low, min(keep, high)), high)
    return ParallelAxis(measure_words.axis_title(name), low, high, _written(name, low), _written(name, high), kept)


def _written(name: str, value: float) -> str:
    if name in (_LAYERS, _BUILD) or not measure_words.is_measure(name):
        return f"{value:,.1f}".removesuffix(".0")
    return measure_words.shown(name, value)
