"""The results of an experiment: what it says, its table by kind of question, and where one run beats another."""

from collections.abc import Mapping, Sequence

import streamlit as st

from leanrag_core.evaluation.tables import measured, questions_of
from leanrag_core.types.experiment import ExperimentResult, ExperimentSummary
from pages.common import choices, forms, markup, session, state, widgets
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.evaluate import (
    experiments,
    figure_view,
    finding,
    front_view,
    judged_view,
    measure_words,
    paper_view,
    pays_view,
    places,
    scores,
    table_view,
)
from pages.evaluate.measure_words import COLUMNS, LATENCY

_HEAD_REM, _ROW_REM = 1.9, 3.05  # of the table; its place is kept free until it is drawn


def show(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary) -> None:
    """The list at the left, the chosen experiment beside it."""
    experiments.pick(summaries, shown)
    left, right = st.columns([2, 11], gap="medium")
    with left, st.container(key="evaluate_list_column", gap="xsmall"):
        figure_view.title(say("evaluate.experiments"))
        experiments.listing(summaries, shown)
    with right:
        results(shown, experiments.opened(shown), experiments.other_budgets(summaries, shown))


def results(summary: ExperimentSummary, result: ExperimentResult, budgets: Mapping[int, ExperimentSummary]) -> None:
    """What the experiment says. It may be under way: then what it has so far. budgets: see other_budgets()."""
    measures = measured(result, only_main=False)
    if not result.is_complete:
        message(say("evaluate.partial", n=summary.rows, all=summary.all))
    if not measures:
        message(say("evaluate.no_rows"))
        return
    run, against = experiments.compared(result.spec.runs, result.spec.baseline)
    place = st.container(key="evaluate_finding")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="evaluate_kinds"):
        kind = _kind(result)
        _budget(budgets, experiments.budget_of(result.spec))
    measures = _columns(measures)
    sort = _controls(result, measures, run, against)
    rows = scores.table_of(result, kind, measures, summary.changed)
    measure = sort if sort in measures else measures[0]
    with place:
        height = _HEAD_REM + _ROW_REM * len(rows.rows)
        draw(html("<style>.st-key-evaluate_table{{min-height:{}rem}}</style>", f"{height:.1f}"))
        if run != against:
            by_kind = scores.differences(result, run, against, measure, summary.changed)
            draw(finding.sentence(result, rows, by_kind.get(kind), run, against, measure))
            draw(finding.rests_on(result, (run, against), measure, kind))
    letters = {run: "A", against: "B"} if run != against else {}
    with st.container(key="evaluate_table"):
        draw(table_view.table(rows, sort, letters, experiments.strategies(), _index_names(result)))
    note = say("evaluate.letters") if len(rows.rows) > 1 else ""
    draw(markup.muted(say("evaluate.bars") + say("text.space") + note))
    if summary.errors:
        message(say("evaluate.errors", n=summary.errors), kind="error")
    left, right = st.columns(2, gap="large")
    if run != against:
        with left:
            pays_view.show(by_kind, run, against, measure)
    with right:
        if not paper_view.show(result):
            front_view.show(rows, run)
    judged_view.show(summary, result, letters, kind)


def _index_names(result: ExperimentResult) -> Mapping[str, str]:
    """Titles of the experiment's indexes where it has several."""
    ids = dict.fromkeys(run.index for run in result.spec.runs)
    if len(ids) < 2:
        return {}
    titles = {each.id: each.title for each in session.index_list().indexes}
    return {id_: titles.get(id_, id_) for id_ in ids}


def _kind(result: ExperimentResult) -> str:
    """The chosen kind of question, "" for all."""
    counts = measure_words.kinds_of(result.rows)
    if len(counts) < 2:
        return ""
    total = len(questions_of(result))
    titles = {"": say("evaluate.all_kinds", n=total)}
    titles |= {kind: f"{forms.plain(measure_words.kind_title(kind))} {n:,}" for kind, n in counts.items()}
    return choices.pills(places.KIND, say("evaluate.kind"), titles, label_visibility="collapsed", wrap=True)


def _budget(budgets: Mapping[int, ExperimentSummary], shown: int) -> None:
    """The same runs with budgets of their own, or with as many tokens each, where there are experiments of both."""
    if len(budgets) < 2:
        return
    titles = {
        str(limit): say("compare.budget.equal", n=limit) if limit else say("compare.budget.official")
        for limit in budgets
    }
    widgets.show(
        "lr_ebudget",
        str(shown),
        lambda mount: st.segmented_control(
            say("compare.budget"),
            list(titles),
            default=mount.value,
            format_func=titles.__getitem__,
            key=mount.key,
            on_change=mount.changed,
            required=True,
            label_visibility="collapsed",
        ),
        lambda chosen: state.remember(places.EXPERIMENT, budgets[int(chosen)].id),
        form=widgets.labels(titles),
    )


def _controls(result: ExperimentResult, measures: Sequence[str], run: str, against: str) -> str:
    """The measure that the table is sorted by, and the two runs that are compared, in a row."""
    titles = {measure: measure_words.title_of(measure) for measure in (*measures, LATENCY)}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="evaluate_controls"):
        sort = choices.dropdown(places.SORT, say("evaluate.sort"), titles, width=210)
        if len(result.spec.runs) > 1:
            experiments.run_choice(places.RUN, say("evaluate.compare_run"), result.spec.runs, run)
            experiments.run_choice(places.AGAINST, say("evaluate.compare_against"), result.spec.runs, against)
        _column_choice(measured(result, only_main=False), measures)
    return sort


def _columns(measures: Sequence[str]) -> tuple[str, ...]:
    """The measures that the table shows, in their order."""
    usual = [measure for measure in COLUMNS if measure in measures] or list(measures[:5])
    names = str(state.recall(places.COLUMNS)).split(",")
    chosen = [measure for measure in measures if measure in names]
    return tuple(chosen or usual)


def _column_choice(measures: Sequence[str], shown: Sequence[str]) -> None:
    """Which measures are columns."""
    titles = {measure: measure_words.title_of(measure) for measure in measures}
    with st.popover(say("evaluate.columns"), type="tertiary", icon=":material/view_column:", key="evaluate_columns"):
        widgets.show(
            "lr_columns",
            list(shown),
            lambda mount: st.multiselect(
                say("evaluate.columns"),
                list(titles),
                mount.value,
                format_func=titles.__getitem__,
                key=mount.key,
                on_change=mount.changed,
                max_selections=10,
            ),
            lambda chosen: state.remember(places.COLUMNS, ",".join(chosen)),
            form=widgets.labels(titles),
        )
        draw(markup.muted(say("evaluate.columns_hint")))
