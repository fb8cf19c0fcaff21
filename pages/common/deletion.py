"""Buttons that delete a thing, after a dialog has named it and what goes with it, or an unreadable record at once."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.types.summary import Damaged
from leanrag_core.types.visible import visible
from pages.common import buttons, dialogs, markup
from pages.common.html import draw
from pages.common.messages import kept_fault, message

_FAULT = "lr_deletion_fault"
_DELETED = "lr_deletion_done"  # whether what the dialog is about is gone


def button(
    key: str,
    label: str,
    title: str,
    name: str,
    means: str,
    delete: Callable[[], object],
    *,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Draw the button. title: of the dialog. name: of the thing; means: what is deleted with it. delete: a callback.
    on_click: called when the dialog opens, for example to close a menu.

    The dialog shows an error of the callback.
    """
    opened_key = f"{key} {name}"  # where this thing is gone, the same button may be about the next one

    def begin() -> None:
        st.session_state[_DELETED] = False
        dialogs.open_form(opened_key)
        if on_click is not None:
            on_click()

    buttons.tertiary(label, "delete", key, begin)
    dialogs.while_open(opened_key, title, partial(_confirm, f"{key}_confirm", label, name, means, delete))


def damaged(
    listed: Iterable[Damaged], label: str, delete: Callable[[str], object], title: Callable[[str], str] | None = None
) -> None:
    """Draw the error of each unreadable record, and a button that deletes it. title: the title for an id."""
    for each in listed:
        message(each.reason, kind="error", title=title(each.id) if title else "")
        if buttons.secondary(label, "delete", f"delete_damaged_{each.id}"):
            now(delete, each.id)


def now(delete: Callable[[str], object], id_: str) -> None:
    """Delete the thing with that id and redraw the page; after an error draw that instead, since redrawing would remove
    it."""
    try:
        delete(id_)
    except LeanRAGError as error:
        message(error, kind="error")
    else:
        st.rerun()


def _confirm(key: str, label: str, name: str, means: str, delete: Callable[[], object]) -> None:
    def act() -> None:
        if not st.session_state[_DELETED]:  # or it is the second of two quick clicks
            delete()
            st.session_state[_DELETED] = True

    st.text(visible(name))
    draw(markup.muted(means))
    # A callback, so that no redrawing can lose the click.
    if buttons.secondary(label, "delete", key, kept_fault(_FAULT)(act)):
        fault = st.session_state.pop(_FAULT, None)
        if fault is None:
            dialogs.close()
            st.rerun()
        message(fault, kind="error")
