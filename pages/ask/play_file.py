"""The play on the page as one HTML file."""

import re

import streamlit as st

from leanrag_core.figures.play_values import play_page
from leanrag_core.types.trace import Trace
from pages.common.messages import language, say
from pages.common.scope import Scope

_NOT_IN_NAMES = re.compile(r"[^\w]+")


def button(scope: Scope, trace: Trace) -> None:
    """Save the play; the file opens without a server and can be stepped through."""
    shown_in = language()
    st.download_button(
        say("ask.play_file"),
        lambda: play_page(trace, language=shown_in),
        file_name=f"play {_NOT_IN_NAMES.sub(' ', trace.question)[:40].strip() or 'question'}.html",
        mime="text/html",
        icon=":material/download:",
        type="tertiary",
        help=say("ask.play_file_hint"),
        on_click="ignore",
        key=scope.name("play_file"),
    )
