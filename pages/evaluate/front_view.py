"""The runs of an experiment by what their context costs and what it brings: recall against tokens."""

from collections.abc import Mapping, Sequence

from leanrag_core.evaluation.tables import RECALL, TOKENS, Cell, ScoreTable
from leanrag_core.figures import numbers
from leanrag_core.figures.pareto import CostAxis, ParetoPoint, front, pareto
from pages.common.messages import say
from pages.evaluate import figure_view, measure_words

_WIDTHS = (320, 430, 560)


def show(table: ScoreTable, chosen: str) -> None:
    """The figure; nothing where the table lacks tokens or recall. chosen: the run that is drawn with its interval."""
    points = points_of(table, chosen)
    if len(points) < 2:
        return
    figure_view.title(say("evaluate.front"), say("evaluate.front_note"))
    label = say("evaluate.front_label")
    drawings = [
        pareto(
            points,
            width=width,
            label=label,
            cost=CostAxis(say("evaluate.front_tokens"), lambda value: f"{value:,.0f}"),
            value_tick=numbers.score,
            off_scale=say("evaluate.off_scale"),
        )
        for width in _WIDTHS
    ]
    head = (
        say("evaluate.run"),
        measure_words.title_of(TOKENS),
        measure_words.title_of(RECALL),
        say("evaluate.on_front"),
    )
    rows = [
        (point.name, f"{point.cost:,.0f}", numbers.score(point.value), say("evaluate.yes") if point.is_front else "")
        for point in sorted(points, key=lambda point: point.cost)
    ]
    figure_view.show(drawings, head, rows, key="evaluate_front")


def points_of(table: ScoreTable, chosen: str) -> list[ParetoPoint]:
    """The runs that have both figures; those that no other one beats are the front."""
    known = [(row.run.name, row.cells) for row in table.rows if _value(row.cells, TOKENS) and _value(row.cells, RECALL)]
    pairs: Sequence[tuple[float, float]] = [
        (float(_value(cells, TOKENS) or 0.0), float(_value(cells, RECALL) or 0.0)) for _, cells in known
    ]
    best = set(front(pairs))
    points = []
    for place, (name, cells) in enumerate(known):
        cost, value = pairs[place]
        interval = cells[RECALL].interval
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        shown = say("evaluate.front_point", run=name, recall=numbers.score(value), tokens=f"{cost:,.0f}")
        points.append(ParetoPoint(name, cost, value, low, high, place in best, name == chosen, shown))
    return points


def _value(cells: Mapping[str, Cell], measure: str) -> float | None:
    cell = cells.get(measure)
    return None if cell is None or cell.interval is None else cell.interval.value
