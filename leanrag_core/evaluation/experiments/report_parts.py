"""Tables of the HTML file of an experiment: scores with intervals, differences by kind."""

from collections.abc import Iterable

from markupsafe import Markup

from leanrag_core.evaluation.base import measure_infos
from leanrag_core.evaluation.experiments.report_writing import Writing
from leanrag_core.evaluation.grounds import grounds
from leanrag_core.evaluation.statistics.intervals import Interval
from leanrag_core.evaluation.tables import RECALL, RELATIVE, TOKENS, Cell, KindDifference, measured, pays, score_table
from leanrag_core.figures.cell_marks import CellScale, Estimate, column_scale
from leanrag_core.figures.html import html, joined
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.experiment import ExperimentResult

_LARGE = 10.0  # figures from there on are shown without decimals


def score_part(write: Writing, result: ExperimentResult, kind: str) -> Markup:
    """Write the score table of a kind of questions, of all for ""."""
    table = score_table(result, kind)
    titles = {info.name: write.say(info.title) for info in measure_infos()}
    titles[RELATIVE] = write.say("measure.relative-context.title")
    heads = [write.say("experiment.file.run"), *(titles[measure] for measure in table.measures)]
    scales = {
        measure: column_scale(_estimates(row.cells[measure].interval for row in table.rows))
        for measure in table.measures
    }
    lines = []
    for row in table.rows:
        cells = [_cell(write, row.cells[measure], scales[measure]) for measure in table.measures]
        latency = "–" if row.latency_ms is None else f"{row.latency_ms:,.0f} ms"
        lines.append(
            html(
                '<tr><td>{}<div class="mute">{}</div></td>{}<td>{}</td></tr>',
                row.run.name,
                write.say(settings_words(row.run.strategy, row.run.options)),
                joined(cells),
                latency,
            )
        )
    leading = RECALL if RECALL in table.measures else table.measures[0]
    said = grounds(result, [row.run.name for row in table.rows], leading, kind) if table.measures else ()
    heading = write.say("experiment.file.kind", kind=kind) if kind else write.say("experiment.file.all_questions")
    return html(
        '<h2>{}</h2><p class="mute">{}</p><div class="wide"><table>{}{}</table></div><p class="mute">{}</p>',
        heading,
        " ".join((write.say("experiment.file.n_questions", n=table.questions), *map(write.say, said))),
        write.row([*heads, write.say("experiment.file.latency")], "th"),
        joined(lines),
        write.say("experiment.file.letters"),
    )


def _estimates(intervals: Iterable[Interval | None]) -> list[Estimate]:
    return [_estimate(interval) for interval in intervals if interval is not None]


def _estimate(interval: Interval) -> Estimate:
    return Estimate(interval.value, interval.low, interval.high)


def _cell(write: Writing, cell: Cell, scale: CellScale) -> Markup:
    if cell.interval is None:
        return Markup("<td>–</td>")
    mark = scale.mark(_estimate(cell.interval))
    return html(
        '<td class="{}" title="{}">{}<sup>{}</sup><span class="cell"><i style="left:{}%;width:{}%"></i>'
        '<b style="left:{}%"></b></span></td>',
        "best" if cell.is_best else "",
        bounds(cell.interval),
        number(cell.interval.value),
        cell.letters,
        mark.left,
        mark.width,
        mark.dot,
    )


def pays_part(write: Writing, result: ExperimentResult) -> Markup:
    """Write the differences of each run from the baseline, by kind of question; nothing without a baseline or without
    gold."""
    baseline, others = result.spec.baseline, [run.name for run in result.spec.runs if run.name != result.spec.baseline]
    have = measured(result, only_main=False)
    measure = RECALL if RECALL in have else TOKENS
    if not baseline or measure not in have:
        return Markup("")
    differences = pays(result, others, baseline, measure)
    kinds = [each.kind for each in next(iter(differences.values()), ())]
    heads = [kind or write.say("experiment.file.all_questions") for kind in kinds]
    lines = [write.row([other, *(_difference(each) for each in by_kind)]) for other, by_kind in differences.items()]
    title = next(write.say(info.title) for info in measure_infos() if info.name == measure)
    return html(
        '<h2>{}</h2><p class="mute">{}</p><div class="wide"><table>{}{}</table></div>',
        write.say("experiment.file.pays"),
        write.say("experiment.file.pays_how", measure=title, baseline=baseline),
        write.row([write.say("experiment.file.run"), *heads], "th"),
        joined(lines),
    )


def _difference(difference: KindDifference) -> str:
    interval = difference.interval
    if interval is None:
        return "–"
    sure = " *" if difference.is_told else ""
    return f"{number(interval.value, '+')} [{bounds(interval)}]{sure}"


def number(value: float, sign: str = "") -> str:
    """Format the number with three decimals, a large one without."""
    return f"{value:{sign},.{0 if abs(value) >= _LARGE else 3}f}"


def bounds(interval: Interval) -> str:
    """Format the interval as its lower and upper end."""
    if interval.low is None or interval.high is None:
        return "–"
    places = 0 if abs(interval.value) >= _LARGE else 3
    return f"{interval.low:,.{places}f} … {interval.high:,.{places}f}"
