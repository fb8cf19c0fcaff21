"""The results of an experiment: its finding, its table by kind of question, and where one run beats another."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from leanrag_core.evaluation.tables import RECALL, TOKENS, ScoreTable, large_contexts, measured, questions_of
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.pareto import CostAxis, ParetoPoint, front, pareto
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.messages.message import message as message_of
from leanrag_core.types.experiment import ExperimentResult, ExperimentSummary
from pages.common import choices, markup, run_titles, session, state, widgets
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.evaluate import (
    brushing,
    by_question_view,
    experiments,
    figure_view,
    judged_view,
    measure_words,
    paper_view,
    table_view,
)
from pages.evaluate.measure_words import COLUMNS, LATENCY

_WIDTHS = (320, 430, 560)


def show_front(table: ScoreTable, chosen: str, titles: Mapping[str, str], result: ExperimentResult) -> None:
    """Draw recall against tokens; nothing if fewer than two runs have both. chosen: key of the run whose interval is
    drawn.

    result: the experiment whose runs a click or a box selects.
    """
    selected = brushing.selected(result, brushing.RUNS)
    points = points_of(table, chosen, titles, selected)
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
        ).with_selected(selected)
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
    picked, brushed = partial(brushing.toggle, result, brushing.RUNS), partial(brushing.select, result, brushing.RUNS)
    figure_view.show(drawings, head, rows, key="evaluate_front", picked=picked, brushed=brushed)


def points_of(
    table: ScoreTable, chosen: str, titles: Mapping[str, str], selected: Sequence[str] = ()
) -> list[ParetoPoint]:
    """Return the runs that have both figures; runs that no other run beats form the front. selected: runs to be
    named."""
    means = [(row, table_view.mean(row, TOKENS), table_view.mean(row, RECALL)) for row in table.rows]
    known = [(row, cost, value) for row, cost, value in means if cost and value is not None]
    best = set(front([(cost, value) for _, cost, value in known]))
    points = []
    for place, (row, cost, value) in enumerate(known):
        key, interval = row.run.key, row.cells[RECALL].interval
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        shown = say("evaluate.front_point", run=titles[key], recall=numbers.score(value), tokens=f"{cost:,.0f}")
        points.append(
            ParetoPoint(titles[key], cost, value, low, high, place in best, key == chosen, shown, key, key in selected)
        )
    return points


_HEAD_REM, _ROW_REM = 1.9, 3.05  # of the table; its place is kept free until it is drawn


def show(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary) -> None:
    """Draw the list on the left and the chosen experiment beside it."""
    experiments.pick(summaries, shown)
    left, right = st.columns([2, 11], gap="medium")
    with left, st.container(key="evaluate_list_column", gap="xsmall"):
        figure_view.title(say("evaluate.experiments"))
        experiments.listing(summaries, shown)
    with right:
        results(shown, experiments.opened(shown), experiments.other_budgets(summaries, shown))


def results(summary: ExperimentSummary, result: ExperimentResult, budgets: Mapping[int, ExperimentSummary]) -> None:
    """Draw the experiment's results, or those so far while it runs. budgets: see other_budgets()."""
    measures = measured(result, only_main=False)
    if not result.is_complete:
        message(say("evaluate.partial", n=summary.rows, all=summary.all))
    missing = experiments.missing_gold(result)
    if missing:
        document, quote = isolated(missing[0].document), missing[0].quote[:80]
        message(say("evaluate.missing_evidence", n=len(missing), document=document, quote=quote))
    if not measures:
        message(say("evaluate.no_rows"))
        return
    run, against = experiments.compared(result.spec.runs, result.spec.baseline)
    whole, titles = result, run_titles.titles(result.spec.runs)
    place = st.container(key="evaluate_finding")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="evaluate_kinds"):
        kind = experiments.kind_choice(result)
        _budget(budgets, experiments.budget_of(result.spec))
    measures = _columns(measures)
    sort = _controls(result, measures, run, against)
    questions = {question.id: question for question in experiments.questions_of(summary.id)}
    brushing.bar(whole, titles, questions)
    result, stamp = _selected_part(whole, kind), f"{summary.changed} {state.recall(brushing.QUESTIONS)}"
    rows = table_view.table_of(result, kind, measures, stamp)
    measure = sort if sort in measures else measures[0]
    with place:
        height = _HEAD_REM + _ROW_REM * len(rows.rows)
        draw(html("<style>.st-key-evaluate_table{{min-height:{}rem}}</style>", f"{height:.1f}"))
        if run != against:
            by_kind = table_view.differences(result, run, against, measure, stamp)
            draw(measure_words.sentence(result, rows, by_kind.get(kind), (run, against), measure, titles))
            draw(measure_words.rests_on(result, (run, against), measure, kind))
    letters = {run: "A", against: "B"} if run != against else {}
    runs = brushing.selected(whole, brushing.RUNS)
    with st.container(key="evaluate_table"):
        draw(table_view.table(rows, sort, letters, titles, _index_names(result), runs))
    notes = [say("evaluate.bars"), *([say("evaluate.letters")] if len(rows.rows) > 1 else [])]
    large = [row.run.key for row in rows.rows if large_contexts(result, [row.run.key], questions_of(result, kind))]
    if large:
        names = tuple(message_of("plain", text=titles[key]) for key in large)
        notes.append(words(message_of("evaluate.large_contexts", n=len(large), runs=names)))
    draw(markup.muted(joined_sentences(notes)))
    if summary.errors:
        message(say("evaluate.errors", n=summary.errors), kind="error")
    left, right = st.columns(2, gap="large")
    if run != against:
        with left:
            if brushing.kinds_selected(whole):  # whole kinds are marked among the others
                by_kind = table_view.differences(whole, run, against, measure, summary.changed)
            paper_view.show_pays(by_kind, (titles[run], titles[against]), measure, whole)
    with right:
        if not paper_view.show(result):
            show_front(rows, run, titles, whole)
    if run != against:
        by_question_view.brushed(whole, run, against, measure, questions)
    judged_view.show(summary, result, letters, kind, titles)


def _selected_part(result: ExperimentResult, kind: str) -> ExperimentResult:
    """Return the experiment over its selected questions; the whole, with a message, if none of them is of the chosen
    kind."""
    part = brushing.restricted(result)
    if questions_of(part, kind):
        return part
    message(say("evaluate.brush.other_kind"))
    return result


def _index_names(result: ExperimentResult) -> Mapping[str, str]:
    """Return the titles of the experiment's indexes by id; empty if it has only one."""
    ids = dict.fromkeys(run.index for run in result.spec.runs)
    if len(ids) < 2:
        return {}
    titles = {each.id: each.title for each in session.index_list().indexes}
    return {id_: titles.get(id_, id_) for id_ in ids}


def _budget(budgets: Mapping[int, ExperimentSummary], shown: int) -> None:
    """Draw the choice of the token budget if there are experiments of the same runs with several budgets."""
    if len(budgets) < 2:
        return
    titles = {
        str(limit): say("compare.budget.equal", n=limit) if limit else say("compare.budget.official")
        for limit in budgets
    }
    widgets.show(
        "lr_ebudget",
        str(shown),
        lambda mount: choices.segmented_control(
            say("compare.budget"), titles, mount.value, **mount.wired, label_visibility="collapsed"
        ),
        lambda chosen: state.remember(experiments.EXPERIMENT, budgets[int(chosen)].id),
        form=widgets.labels(titles),
    )


def _controls(result: ExperimentResult, measures: Sequence[str], run: str, against: str) -> str:
    """Draw the choices of the sort measure, the two compared runs and the columns in a row; return the sort measure."""
    titles = {measure: measure_words.title_of(measure) for measure in (*measures, LATENCY)}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="evaluate_controls"):
        sort = choices.dropdown(experiments.SORT, say("evaluate.sort"), titles, width=210)
        if len(result.spec.runs) > 1:
            experiments.run_choice(experiments.RUN, say("evaluate.compare_run"), result.spec.runs, run)
            experiments.run_choice(experiments.AGAINST, say("evaluate.compare_against"), result.spec.runs, against)
        _column_choice(measured(result, only_main=False), measures)
    return sort


def _columns(measures: Sequence[str]) -> tuple[str, ...]:
    """Return the measures that the table shows, in their order."""
    usual = [measure for measure in COLUMNS if measure in measures] or list(measures[:5])
    names = str(state.recall(experiments.COLUMNS)).split(",")
    chosen = [measure for measure in measures if measure in names]
    return tuple(chosen or usual)


def _column_choice(measures: Sequence[str], shown: Sequence[str]) -> None:
    """Draw the choice of the measures that are columns."""
    titles = {measure: measure_words.title_of(measure) for measure in measures}
    with st.popover(say("evaluate.columns"), type="tertiary", icon=":material/view_column:", key="evaluate_columns"):
        widgets.show(
            "lr_columns",
            list(shown),
            lambda mount: choices.multiselect(
                say("evaluate.columns"), titles, mount.value, **mount.wired, max_selections=10
            ),
            lambda chosen: state.remember(experiments.COLUMNS, ",".join(chosen)),
            form=widgets.labels(titles),
        )
        draw(markup.muted(say("evaluate.columns_hint")))
