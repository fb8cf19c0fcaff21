"""The button that opens a file which a page has saved."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from leanrag_core.errors import LeanRAGError
from pages.common import markup, uploads
from pages.common.html import draw
from pages.common.messages import message


@dataclass(frozen=True, kw_only=True)
class SavedFile:
    """A kind of file. button, hint, field, failed: texts of the button, below it, of the upload, and of an error."""

    button: str
    hint: str
    field: str
    failed: str
    max_bytes: int


def open_button(kind: SavedFile, read: Callable[[bytes, str], None], *, key: str, file_key: str) -> None:
    """Draw the button. read: takes content and name, and raises LeanRAGError, which is shown. key, file_key: of the
    button and of the upload."""
    error_key = f"{file_key}_error"

    def uploaded() -> None:
        file = st.session_state.get(file_key)
        st.session_state[error_key] = None
        if file is None:
            return
        try:
            read(file.getvalue(), file.name)
        except LeanRAGError as error:
            st.session_state[error_key] = error

    with st.popover(kind.button, icon=":material/folder_open:", type="tertiary", key=key):
        draw(markup.muted(kind.hint))
        megabytes = kind.max_bytes // 1_000_000
        uploads.translate(file_key, megabytes=megabytes)
        st.file_uploader(
            kind.field,
            type="json",
            max_upload_size=megabytes,
            key=file_key,
            on_change=uploaded,
            label_visibility="collapsed",
        )
        error = st.session_state.get(error_key)
        if error is not None:  # inside the popover, which would cover a message below it
            message(error, kind="error", title=kind.failed)
