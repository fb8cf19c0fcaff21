"""The field of a title or name; one that is too long is refused with a message and stays in the field."""

import streamlit as st

from leanrag_core.types.visible import visible
from pages.common.messages import message, say

_LONGEST = 120


def field(default: str, *, key: str) -> str:
    """Draw the field of a title and return it: the default where nothing is written, "" where it is too long.

    The browser does not limit the field: Streamlit would drop a pasted text that is too long without a word.
    """
    default = default if len(default) <= _LONGEST else f"{default[: _LONGEST - 1]}…"
    title = st.text_input(say("evaluate.form.title"), "", placeholder=visible(default), key=key).strip() or default
    return title if fits(title, _LONGEST) else ""


def fits(text: str, longest: int) -> bool:
    """Tell whether the text is short enough, and draw that it is not."""
    if len(text) > longest:
        message(say("evaluate.too_long", n=len(text), limit=longest), kind="error")
    return len(text) <= longest
