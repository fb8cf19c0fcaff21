"""The tour of a first visit: three steps in a corner of the window, which can be skipped and seen again.

Whether it was seen is known to the browser alone (localStorage); steps change there without a run of the page.
"""

from pathlib import Path

import streamlit as st

from pages._shared.common.component import component
from pages._shared.common.messages import say

_SCRIPT = Path(__file__).with_name("tour.js")
_FRAME = '<div class="lr-tour-place"></div>'
_AGAIN = "lr_tour_again"
_STEPS = ("library", "explore", "ask")  # pages, in the order in which they are used first


def show() -> None:
    """The tour, where this browser has not seen it or it was asked for again."""
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
        data={"steps": steps, "words": words, "again": st.session_state.get(_AGAIN, 0)}, key="lr_tour"
    )


def show_again() -> None:
    """The tour begins anew in the next run. For callbacks."""
    st.session_state[_AGAIN] = st.session_state.get(_AGAIN, 0) + 1
