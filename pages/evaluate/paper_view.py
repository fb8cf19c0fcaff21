"""The experiment's own figures beside those that the paper publishes, where an experiment reproduces one of its
tables."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from leanrag_core.evaluation import measuring, paper_tables
from leanrag_core.evaluation.tables import KindDifference
from leanrag_core.figures import numbers
from leanrag_core.figures.interval_marks import Beside, Difference, beside_published, forest
from leanrag_core.types.experiment import ABSOLUTE, PAIRWISE, ExperimentResult
from pages.common import choices, markup
from pages.common.html import draw, html
from pages.common.messages import say
from pages.evaluate import audit_charts, brushing, figure_view, measure_words

_WIDTHS = (320, 430, 560)
_TABLE, _DATASET, _CRITERION = "ptable", "pset", "pcriterion"


def tables_of(result: ExperimentResult) -> tuple[str, ...]:
    """Return the paper's tables for which the experiment has its own figures."""
    names = {run.key for run in result.spec.runs}
    kinds = {judgement.kind for judgement in result.judgements}
    if (
        paper_tables.LEANRAG not in names
        or not names <= {*paper_tables.SYSTEMS, paper_tables.NO_RELATIONS, paper_tables.NO_CHUNKS}
        or len(names) < 2
    ):
        return ()
    tables = []
    if paper_tables.NO_RELATIONS in names and PAIRWISE in kinds:
        tables.append(paper_tables.RELATIONS)
    if paper_tables.NO_CHUNKS in names and ABSOLUTE in kinds:
        tables.append(paper_tables.CONTEXT)
    if names & ({*paper_tables.SYSTEMS} - {paper_tables.LEANRAG}):
        tables += (
            [paper_tables.SCORES] * (ABSOLUTE in kinds)
            + [paper_tables.WIN_RATES] * (PAIRWISE in kinds)
            + [paper_tables.TOKENS]
        )
    return tuple(tables)


def show(result: ExperimentResult) -> bool:
    """Draw the experiment's figures beside the paper's if it reproduces one of its tables; tell whether it does."""
    tables = tables_of(result)
    if not tables:
        return False
    figure_view.title(say("evaluate.paper"), say("evaluate.paper_note"))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="paper_controls"):
        table = _choice(_TABLE, say("evaluate.paper_table"), {name: say(f"evaluate.paper.{name}") for name in tables})
        own_cells = paper_tables.paper_table(table, result)[0]
        dataset = _choice(_DATASET, say("evaluate.paper_dataset"), {name: name for name in _datasets(result)})
        criteria = list(dict.fromkeys(cell.criterion for cell in own_cells.cells))
        titles = {
            name: audit_charts.criterion_title(name) for name in sorted(criteria, key=lambda name: name != "overall")
        }
        criterion = _choice(_CRITERION, say("evaluate.audit.criterion"), titles)
    rows = rows_of([cell for cell in own_cells.cells if cell.criterion == criterion], dataset)
    label = say("evaluate.paper_label", table=say(f"evaluate.paper.{table}"), dataset=dataset)
    drawings = [beside_published(rows, width=width, label=label, tick=lambda value: f"{value:g}") for width in _WIDTHS]
    head = (say("evaluate.run"), say("evaluate.this_machine"), say("evaluate.published"))
    cells = [(row.name, row.shown, "–" if row.published is None else f"{row.published:g}") for row in rows]
    figure_view.show(drawings, head, cells, key="evaluate_paper")
    template = '<div class="lr-key"><span><i class="own"></i>{}</span><span><i class="pub"></i>{}</span></div>'
    draw(html(template, say("evaluate.this_machine"), say("evaluate.published")))
    return True


def rows_of(cells: Sequence[paper_tables.PaperCell], dataset: str) -> list[Beside]:
    """Return the systems of a criterion, with the published figure of the data set."""
    rows = []
    for cell in cells:
        own = cell.own
        rows.append(
            Beside(
                cell.system,
                None if own is None else own.value,
                None if own is None else own.low,
                None if own is None else own.high,
                cell.published.get(dataset),
                "–" if own is None else numbers.decimal(own.value, 0 if abs(own.value) >= 100 else 2),
            )
        )
    return rows


def _datasets(result: ExperimentResult) -> list[str]:
    """Return the paper's data sets, first the one that the questions seem to come from."""
    return sorted(paper_tables.DATASETS, key=lambda name: name.lower() not in result.spec.question_set.lower())


def _choice(name: str, label: str, titles: Mapping[str, str]) -> str:
    options = list(titles)
    if len(options) == 1:
        return options[0]
    return choices.dropdown(name, label, titles, width=170)


def show_pays(
    by_kind: Mapping[str, KindDifference], titles: tuple[str, str], measure: str, result: ExperimentResult
) -> None:
    """Draw the differences by kind of question, filled where the two runs can be told apart. titles: of the two runs;
    result: the experiment in which a click selects the questions of a kind."""
    run, against = titles
    title = measure_words.title_of(measure)
    figure_view.title(say("evaluate.pays"), say("evaluate.pays_note", measure=title, run=run, against=against))
    rows = differences(by_kind, measure)
    if not rows:
        draw(markup.muted(say("evaluate.pays_nothing", measure=title)))
        return
    label = say("evaluate.pays_label", measure=title, run=run, against=against)
    selected = brushing.kinds_selected(result)
    drawings = [
        forest(
            rows,
            width=width,
            colour="column-a",
            label=label,
            tick=lambda value: measuring.written_difference(measure, value) if value else "0",
        ).with_selected(selected)
        for width in _WIDTHS
    ]
    head = tuple(say(f"evaluate.pays_head.{name}") for name in ("kind", "questions", "difference", "low", "high"))
    table = [
        (
            each.name,
            each.note,
            each.shown,
            *(measuring.written_difference(measure, end) for end in (each.low, each.high)),
        )
        for each in rows
    ]
    picked = partial(brushing.toggle_kind, result)
    figure_view.show(
        drawings, head, table, key="evaluate_pays", picked=picked, brushed=partial(brushing.select_kinds, result)
    )
    draw(markup.muted(say("evaluate.pays_signs")))


def differences(by_kind: Mapping[str, KindDifference], measure: str) -> list[Difference]:
    """Return the difference for each kind that has at least two questions with a score of both runs."""
    rows = []
    for kind, each in by_kind.items():
        interval = each.interval
        if kind and interval is not None and interval.low is not None and interval.high is not None:
            rows.append(
                Difference(
                    measure_words.kind_title(kind),
                    f"{interval.n:,}",
                    interval.value,
                    interval.low,
                    interval.high,
                    measuring.written_difference(measure, interval.value),
                    each.is_told,
                    brushing.kind_pick(kind),
                )
            )
    return rows
