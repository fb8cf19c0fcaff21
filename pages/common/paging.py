"""Long lists one page at a time, so that little is sent to the browser."""

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from pages.common import buttons, state
from pages.common.html import draw
from pages.common.markup import muted
from pages.common.messages import say

_Row = TypeVar("_Row")


def rows_of_page(rows: Sequence[_Row], size: int, *, key: str) -> Sequence[_Row]:
    """Return the rows of the current page; draw buttons to turn pages if there are several."""
    if len(rows) <= size:
        return rows
    last = (len(rows) - 1) // size
    page = state.fitting(key, 0, int, lambda value: 0 <= value <= last)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"paging_{key}"):
        for name, icon, turn in (("previous", "chevron_left", -1), ("next", "chevron_right", 1)):
            label, to = say(f"paging.{name}"), page + turn
            off = not 0 <= to <= last
            buttons.tertiary(label, icon, f"{key}_{name}", state.remember, key, to or None, disabled=off)
        first = page * size
        shown = say("paging.rows", first=first + 1, last=min(first + size, len(rows)), n=len(rows))
        draw(muted(shown))
    return rows[first : first + size]
