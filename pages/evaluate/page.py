"""Evaluate: experiments over question sets, their tables with intervals, and how far a judge can be trusted."""

import streamlit as st
from markupsafe import Markup

from leanrag_core.types.experiment import ExperimentSummary
from pages.common import session, state, widgets
from pages.common.frame import enter, gone_index, heading, plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.evaluate import (
    audit_view,
    by_question_view,
    experiment_job,
    experiments,
    extraction_view,
    faults,
    history_view,
    places,
    results_view,
    run_view,
    sets_view,
    share_view,
    style,
    sweep_form,
    sweeps_view,
)


def page() -> None:
    chosen_index = enter("evaluate")
    draw(html("<style>{}</style>", Markup(style.sheet())))
    summaries = session.workbench().experiments.store.all()
    shown = experiments.chosen(summaries)
    _head(shown)
    if chosen_index is None:
        gone_index()
    for damaged in session.workbench().experiments.store.damaged():
        message(damaged.reason, kind="error", title=say("evaluate.damaged", experiment=damaged.id))
    tab, place = _tabs()
    state.publish(places.URL)
    with place, plain_errors():
        faults.show()
        experiment_job.show()
        if tab == places.RESULTS:
            if shown is None:
                _no_experiment()
            else:
                results_view.show(summaries, shown)
        elif tab == places.QUESTIONS:
            if shown is None:
                _no_experiment()
            else:
                by_question_view.show(summaries, shown)
        elif tab == places.SETS:
            sets_view.show()
        elif tab == places.SWEEPS:
            sweeps_view.show()
        elif tab == places.AUDIT:
            audit_view.show(summaries)
        elif tab == places.EXTRACTION:
            extraction_view.show()
        elif tab == places.HISTORY:
            history_view.show(summaries)
    state.publish(places.URL)


def _head(shown: ExperimentSummary | None) -> None:
    """Title, what is shown, and the page's buttons."""
    tab = state.fitting(places.TAB, places.RESULTS, str, lambda value: value in places.TABS)
    of_experiment = shown is not None and tab in (places.RESULTS, places.QUESTIONS)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="evaluate_title"):
        with st.container(width="stretch", gap=None):
            facts = f"{shown.title}: {experiments.facts(shown)}" if of_experiment and shown is not None else ""
            heading(say("page.evaluate"), facts)
        if shown is not None and of_experiment:
            share_view.command(shown)
            share_view.export(shown)
        if tab == places.SWEEPS:
            sweep_form.button()
        else:
            run_view.button()


def _tabs() -> tuple[str, st.delta_generator.DeltaGenerator]:
    """The open tab and the place of its content."""
    titles = {name: say(f"evaluate.tab.{name}") for name in places.TABS}
    name_of = {title: name for name, title in titles.items()}
    drawn: list[st.delta_generator.DeltaGenerator] = []

    def choice(mount: widgets.Mount[str]) -> str:
        tabs = st.tabs(list(name_of), default=titles[mount.value], key=mount.key, on_change=mount.changed)
        drawn[:] = tabs
        opened = next((title for title, tab in zip(name_of, tabs, strict=True) if tab.open), titles[mount.value])
        return opened

    tab = widgets.one_of(
        places.TAB,
        places.TABS,
        choice,
        read=lambda title: name_of.get(title, places.RESULTS),
        form=widgets.labels(titles),
    )
    return tab, drawn[places.TABS.index(tab)]


def _no_experiment() -> None:
    if state.recall(places.EXPERIMENT):
        message(say("evaluate.gone", experiment=state.recall(places.EXPERIMENT)), kind="error")
        st.button(say("evaluate.show_others"), key="experiment_gone", on_click=experiments.show, args=("",))
        return
    draw(html('<div class="lr-empty">{}</div>', say("evaluate.none")))


page()
