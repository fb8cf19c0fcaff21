"""A tour for the first visit of the start address: three steps beside the navigation, which can be skipped and
repeated.

Only the browser knows whether it was seen (localStorage); its steps change without a run of the page.
"""

from pathlib import Path

import streamlit as st

from pages.common import state
from pages.common.component import component
from pages.common.messages import say

_SCRIPT = Path(__file__).with_name("tour.js")
_FRAME = '<div class="lr-tour-place"></div>'
_AGAIN = "lr_tour_again"
_ARRIVED = "lr_arrived"  # this session began at the bare start address
_STEPS = ("library", "explore", "ask")  # pages, in the order of first use


def arrive() -> None:
    """Record that the session began at the start address."""
    st.session_state[_ARRIVED] = True


def show(page: str) -> None:
    """Draw the tour if it was requested again, or if the start address was opened in a browser that has not seen it. It
    hides while the page shows a result."""
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
    """Restart the tour in the next run. For callbacks."""
    st.session_state[_AGAIN] = st.session_state.get(_AGAIN, 0) + 1
