"""All experiments in a table: opened again, run again, deleted."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from leanrag_core.comparing.as_code import command_of_experiment
from leanrag_core.errors import JobNotFound
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.retrieval.settings import settings_line, shown_settings
from leanrag_core.types.experiment import ExperimentSummary
from leanrag_core.types.job import JobState
from pages.build import job_view
from pages.common import buttons, deletion, downloads, forms, markup, run_titles, session, state
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import kept_fault, language, message, say, words
from pages.evaluate import experiments, figure_view

# The tab that shows an ended job of each kind until it is closed; a running job is shown on every tab.
_TABS_OF = {
    "experiment": (experiments.RESULTS, experiments.QUESTIONS, experiments.HISTORY),
    "sweep": (experiments.SWEEPS, experiments.HISTORY),
}


def show_job(tab: str) -> None:
    """Draw the job that the link names, else a running one. An ended job stands on the tabs of its kind and can be
    closed."""
    wanted = state.recall(experiments.JOB)
    jobs = [job for job in session.running_jobs() if job.kind.name in _TABS_OF]
    if not wanted and not jobs:
        return
    try:
        job = session.workbench().jobs.job(wanted) if wanted else jobs[0]
    except JobNotFound as error:
        message(error, kind="error")
        state.forget(experiments.JOB)
        return
    if job.live:
        job_view.show(job.id)
    elif tab in _TABS_OF.get(job.kind.name, (tab,)):
        job_view.show(job.id)
        _ended(job)


def _ended(job: JobState) -> None:
    with st.container(horizontal=True, gap="small"):
        if job.status == "done" and job.result and job.kind.name == "experiment":
            buttons.secondary(say("evaluate.history.show"), "table_chart", "job_results", _show_results, job.result)
        buttons.tertiary(say("evaluate.job_close"), "close", "job_close", state.remember, experiments.JOB, None)


def _show_results(experiment: str) -> None:
    experiments.show(experiment)
    state.forget(experiments.JOB, experiments.TAB)


_FILES = (("csv", "text/csv", "table_rows"), ("json", "application/json", "data_object"), ("html", "text/html", "html"))


def command(summary: ExperimentSummary) -> None:
    """Draw the command that repeats or continues the experiment."""
    with st.popover(say("evaluate.command"), icon=":material/code:", type="tertiary", key="evaluate_command"):
        draw(markup.muted(say("evaluate.command_hint")))
        with plain_errors():
            st.code(command_of(summary.id), language=None, wrap_lines=True)


def command_of(experiment: str) -> str:
    """Return the command that repeats the experiment with the indexes and questions of this home."""
    bench = session.workbench()
    return command_of_experiment(bench.root, bench.experiments.store.folder(experiment) / "spec.json")


def export(summary: ExperimentSummary) -> None:
    """Draw downloads of every question's scores as CSV, the whole experiment as JSON, and a report as HTML; each is
    made on request."""
    name = downloads.name_from(summary.title, 60, "experiment")
    with st.popover(say("evaluate.export"), icon=":material/download:", type="tertiary", key="evaluate_export"):
        draw(markup.muted(say("evaluate.export_hint")))
        for format_name, mime, icon in _FILES:
            downloads.button(
                say(f"evaluate.export.{format_name}"),
                partial(session.workbench().experiments.exported, summary.id, format_name, language()),
                f"{name}.{format_name}",
                mime,
                key=f"evaluate_{format_name}",
                icon=f":material/{icon}:",
                type="secondary",
            )


_ROW = "row"
_HEIGHT = 420


def show(summaries: Sequence[ExperimentSummary]) -> None:
    """Draw the table of experiments, and what can be done with the row that was clicked."""
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
            head["changed"]: [
                # What comes with the program has the times of its installation.
                "–" if each.is_shipped else numbers.day(each.changed, language())
                for each in summaries
            ],
        }
    )

    key = f"history_table_{len(summaries)}"  # after a deletion another row would be framed

    forms.clickable_table(
        table,
        lambda row: state.remember(_ROW, summaries[row].id),
        key=key,
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
    """Draw the experiment's runs and versions, with buttons to show it, to continue or repeat it, and to delete it."""
    figure_view.title(summary.title, experiments.facts(summary))
    with st.container(horizontal=True, gap="small"):
        buttons.secondary(say("evaluate.history.show"), "table_chart", "history_show", _show, summary.id)
        if not summary.is_shipped:
            code = "evaluate.history.again" if summary.is_complete else "evaluate.history.go_on"
            buttons.secondary(say(code), "play_arrow", "history_again", _run, summary)
            key, label, title = "history_delete", say("evaluate.history.delete"), say("evaluate.history.delete_title")
            deletion.button(
                key, label, title, summary.title, say("evaluate.history.delete_hint"), partial(_delete, summary.id)
            )
    with plain_errors():
        result, known = experiments.opened(summary), all_strategies().by_name()
        titles = run_titles.titles(result.spec.runs)
        rows = [
            (
                titles[run.key],
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
    state.forget(experiments.TAB)


def _run(summary: ExperimentSummary) -> None:
    """Start a job that continues the experiment, or repeats it. For callbacks."""
    with kept_fault(experiments.FAULT):
        spec = experiments.opened(summary).spec
        state.remember(experiments.JOB, session.workbench().experiments.start(spec, again=summary.is_complete))
        state.forget(experiments.TAB)


def _delete(experiment: str) -> None:
    session.workbench().experiments.delete(experiment)
    state.forget(_ROW, experiments.EXPERIMENT)
