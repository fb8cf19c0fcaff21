"""Ask: a question, how its answer was found step by step, and every source behind it."""

import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.summary import IndexSummary
from pages.ask import (
    asking,
    controls,
    defaults,
    follow_view,
    history_view,
    presets,
    question_view,
    recorded_view,
    reference_view,
    result_view,
)
from pages.build import job_view
from pages.common import session, state, within
from pages.common.frame import enter, gone_index, heading, kind_line, plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.common.scope import PAGE


def page() -> None:
    summary = enter("ask")
    listed = all_strategies()
    strategies = listed.by_name()
    names = [*controls.url_names(PAGE, strategies), *(PAGE.name(name) for name in (*asking.LINKED, within.NAME))]
    run = recorded_view.opened(PAGE)
    if run is not None:
        recorded_view.show(PAGE, run)
        state.publish(names)
        return
    if summary is None:
        heading(say("page.ask"))
        asking.withdraw(PAGE)
        if not gone_index():
            job_view.no_index()
        recorded_view.open_button(PAGE)
        state.publish(names)
        return
    facts = [isolated(summary.title), say("count.documents", n=summary.documents)]
    cluster_size = say("ask.cluster_size", n=summary.config.cluster_size)
    if cluster_size not in summary.apart:
        facts.append(cluster_size)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            heading(say("page.ask"), say("ask.comma").join(facts))
        history_view.button(PAGE)
    kind_line(summary)
    defaults.begin(PAGE, summary, strategies)
    follow_view.take(PAGE, summary)
    question_view.form(PAGE)
    st.fragment(_asked)(summary, names, _above())
    state.publish(names)


def _above() -> tuple[object, ...]:
    """Return the state on which the page above the controls depends."""
    linked_names = ("q", "index", *(name for name in asking.LINKED if name != reference_view.PLACE))
    following = st.session_state.get(PAGE.key("follow_up"))
    return (*(state.recall(PAGE.name(name)) for name in linked_names), following, recorded_view.opened(PAGE))


def _asked(summary: IndexSummary, names: list[str], above: tuple[object, ...]) -> None:
    """Draw the controls and the result; a moved slider runs only this part of the page. above: see _above()."""
    if above != _above():  # such as another question that was chosen in this part
        st.rerun()
    listed = all_strategies()
    strategies = listed.by_name()
    with plain_errors():
        documents = within.picker(PAGE, summary)
    shown = controls.show(PAGE, strategies, above=presets.show)
    chosen = shown.chosen
    _nearness(strategies[chosen.strategy])
    for broken in listed.broken:
        message(broken.message, title=say("ask.broken_strategy"))
    question = state.recall("q")
    state.publish(names)  # before the answer is written, so that the page can be reloaded meanwhile
    with plain_errors(), session.reading(summary):
        if question and documents is not None:
            index = within.cut(summary, documents)
            ask = asking.Ask.of(summary, question, chosen, documents)
            result_view.show(PAGE, index, ask, drawn=shown.draw_rest)
        elif not question:
            session.read_ahead(summary)
            history_view.recent(PAGE, summary)
            question_view.examples(PAGE, summary)
        recorded_view.open_button(PAGE)
    shown.draw_rest()
    state.publish(names)


def _nearness(info: StrategyInfo) -> None:
    """Draw how close the chosen strategy is to its publication, and in a sentence what differs."""
    badge, differs = words(info.badge_title), words(info.differs)
    draw(html('<div class="lr-small lr-muted"><span class="lr-tag">{}</span> {}</div>', badge, differs))


page()
