"""Leaving for another page in a run that cannot be repeated, such as one that has just begun a job.

A second click arrives while the other page is being drawn, and Streamlit then runs the page again that was clicked on.
The button's own run would leave for the other page once more; here there is no button left that could.
"""

import time
from typing import NamedTuple

import streamlit as st

from pages.common import state
from pages.common.frame import page_path

_KEY = "lr_page_change"
_SECONDS = 5.0  # a second click has arrived by then


class _PageChange(NamedTuple):
    """left, opened: names of pages. began: of time.monotonic()."""

    left: str
    opened: str
    began: float


def open_page(name: str) -> None:
    """Leave for the page of that name."""
    st.session_state[_KEY] = _PageChange(state.memory().page, name, time.monotonic())
    st.switch_page(page_path(name))


def resume(page: str) -> None:
    """Leave for the other page again if a click brought back the page that was left. Called before a page is drawn."""
    change: _PageChange | None = st.session_state.get(_KEY)
    if change is not None and page == change.left:
        if time.monotonic() < change.began + _SECONDS:
            st.switch_page(page_path(change.opened))
        st.session_state.pop(_KEY)


def end() -> None:
    """Forget what was left. Called when a page has been drawn whole."""
    st.session_state.pop(_KEY, None)
