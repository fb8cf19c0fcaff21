"""What a page shows as Python code and as a command, behind a button."""

from collections.abc import Callable

import streamlit as st

from leanrag_core.comparing.as_code import Code
from pages.common import copy_button, markup
from pages.common.html import draw, html
from pages.common.messages import say


def button(make: Callable[[], Code], *, key: str) -> None:
    """Draw the button; the code is made and goes to the browser when a person opens it."""
    st.fragment(_fold)(make, key)


def _fold(make: Callable[[], Code], key: str) -> None:
    fold = st.popover(say("code.title"), icon=":material/code:", type="tertiary", key=key, on_change="rerun")
    with fold:
        # Drawn before it opens, so that it opens to the side with room for the code, which comes later (style.css).
        draw(html('<div class="lr-small lr-muted lr-late">{}</div>', say("code.hint")))
    if not fold.open:
        return
    code = make()
    with fold:
        for name, text, language in (("python", code.python, "python"), ("command", code.command, "bash")):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                draw(markup.label(say(f"code.{name}")))
                copy_button.copy_text(say(f"code.copy_{name}"), source_key=f"{key}_{name}", key=f"{key}_copy_{name}")
            with st.container(key=f"{key}_{name}"):
                st.code(text, language=language, wrap_lines=True)
