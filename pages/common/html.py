"""HTML on a page; values are inserted as escaped text (leanrag_core.figures.html)."""

import streamlit as st
from markupsafe import Markup

from leanrag_core.figures.drawing import Drawing
from leanrag_core.figures.html import NOTHING, html, joined

__all__ = ["NOTHING", "draw", "html", "joined", "svg"]


def svg(drawing: Drawing) -> Markup:
    """Return the drawing as an SVG element with all texts escaped."""
    return Markup(drawing.as_svg())


def draw(*parts: Markup) -> None:
    """Draw the parts as one piece of HTML."""
    st.html(str(joined(parts)))
