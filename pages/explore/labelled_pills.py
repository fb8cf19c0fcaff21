"""Pills beside their title."""

from collections.abc import Sequence

import streamlit as st

from pages.common import choices
from pages.common.html import draw, html


def labelled_pills(name: str, title: str, options: Sequence[str], default: str) -> str:
    """The chosen option; it is remembered under that name."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", width="content"):
        draw(html('<span class="lr-small lr-muted">{}</span>', title))
        titles = {option: option for option in options}
        return choices.pills(name, title, titles, default=default, label_visibility="collapsed")
