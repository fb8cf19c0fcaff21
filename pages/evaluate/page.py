"""Evaluate: experiments over question sets, their tables with intervals, and how far a judge can be trusted."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from leanrag_core.types.experiment import ExperimentSummary
from pages.common import buttons, session, state, widgets
from pages.common.frame import enter, gone_index, heading, plain_errors
from pages.common.html import draw, draw_styles, html
from pages.common.messages import message, say, show_fault
from pages.evaluate import (
    audit_view,
    by_question_view,
    choice_view,
    experiments,
    extraction_view,
    history_view,
    results_view,
    run_view,
    sets_view,
    sweep_form,
    sweeps_view,
    verdicts_view,
)


def page() -> None:
    chosen_index = enter("evaluate")
    draw_styles(Path(__file__).with_name("evaluate.css"))
    summaries = experiments.listed()
    corpus_id = chosen_index.corpus_id if chosen_index else ""
    shown = experiments.chosen(summaries, corpus_id)
    _head(shown)
    if chosen_index is None:
        gone_index()
    for damaged in session.workbench().experiments.store.damaged():
        message(damaged.reason, kind="error", title=say("evaluate.damaged", experiment=damaged.id))
    tab, place = _tabs()
    state.publish(experiments.URL)
    with place, plain_errors():
        show_fault(experiments.FAULT)
        history_view.show_job(tab)
        of_experiment = tab in (experiments.RESULTS, experiments.QUESTIONS)
        if of_experiment:
            experiments.follow(
                experiments.progress(summaries, corpus_id),
                lambda: experiments.progress(session.workbench().experiments.store.all(), corpus_id),
            )
        elif tab == experiments.SWEEPS:
            experiments.follow(sweeps_view.progress(), sweeps_view.progress, kind="sweep")
        if of_experiment and shown is None:
            _no_experiment()
        elif of_experiment and shown is not None:
            (results_view if tab == experiments.RESULTS else by_question_view).show(summaries, shown)
        else:
            views: dict[str, Callable[[], None]] = {
                experiments.CHOICE: lambda: choice_view.show(summaries, chosen_index),
                experiments.VERDICTS: lambda: verdicts_view.show(summaries, shown),
                experiments.SETS: sets_view.show,
                experiments.SWEEPS: sweeps_view.show,
                experiments.AUDIT: lambda: audit_view.show(summaries),
                experiments.EXTRACTION: extraction_view.show,
                experiments.HISTORY: lambda: history_view.show(summaries),
            }
            views[tab]()
    state.publish(experiments.URL)


def _head(shown: ExperimentSummary | None) -> None:
    """Draw the title, what is shown, and the page's buttons."""
    tab = state.fitting(experiments.TAB, experiments.RESULTS, str, lambda value: value in experiments.TABS)
    of_experiment = shown is not None and tab in (experiments.RESULTS, experiments.QUESTIONS)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="evaluate_title"):
        with st.container(width="stretch", gap=None):
            facts = ""
            if of_experiment and shown is not None:
                facts = say("text.titled", title=shown.title, text=experiments.facts(shown))
            heading(say("page.evaluate"), facts)
        # The container exists even without an experiment, so that what follows keeps its place when the first
        # one ends, and an open form keeps what is written in it.
        with st.container(horizontal=True, width="content", gap="small", key="evaluate_commands"):
            if shown is not None and of_experiment:
                history_view.command(shown)
                history_view.export(shown)
        if tab == experiments.SWEEPS:
            sweep_form.button()
        else:
            run_view.button()


def _tabs() -> tuple[str, st.delta_generator.DeltaGenerator]:
    """Draw the tabs, and return the open one and the place of its content."""
    titles = {name: say(f"evaluate.tab.{name}") for name in experiments.TABS}
    name_of = {title: name for name, title in titles.items()}
    drawn: list[st.delta_generator.DeltaGenerator] = []

    def choice(mount: widgets.Mount[str]) -> str:
        tabs = st.tabs(list(name_of), default=titles[mount.value], **mount.wired)
        drawn[:] = tabs
        opened = next((title for title, tab in zip(name_of, tabs, strict=True) if tab.open), titles[mount.value])
        return opened

    tab = widgets.one_of(
        experiments.TAB,
        experiments.TABS,
        choice,
        widgets.Values(read=lambda title: name_of.get(title, experiments.RESULTS), form=widgets.labels(titles)),
    )
    return tab, drawn[experiments.TABS.index(tab)]


def _no_experiment() -> None:
    if state.recall(experiments.EXPERIMENT):
        message(say("evaluate.gone", experiment=state.recall(experiments.EXPERIMENT)), kind="error")
        buttons.secondary(say("evaluate.show_others"), "", "experiment_gone", experiments.show, "")
        return
    draw(html('<div class="lr-empty">{}</div>', say("evaluate.none")))


page()
