"""The tour of a first visit of the start address: three steps beside the navigation, to be skipped and seen again.

Whether it was seen is known to the browser alone (localStorage); steps change there without a run of the page.
"""

from pathlib import Path

import streamlit as st

from pages.common import state
from pages.common.component import component
from pages.common.messages import say

_SCRIPT = Path(__file__).with_name("tour.js")
_FRAME = '<div class="lr-tour-place"></div>'
_AGAIN = "lr_tour_again"
_ARRIVED = "lr_arrived"  # this session began at the start address, with nothing that a link names
_STEPS = ("library", "explore", "ask")  # pages, in the order in which they are used first


def arrive() -> None:
    """Note that somebody opened the start address itself."""
    st.session_state[_ARRIVED] = True


def show(page: str) -> None:
    """Draw the tour, where it was asked for again, or the start address was opened in a browser that has not seen it.
    It makes room for a result of the page."""
    steps = [
        {
            "page": page,
            "title": say(f"tour.{page}.title"),
            "text": say(f"tour.{page}.text"),
            "go": say("tour.open", page=say(f"page.{page}")),
            "count": say("tour.step", n=number, of=len(_STEPS)),
        }
        for number, page in enumerate(_STEPS, 1)
    ]
    words = {name: say(f"tour.{name}") for name in ("label", "back", "next", "done", "skip")}
    component(_SCRIPT, _FRAME)(
        data={
            "steps": steps,
            "words": words,
            "first": _ARRIVED in st.session_state,
            "again": st.session_state.get(_AGAIN, 0),
            "hidden": page in ("ask", "compare") and bool(state.recall("q")),
        },
        key="lr_tour",
    )


def show_again() -> None:
    """Begin the tour anew in the next run. For callbacks."""
    st.session_state[_AGAIN] = st.session_state.get(_AGAIN, 0) + 1
