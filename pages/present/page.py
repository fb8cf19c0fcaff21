"""Present: a story of one index for people who do not know it; everything shown is stored."""

import streamlit as st

from pages.common import state
from pages.common.frame import enter, heading, plain_errors
from pages.common.messages import say
from pages.present import cards_view, deck_view, form_view, open_view

URL = ("index", "show")


def page() -> None:
    summary = enter("present")
    chosen = state.recall("show")
    if chosen and deck_view.show(chosen):
        if st.query_params.get("show") != chosen:  # else a new address would lose the slide, which its end names
            state.publish(URL)
        return
    heading(say("page.present"), say("present.heading_facts"))
    state.publish(URL)
    with plain_errors():
        cards_view.show()
        form_view.show(summary)
        open_view.show()


page()
