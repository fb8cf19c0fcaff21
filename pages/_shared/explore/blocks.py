"""Icicle and treemap as a component: drawn in the browser, a click or Enter on a block comes back."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.blocks import Blocks
from leanrag_core.types.visible import visible_values

_HERE = Path(__file__).resolve().parent


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component(
        "lr_blocks",
        html='<div class="lr-blocks"></div>',
        css=(_HERE / "blocks.css").read_text(encoding="utf-8"),
        js=(_HERE / "blocks.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )


def show(blocks: Blocks, *, label: str, picked: str, key: str, on_pick: Callable[[str], None]) -> None:
    """The blocks are drawn, the picked one with an outline; on_pick is called with the id of one that was clicked."""

    def picked_now() -> None:
        chosen = st.session_state[key].get("picked")
        if chosen:
            on_pick(str(chosen))

    # The height is stated, so that nothing below jumps while the drawing comes.
    _component()(
        data=visible_values({**asdict(blocks), "label": label, "picked": picked}),
        key=key,
        height=round(blocks.height) + 4,
        on_picked_change=picked_now,
    )
