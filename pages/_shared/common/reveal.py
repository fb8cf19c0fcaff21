"""What a click changed is brought into sight, where it stands below the fold."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).resolve().parent
_ASKED = "lr_reveal"


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    script = (_HERE / "reveal.js").read_text(encoding="utf-8")
    return st.components.v2.component("lr_reveal", html="<span></span>", js=script, isolate_styles=False)


def ask_for(key: str) -> None:
    """The container of that key comes into sight in the next run. For callbacks."""
    number = st.session_state.get(_ASKED, ("", 0))[1]
    st.session_state[_ASKED] = (key, number + 1)


def show(key: str) -> None:
    """The container of that key comes into sight, when that was asked for. Called where it is drawn."""
    wanted, number = st.session_state.get(_ASKED, ("", 0))
    if wanted == key:
        _component()(data={"key": key, "number": number}, key=f"reveal_{key}")
