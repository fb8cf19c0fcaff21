"""Present: the story of one index for people who do not know it; everything shown is stored."""

from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.presenting import slides
from leanrag_core.presenting.slides import deck_of, values_of_deck
from pages.common import session, state
from pages.common.frame import enter, heading, plain_errors
from pages.common.messages import language, message, say
from pages.present import cards_view, edit_view, form_view

_KEY = "lr_present_deck"
_START = """
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lrp"), close = () => setTriggerValue("closed", true);
  host.lrDeck?.end(); // the page ran again, such as in another theme: the address keeps the place
  host.lrDeck = new DeckView(host, data.deck, { close, start: data.start });
  return () => host.lrDeck.end();
}
"""


def show_deck(presentation_id: str) -> bool:
    """Draw the presentation, or why it cannot be shown; tell whether it is shown."""
    try:
        changed = session.workbench().presentations.path(presentation_id).stat().st_mtime_ns
        deck = _deck(presentation_id, changed, language())
    except LeanRAGError as error:
        message(error, kind="error", title=say("present.not_shown"))
        return False
    with st.container(key="lr_present_frame", gap=None):
        start = st.session_state.pop(edit_view.START, None)
        _component()(data={"deck": deck, "start": start}, key=_KEY, on_closed_change=_close)
    return True


def _close() -> None:
    state.forget("show")


@st.cache_data(max_entries=16, show_spinner=False)
def _deck(presentation_id: str, changed: int, language_code: str) -> dict[str, Any]:
    return values_of_deck(deck_of(session.workbench().presentations.read(presentation_id), language_code))


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    return st.components.v2.component(
        "lr_present",
        html='<div class="lrp"></div>',
        css=slides.styles(),
        js=slides.scripts() + _START,
        isolate_styles=False,
    )


URL = ("index", "show", "edit")


def page() -> None:
    summary = enter("present")
    edited = state.recall("edit")
    if edited and edit_view.show(edited):
        if st.query_params.get("edit") != edited:
            state.publish(URL)
        return
    chosen = state.recall("show")
    if chosen and show_deck(chosen):
        if st.query_params.get("show") != chosen:  # a new address would lose the slide, which its end names
            state.publish(URL)
        return
    heading(say("page.present"), say("present.heading_facts"))
    state.publish(URL)
    with plain_errors():
        cards_view.show()
        form_view.show(summary)
        cards_view.show_open()


page()
