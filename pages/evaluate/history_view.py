"""All experiments in a table: opened again, run again, deleted."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.retrieval.settings import settings_line, shown_settings
from leanrag_core.types.experiment import ExperimentSummary
from pages.common import deletion, forms, markup, session, state
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.evaluate import experiments, faults, figure_view, places

_ROW = "row"
_HEIGHT = 420


def show(summaries: Sequence[ExperimentSummary]) -> None:
    """The table, and what can be done with the row that was clicked."""
    if not summaries:
        draw(html('<div class="lr-empty">{}</div>', say("evaluate.none")))
        return
    figure_view.title(say("evaluate.experiments"), say("evaluate.history.note", n=len(summaries)))
    head = {name: say(f"evaluate.history.{name}") for name in ("title", "changed", "state", "runs", "rows", "judged")}
    table = pd.DataFrame(
        {
            head["title"]: [each.title for each in summaries],
            head["state"]: [_state(each) for each in summaries],
            head["runs"]: [len(each.runs) for each in summaries],
            head["rows"]: [each.rows for each in summaries],
            head["judged"]: [each.judgements for each in summaries],
            head["changed"]: [numbers.day(each.changed) for each in summaries],
        }
    )

    def clicked() -> None:
        cells = st.session_state["history_table"]["selection"]["cells"]
        if cells:
            state.remember(_ROW, summaries[int(cells[0][0])].id)

    st.dataframe(
        forms.visible_cells(table),
        hide_index=True,
        key="history_table",
        on_select=clicked,
        selection_mode="single-cell",
        height=forms.table_height(len(summaries), _HEIGHT),
        column_config={
            head["title"]: st.column_config.TextColumn(width=320),
            head["state"]: st.column_config.TextColumn(width=150),
            **{head[name]: st.column_config.NumberColumn(format="localized") for name in ("runs", "rows", "judged")},
        },
    )
    chosen = next((each for each in summaries if each.id == state.recall(_ROW)), None)
    if chosen is None:
        draw(markup.muted(say("evaluate.history.click")))
        return
    _details(chosen)


def _state(summary: ExperimentSummary) -> str:
    if summary.is_shipped:
        return say("evaluate.history.shipped")
    if summary.is_complete:
        return say("evaluate.history.done")
    return say("evaluate.history.so_far", n=summary.rows, all=summary.all)


def _details(summary: ExperimentSummary) -> None:
    """The experiment's runs and versions, with buttons to show it, to go on with it or repeat it, and to delete it."""
    figure_view.title(summary.title, experiments.facts(summary))
    with st.container(horizontal=True, gap="small"):
        st.button(
            say("evaluate.history.show"),
            icon=":material/table_chart:",
            key="history_show",
            on_click=_show,
            args=(summary.id,),
        )
        if not summary.is_shipped:
            code = "evaluate.history.again" if summary.is_complete else "evaluate.history.go_on"
            st.button(
                say(code),
                icon=":material/play_arrow:",
                key="history_again",
                on_click=_run,
                args=(summary,),
            )
            deletion.button(
                "history_delete",
                say("evaluate.history.delete"),
                say("evaluate.history.delete_title"),
                summary.title,
                say("evaluate.history.delete_hint"),
                partial(_delete, summary.id),
            )
    with plain_errors():
        result, known = experiments.opened(summary), experiments.strategies()
        rows = [
            (
                run.name,
                run.strategy,
                words(settings_line(shown_settings(known.get(run.strategy), run.options))) or "–",
                run.index,
            )
            for run in result.spec.runs
        ]
        head = tuple(say(f"evaluate.history.head.{name}") for name in ("run", "strategy", "options", "index"))
        draw(markup.reading_table(head, rows, caption=say("evaluate.history.runs")))
        versions = say("ask.comma").join(f"{name} {value}" for name, value in sorted(result.versions.items()))
        draw(markup.muted(say("evaluate.history.versions", seed=result.spec.seed, versions=versions or "–")))


def _show(experiment: str) -> None:
    experiments.show(experiment)
    state.remember(places.TAB, None)


def _run(summary: ExperimentSummary) -> None:
    """A job goes on with the experiment, or does everything once more. For callbacks."""
    with faults.kept():
        spec = experiments.opened(summary).spec
        state.remember(places.JOB, session.workbench().experiments.start(spec, again=summary.is_complete))
        state.remember(places.TAB, None)


def _delete(experiment: str) -> None:
    session.workbench().experiments.store.delete(experiment)
    for name in (_ROW, places.EXPERIMENT):
        state.remember(name, None)
