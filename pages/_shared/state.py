"""A link is a state: what a page shows is remembered for the session and written into the URL."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

_MEMORY = "lr_memory"
_WRITTEN = "lr_written"


def _memory() -> dict[str, str]:
    found: dict[str, str] = st.session_state.setdefault(_MEMORY, {})
    return found


def read_url() -> None:
    """What stands in the URL and was not written by this session is remembered, and the widgets follow it."""
    arrived = {name: st.query_params[name] for name in st.query_params}
    if arrived == st.session_state.get(_WRITTEN):
        return
    for name, value in arrived.items():
        if _memory().get(name) != value:
            _memory()[name] = value
            st.session_state.pop(widget_key(name), None)
    st.session_state[_WRITTEN] = arrived


def recall(name: str, default: str = "") -> str:
    """The remembered value of that name."""
    return _memory().get(name, default)


def remember(name: str, value: Any) -> None:
    """The value is remembered under that name; None or "" forgets it."""
    if value is None or value == "":
        _memory().pop(name, None)
    else:
        _memory()[name] = str(value)


def widget_key(name: str) -> str:
    """The widget key of a remembered value."""
    return f"lr_{name}"


def set_widget(name: str, value: Any) -> None:
    """A widget that is drawn later in this run, or in the next, shows the value. For callbacks."""
    st.session_state[widget_key(name)] = value
    remember(name, value)


def prepare(name: str, default: Any, parse: Callable[[str], Any], allowed: Callable[[Any], bool]) -> str:
    """The widget's key, its state set from what is remembered, or from the default when that does not fit."""
    key = widget_key(name)
    if key not in st.session_state or not _fits(st.session_state[key], allowed):
        value = default
        if name in _memory():
            try:
                found = parse(_memory()[name])
                value = found if allowed(found) else default
            except ValueError:
                value = default
        st.session_state[key] = value
    return key


def _fits(value: Any, allowed: Callable[[Any], bool]) -> bool:
    try:
        return allowed(value)
    except TypeError:
        return False


def as_flag(text: str) -> bool:
    """ "1" and "true" are true."""
    return text.lower() in ("1", "true", "yes")


def publish(names: Sequence[str]) -> None:
    """The URL holds the remembered values of those names, and nothing else."""
    wanted = {name: _memory()[name] for name in names if _memory().get(name)}
    if wanted != {name: st.query_params[name] for name in st.query_params}:
        st.query_params.from_dict(wanted)
    st.session_state[_WRITTEN] = wanted
