"""Drawings as a component: the script makes their shapes, in the widest of the widths that fits."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from leanrag_core.figures.drawing import Drawing, plain_values
from pages.common.component import component

_SCRIPT = Path(__file__).with_name("drawing.js")
_FRAME = '<div class="lr-drawing"></div>'


def show(
    drawings: Sequence[Drawing], *, key: str, most: float = 1.25, picked: Callable[[str], None] | None = None
) -> None:
    """The same drawing in one or several widths, the narrowest first. most: how many times its width it may grow.

    picked: is called with what the shape reports that a person picked.
    """
    mount = component(_SCRIPT, _FRAME, draws_svg=True)
    values = {"drawings": plain_values(drawings), "most": most}
    if picked is None:
        mount(data=values, key=key)
        return

    def report() -> None:
        chosen = str(st.session_state[key].get("picked") or "")
        if any(shape.pick == chosen != "" for drawing in drawings for shape in drawing.shapes):
            picked(chosen)

    mount(data=values, key=key, on_picked_change=report)
