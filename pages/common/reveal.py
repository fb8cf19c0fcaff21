"""What a click changed is brought into sight, where it is below the fold."""

from pathlib import Path

import streamlit as st

from pages.common.component import component

_SCRIPT = Path(__file__).with_name("reveal.js")
_FRAME = "<span></span>"
_ASKED = "lr_reveal"


def ask_for(key: str) -> None:
    """The container of that key comes into sight in the next run. For callbacks."""
    number = st.session_state.get(_ASKED, ("", 0))[1]
    st.session_state[_ASKED] = (key, number + 1)


def show(key: str) -> None:
    """The container of that key comes into sight, when that was asked for. Called where it is drawn."""
    wanted, number = st.session_state.get(_ASKED, ("", 0))
    if wanted == key:
        component(_SCRIPT, _FRAME)(data={"key": key, "number": number}, key=f"reveal_{key}")
