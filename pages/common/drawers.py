"""Which drawer opens in the next run. Streamlit shows one dialog at a time: the last request replaces the others."""

from pathlib import Path
from typing import TypeVar

import streamlit as st

from pages.common.component import component
from pages.common.scope import Scope

_SCRIPT = Path(__file__).with_name("drawer_focus.js")
_ASKED = "lr_drawer"
_Content = TypeVar("_Content")


def ask_for(scope: Scope, content: object) -> None:
    """The drawer with that content opens in the next run, over the group of widgets with that scope. For callbacks."""
    st.session_state[_ASKED] = (scope, content)


def take(scope: Scope, kind: type[_Content]) -> _Content | None:
    """What is to be shown in a drawer of that kind in that scope; it is given out once."""
    asked_scope, content = st.session_state.get(_ASKED, (None, None))
    if asked_scope != scope or not isinstance(content, kind):
        return None
    del st.session_state[_ASKED]
    return content


def take_focus(scope: Scope) -> None:
    """Bring the focus into the drawer that is being drawn, so that keys reach it."""
    component(_SCRIPT, "<span></span>")(data={}, key=scope.name("drawer_focus"))
