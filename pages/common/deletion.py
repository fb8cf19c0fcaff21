"""A button that deletes something after a dialog has named it and said what goes with it."""

from collections.abc import Callable

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.types.visible import visible
from pages.common import markup
from pages.common.html import draw
from pages.common.messages import message

_FAULT = "lr_deletion_fault"
_ICON = ":material/delete:"


def button(key: str, label: str, title: str, name: str, means: str, delete: Callable[[], object]) -> None:
    """Draw the button. title: of the dialog. name: of the thing; means: what goes with it. delete: a callback.

    An error of the callback is shown in the dialog.
    """
    if st.button(label, icon=_ICON, type="tertiary", key=key):
        st.dialog(title)(_confirm)(f"{key}_confirm", label, name, means, delete)


def _confirm(key: str, label: str, name: str, means: str, delete: Callable[[], object]) -> None:
    st.text(visible(name))
    draw(markup.muted(means))
    # A callback, so that no redrawing can swallow the click.
    if st.button(label, icon=_ICON, key=key, on_click=_kept, args=(delete,)):
        fault = st.session_state.pop(_FAULT, None)
        if fault is None:
            st.rerun()
        message(fault, kind="error")


def _kept(delete: Callable[[], object]) -> None:
    try:
        delete()
    except LeanRAGError as error:
        st.session_state[_FAULT] = error
