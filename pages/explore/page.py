"""Explore: the views of one index, and the inspector of what is chosen beside them."""

import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.types.summary import IndexSummary
from pages.build import job_view
from pages.common import passage_view, session, state
from pages.common.frame import enter, gone_index, heading, kind_line, plain_errors
from pages.common.messages import message, say
from pages.explore import inspector, to_slide, toolbar
from pages.explore.exploring import FILTER_NAMES, Exploring, View, exploring
from pages.explore.views import broken_views, views

URL = (
    *("index", "view", "focus", "node", "rel", "chunk", "find", "skip"),
    *FILTER_NAMES,
    *(name for view in views() for name in view.url),
)
# Links of older versions, in which the views had other names.
_OLD_VIEWS: dict[str, dict[str, str | None]] = {
    "Icicle": {"view": None},
    "Treemap": {"view": None, "shape": "treemap"},
    "Table": {"view": None, "table": "1"},
    "Map": {"view": "map"},
    "Neighbourhood": {"view": "graph"},
}


def page() -> None:
    summary = enter("explore")
    if summary is None:
        heading(say("page.explore"))
        if not gone_index():
            job_view.no_index()
        state.publish(URL)
        return
    aggregated = " + ".join(f"{layer.entities:,}" for layer in summary.layers[1:]) or "0"
    heading(
        say("page.explore"),
        say(
            "explore.facts",
            title=isolated(summary.title),
            n=summary.layers[0].entities,
            layers=len(summary.layers),
            aggregated=aggregated,
        ),
    )
    for name, value in _OLD_VIEWS.get(state.recall("view"), {}).items():
        state.remember(name, value)
    for broken in broken_views():
        message(broken.message, title=say("explore.broken_view"))
    body(summary)
    kind_line(summary)


@st.fragment
def body(summary: IndexSummary) -> None:
    """Draw everything that a choice on this page may change; the frame around it need not rerun."""
    if not session.is_current(summary):  # it was updated, or deleted, since the frame was drawn
        st.rerun()
    with plain_errors(), session.reading(summary) as index:
        now = exploring(index, summary)
        with st.container(gap="xsmall", key="explore_body"):
            view = toolbar.view_choice(now)
            if view.wide:
                toolbar.search_and_filters(now)
                _picture(view, now)
            else:
                _beside_the_inspector(view, now)
        passage_view.drawer(index)
    state.publish(URL)


def _picture(view: View, now: Exploring) -> None:
    """Draw the view, and below it buttons that copy it as code and add it to a presentation."""
    view.show(now)
    names = ("index", "focus", "node", "find", "skip", *FILTER_NAMES, *view.url)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="explore_actions"):
        toolbar.code_button(view, now)
        to_slide.button(now, view, tuple(state.recall(name) for name in names))


def _beside_the_inspector(view: View, now: Exploring) -> None:
    left, right = st.columns([69, 31], gap="medium")
    with left, st.container(gap="xsmall"):
        toolbar.search_and_filters(now)
        _picture(view, now)
    with right, st.container(border=True, gap="xsmall", key="inspector"):
        inspector.show(now)


page()
