"""The buttons that download a file, and the files' names."""

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

_NOT_IN_NAMES = re.compile(r"[^\w]+")


def button(
    title: str, content: str | bytes | Callable[[], str | bytes], file_name: str, mime: str, **more: Any
) -> None:
    """Draw the button. content: of the file, or a function that makes it when the button is pressed. more: arguments
    of st.download_button; the button is small and has an icon unless they say otherwise."""
    look: dict[str, Any] = {"type": "tertiary", "icon": ":material/download:", **more}
    st.download_button(title, content, file_name, mime, on_click="ignore", **look)


def name_from(text: str, longest: int, otherwise: str) -> str:
    """Return the beginning of a text as a file's name; the other name if nothing of it can stand in a name."""
    return _NOT_IN_NAMES.sub(" ", text)[:longest].strip() or otherwise
