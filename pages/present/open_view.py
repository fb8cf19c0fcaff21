"""A presentation file of another machine, opened."""

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.presenting.storing import MAX_BYTES, presentation_of
from pages.common import markup, session, state
from pages.common.html import draw
from pages.common.messages import message, say

_FILE, _ERROR = "present_file", "present_file_error"


def show() -> None:
    """The button that opens a file; one that does not read says why."""
    with st.popover(say("present.open_file"), icon=":material/folder_open:", type="tertiary", key="present_open"):
        draw(markup.muted(say("present.open_hint")))
        st.file_uploader(
            say("present.open_file"),
            type="json",
            max_upload_size=MAX_BYTES // 1_000_000,
            key=_FILE,
            on_change=_open,
            label_visibility="collapsed",
        )
        error = st.session_state.get(_ERROR)
        if error is not None:
            message(error, kind="error", title=say("present.not_opened"))


def _open() -> None:
    file = st.session_state.get(_FILE)
    st.session_state[_ERROR] = None
    if file is None:
        return
    try:
        presentation = presentation_of(file.getvalue(), name=file.name)
        state.remember("show", session.workbench().presentations.add(presentation))
    except LeanRAGError as error:
        st.session_state[_ERROR] = error
