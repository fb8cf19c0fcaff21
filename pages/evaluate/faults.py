"""Errors of callbacks, which run before the page is drawn: shown on the page that follows."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from leanrag_core.errors import LeanRAGError
from pages.common.messages import message

_FAULT = "lr_evaluate_fault"


@contextmanager
def kept() -> Iterator[None]:
    """An error of the block is kept for show()."""
    try:
        yield
    except LeanRAGError as error:
        st.session_state[_FAULT] = error


def show() -> None:
    """The error of the last callback, once."""
    error = st.session_state.pop(_FAULT, None)
    if error is not None:
        message(error, kind="error")
