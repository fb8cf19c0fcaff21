"""What is told in a sentence: a quiet box, an error or a success."""

import streamlit as st

from leanrag_core.types.visible import escape


def message(text: str, *, kind: str = "note", title: str = "") -> None:
    """One sentence (or two) in a quiet box. kind: note, error, good."""
    head = f"<b>{escape(title)}</b> " if title else ""
    role = "alert" if kind == "error" else "status"
    st.html(f'<div class="lr-msg {kind}" role="{role}">{head}{escape(sentence(text))}</div>')


def sentence(text: str) -> str:
    """The text as a sentence: begins with a capital and ends with a stop."""
    text = text.strip()
    if not text:
        return text
    if not text.startswith(("http://", "https://")):
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?" else text + "."
