"""A form in a dialog, or a question, that stays open when the page runs again, where Streamlit would close it; while it
is open, the page does not run again by itself, for example when a job ends."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.storage.corpus_record import MAX_NAME
from pages.common import buttons
from pages.common.messages import message, say

_OPEN = "lr_open_form"
_RUN = "lr_n_runs"  # number of page runs in this session


@dataclass(frozen=True)
class _Open:
    """The form that is open. page: the page it is on; run: the last run of that page that drew it."""

    page: str
    key: str
    run: int


def begin(page: str) -> None:
    """Note that a page runs. Another page closes the form."""
    st.session_state[_RUN] = st.session_state.get(_RUN, 0) + 1
    opened: _Open | None = st.session_state.get(_OPEN)
    if opened is not None and opened.page != page:
        close()
    st.session_state[f"{_RUN}_page"] = page


def end() -> None:
    """Note that the page has run to its end; a form that it did not draw is closed. One that is interrupted by the next
    run, as happens where pages are slow, closes nothing."""
    opened: _Open | None = st.session_state.get(_OPEN)
    if opened is not None and opened.run < st.session_state[_RUN]:
        close()


def form(
    label: str,
    title: str,
    draw: Callable[[], None],
    *,
    key: str,
    width: Literal["small", "medium", "large"] = "small",
    **look: Any,
) -> None:
    """Draw the button that opens the form, and the form while it is open. look: arguments of the button."""
    st.button(label, key=key, on_click=open_form, args=(key,), **look)
    while_open(key, title, draw, width=width)


def open_form(key: str) -> None:
    """Open the dialog with that key, which while_open() draws, instead of one that is open. For callbacks."""
    page = st.session_state.get(f"{_RUN}_page", "")
    st.session_state[_OPEN] = _Open(page, key, st.session_state.get(_RUN, 0))


def while_open(
    key: str, title: str, draw: Callable[[], None], *, width: Literal["small", "medium", "large"] = "small"
) -> None:
    """Draw the dialog while it is open. key: tells it from others of the page, and from the same one about another
    thing."""
    run = st.session_state.get(_RUN, 0)
    opened: _Open | None = st.session_state.get(_OPEN)
    if opened is not None and opened.key == key:
        st.session_state[_OPEN] = replace(opened, run=run)
        st.dialog(title, width=width, on_dismiss=close)(draw)()


def rename(what: str, id_: str, name: str, texts: tuple[str, str], act: Callable[[str, str], object]) -> None:
    """Draw the button that opens a form to rename a thing. what: index or corpus, for keys. texts: the form's title,
    and the label of its field. act: takes the id and the new name."""

    def draw() -> None:
        written = st.text_input(texts[1], name, MAX_NAME, key=f"rename_{what}_{id_}")
        if buttons.primary(say("build.rename"), "", f"primary_rename_{what}"):
            try:
                act(id_, written)
            except LeanRAGError as error:
                message(error, kind="error")
                return
            close()
            st.rerun()

    form(say("build.rename"), texts[0], draw, key=f"rename_{what}", type="tertiary", icon=":material/edit:")


def refresh() -> None:
    """Run the page anew, for a fragment that sees by itself that something has changed; not while a form is open, which
    runs the page when it closes.

    Streamlit hides a dialog from the start of a run until the run draws it. If the browser draws the page meanwhile,
    the fields of the form are new ones, without the words that are just being written.
    """
    if _OPEN not in st.session_state:
        st.rerun()


def close() -> None:
    """Close the form at the next run of the page. For callbacks, and before st.rerun()."""
    st.session_state.pop(_OPEN, None)
