"""Drawings as a component: the script makes their shapes, in the widest of the widths that fits."""

from collections.abc import Sequence
from pathlib import Path

from leanrag_core.figures.drawing import Drawing, plain_values
from pages._shared.common.component import component

_SCRIPT = Path(__file__).with_name("drawing.js")
_FRAME = '<div class="lr-drawing"></div>'


def show(drawings: Sequence[Drawing], *, key: str, most: float = 1.25) -> None:
    """The same drawing in one or several widths, the narrowest first. most: how many times its width it may grow."""
    component(_SCRIPT, _FRAME, draws_svg=True)(data={"drawings": plain_values(drawings), "most": most}, key=key)
