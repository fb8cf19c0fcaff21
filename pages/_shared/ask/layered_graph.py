"""The layered subgraph as a component: drawn in the browser, a click or Enter on a node comes back."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from leanrag_core.figures.layered import LayeredGraph
from leanrag_core.types.visible import visible_values
from pages._shared.common.component import component

_SCRIPT = Path(__file__).with_name("layered_graph.js")
_FRAME = '<div class="lr-graph lr-layers"></div><ol class="lr-seedlist" hidden></ol>'


def show(layouts: Sequence[LayeredGraph], *, label: str, picked: str, key: str, on_pick: Callable[[str], None]) -> None:
    """The graph is drawn in the widest of its layouts that the window has room for (the narrowest first); on_pick is
    called with the id of a node that was clicked."""

    def picked_now() -> None:
        chosen = st.session_state[key].get("picked")
        if chosen:
            on_pick(str(chosen))

    # The height is stated, so that nothing below jumps while the drawing comes.
    with st.container(key=f"{key}_box", gap=None):
        drawn = {"layouts": [asdict(graph) for graph in layouts], "label": label, "picked": picked}
        component(_SCRIPT, _FRAME, draws_svg=True, parts=("layers",))(
            data=visible_values(drawn), key=key, on_picked_change=picked_now
        )
