"""Adds a slide to a presentation by one click on another page: to the one edited last, else to the newest."""

from collections.abc import Callable

import streamlit as st

from leanrag_core.presenting.storing import AddedTo
from leanrag_core.presenting.story import AddedSlide, PresentationSummary
from pages.common import session, state
from pages.common.frame import page_path, plain_errors
from pages.common.messages import say

_INTO, _DONE = "lr_present_into", "lr_present_done"


def prefer(presentation_id: str) -> None:
    """Send slides of other pages to that presentation from now on."""
    st.session_state[_INTO] = presentation_id


def button(kind: str, make: Callable[[], AddedSlide], *, key: str, topic: object) -> None:
    """Draw the button, or a way to what it has added. topic: of what would be added; with another one
    the button is back. kind: begins the slide's key."""
    done = st.session_state.get(_DONE)
    if done is not None and done[:2] == (key, topic):
        added: AddedTo = done[2]
        if st.button(
            say("present.added", place=added.place), type="tertiary", icon=":material/check:", key=f"open_{key}"
        ):
            state.remember("edit", added.id)
            st.switch_page(page_path("present"))
        return
    into = _into()
    if into is None:
        return
    code = "present.add_copy" if into.is_shipped else "present.add_help"
    if st.button(
        say("present.add"),
        type="tertiary",
        icon=":material/slideshow:",
        help=say(code),
        key=key,
    ):
        with plain_errors():
            added = session.workbench().presentations.add_slide(into.id, kind, make())
            prefer(added.id)
            st.session_state[_DONE] = (key, topic, added)
            st.rerun()


def _into() -> PresentationSummary | None:
    listed = session.workbench().presentations.all().presentations
    wanted = st.session_state.get(_INTO)
    return next((each for each in listed if each.id == wanted), listed[0] if listed else None)
