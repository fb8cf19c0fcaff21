"""The button that opens a file which a page has saved."""

from collections.abc import Callable

import streamlit as st

from leanrag_core.errors import LeanRAGError
from pages.common import markup, uploads
from pages.common.html import draw
from pages.common.messages import message, say


def open_button(
    codes: tuple[str, str, str, str], max_bytes: int, read: Callable[[bytes, str], None], *, key: str, file_key: str
) -> None:
    """Draw the button. codes: of the sentences on the button, below it, of the upload, and of an error. read: takes
    content and name, and raises LeanRAGError, which is shown. key, file_key: of the button and of the upload."""
    error_key = f"{file_key}_error"
    title, hint, field, failed = map(say, codes)

    def uploaded() -> None:
        file = st.session_state.get(file_key)
        st.session_state[error_key] = None
        if file is None:
            return
        try:
            read(file.getvalue(), file.name)
        except LeanRAGError as error:
            st.session_state[error_key] = error

    with st.popover(title, icon=":material/folder_open:", type="tertiary", key=key):
        draw(markup.muted(hint))
        look = {"type": "json", "label_visibility": "collapsed"}
        uploads.field(field, file_key, megabytes=max_bytes // 1_000_000, on_change=uploaded, **look)
        error = st.session_state.get(error_key)
        if error is not None:  # inside the popover, which would cover a message below it
            message(error, kind="error", title=failed)
