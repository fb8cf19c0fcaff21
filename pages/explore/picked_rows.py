"""A table of things that lead on: a click anywhere in a row chooses it."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.common.forms import table_height, visible_cells
from pages.common.html import draw, html


def pick_row(
    table: Any, ids: Sequence[str], *, key: str, on_pick: Callable[[str], None], note: str = "", height: int = 0
) -> None:
    """The table; on_pick is called with the id of the row that is clicked."""

    def picked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            on_pick(ids[int(cells[0][0])])

    if note:
        draw(html('<div class="lr-small lr-muted lr-listed">{}</div>', note))
    counts = table.select_dtypes("number").columns
    st.dataframe(
        visible_cells(table),
        hide_index=True,
        placeholder="–",
        key=key,
        on_select=picked,
        selection_mode="single-cell",
        height=height or table_height(len(ids), 400),
        column_config={name: st.column_config.NumberColumn(format="localized") for name in counts},
    )
