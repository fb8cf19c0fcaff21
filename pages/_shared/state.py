"""A link is a state: what a page shows is remembered for the session and written into the URL."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

_MEMORY = "lr_memory"
_WRITTEN = "lr_written"  # the URL as this session last saw or wrote it
_OWN = "lr_own_urls"  # URLs that this session wrote for the page at hand, as sorted pairs
_SHOWN = "lr_shown"  # what the widgets held when the URL was last written
_PAGE = "lr_page"
_OWN_KEPT = 50


def _memory() -> dict[str, str]:
    found: dict[str, str] = st.session_state.setdefault(_MEMORY, {})
    return found


def read_url(page: str) -> None:
    """What stands in the URL and was not written by this session is remembered, and the widgets follow it.

    A URL that this session wrote earlier is either the way back, which is followed, what it lacks being forgotten; or
    the browser had not yet heard of a later one when the reader moved a widget on, and then the widget counts.
    """
    arrived = {name: st.query_params[name] for name in st.query_params}
    stays = st.session_state.get(_PAGE) == page
    if not stays:
        st.session_state[_PAGE], st.session_state[_OWN] = page, []
    written = st.session_state.get(_WRITTEN, {})
    if arrived == written:
        return
    if stays and sorted(arrived.items()) in st.session_state[_OWN]:
        if _moved_on(written):
            return
        for name in written.keys() - arrived.keys():
            _memory().pop(name, None)
            st.session_state.pop(widget_key(name), None)
    for name, value in arrived.items():
        if _memory().get(name) != value:
            _memory()[name] = value
            st.session_state.pop(widget_key(name), None)
    st.session_state[_WRITTEN] = arrived


def _moved_on(written: dict[str, str]) -> bool:
    """Whether a widget, or what is remembered, is no longer as it was when the URL was written: the reader acted."""
    shown: dict[str, Any] = st.session_state.get(_SHOWN, {})
    if any(st.session_state.get(widget_key(name), value) != value for name, value in shown.items()):
        return True
    return any(_memory().get(name) != value for name, value in written.items())


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
    own = st.session_state.setdefault(_OWN, [])
    if sorted(wanted.items()) not in own:
        st.session_state[_OWN] = [*own, sorted(wanted.items())][-_OWN_KEPT:]
    keys = {name: widget_key(name) for name in names}
    st.session_state[_SHOWN] = {name: st.session_state[key] for name, key in keys.items() if key in st.session_state}
