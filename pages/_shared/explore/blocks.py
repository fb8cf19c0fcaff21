"""Icicle and treemap as a component: drawn in the browser, a click or Enter on a block comes back."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from leanrag_core.figures.blocks import Blocks
from leanrag_core.types.visible import visible_values
from pages._shared.common.component import component

_SCRIPT = Path(__file__).with_name("blocks.js")
_FRAME = '<div class="lr-blocks"></div>'


def show(blocks: Blocks, *, label: str, picked: str, key: str, on_pick: Callable[[str], None]) -> None:
    """The blocks are drawn, the picked one with an outline; on_pick is called with the id of one that was clicked."""

    def picked_now() -> None:
        chosen = st.session_state[key].get("picked")
        if chosen:
            on_pick(str(chosen))

    # The height is stated, so that nothing below jumps while the drawing comes.
    component(_SCRIPT, _FRAME, draws_svg=True)(
        data=visible_values({**asdict(blocks), "label": label, "picked": picked}),
        key=key,
        height=round(blocks.height) + 4,
        on_picked_change=picked_now,
    )
