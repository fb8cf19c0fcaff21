"""The field of a title or name; one that is too long is refused with a message and stays in the field."""

import streamlit as st

from pages.common.messages import message, say


def field(label: str, *, default: str, longest: int, key: str) -> str:
    """Draw the field and return the title: the default where nothing is written, "" where it is too long.

    The browser does not limit the field: Streamlit would drop a pasted text that is too long without a word.
    """
    default = default if len(default) <= longest else f"{default[: longest - 1]}…"
    title = st.text_input(label, "", placeholder=default, key=key).strip() or default
    return title if fits(title, longest) else ""


def fits(text: str, longest: int) -> bool:
    """Tell whether the text is short enough, and draw that it is not."""
    if len(text) > longest:
        message(say("evaluate.too_long", n=len(text), limit=longest), kind="error")
    return len(text) <= longest
