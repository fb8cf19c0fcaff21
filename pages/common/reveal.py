"""Bringing something into view on request: a row of a list, a setting, or the content of a drawer."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import streamlit as st

from pages.common import state
from pages.common.component import component
from pages.common.scope import Scope

_SCRIPT = Path(__file__).with_name("reveal.js")
_FRAME = "<span></span>"
_ASKED = "lr_reveal"
Gap = Literal["xsmall", "small"]


def ask_for(key: str) -> None:
    """Request that the next run scrolls to the container with that key. For callbacks."""
    number = st.session_state.get(_ASKED, ("", 0))[1]
    st.session_state[_ASKED] = (key, number + 1)


def show(key: str) -> None:
    """Scroll to the container with that key, if that was requested. Called where the container is drawn."""
    wanted, number = st.session_state.get(_ASKED, ("", 0))
    if wanted == key:
        component(_SCRIPT, _FRAME)(data={"key": key, "number": number}, key=f"reveal_{key}")


PLACE = "place"  # in links: the place of a setting on the page
_FOLLOWED = "lr_place"


@contextmanager
def place(name: str, *, gap: Gap = "small") -> Iterator[None]:
    """Put a setting in a container that a link can lead to: it scrolls into view and takes the focus. gap: between its
    elements."""
    key = f"place_{name}"
    with st.container(key=key, gap=gap):
        yield
        wanted, visit, number = st.session_state.get(_FOLLOWED, ("", 0, 0))
        if wanted == name and visit == state.memory().visit:
            component(_SCRIPT, _FRAME)(data={"key": key, "number": number}, key=f"reveal_{key}")


def follow_link() -> None:
    """Scroll once to the place that a link names; neither the link nor a later visit of the page repeats it."""
    name = state.recall(PLACE)
    if name:
        state.forget(PLACE)
        number = st.session_state.get(_FOLLOWED, ("", 0, 0))[2]
        st.session_state[_FOLLOWED] = (name, state.memory().visit, number + 1)


_FOCUS_SCRIPT = Path(__file__).with_name("drawer_focus.js")
_DRAWER = "lr_drawer"
_Content = TypeVar("_Content")


def ask_for_drawer(scope: Scope, content: object) -> None:
    """Request that the next run opens the drawer with that content, in that scope. For callbacks."""
    st.session_state[_DRAWER] = (scope, content)


def take_drawer(scope: Scope, kind: type[_Content]) -> _Content | None:
    """Return, once, the requested content of that kind for a drawer in that scope."""
    asked_scope, content = st.session_state.get(_DRAWER, (None, None))
    if asked_scope != scope or not isinstance(content, kind):
        return None
    del st.session_state[_DRAWER]
    return content


def take_focus(scope: Scope) -> None:
    """Move the focus into the drawer that is being drawn, so that it receives keys."""
    component(_FOCUS_SCRIPT, "<span></span>")(data={}, key=scope.name("drawer_focus"))
