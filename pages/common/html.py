"""HTML on a page; values are inserted as escaped text (leanrag_core.figures.html)."""

from functools import cache
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from leanrag_core.figures.drawing import Drawing
from leanrag_core.figures.html import NOTHING, html, joined

__all__ = ["NOTHING", "draw", "draw_styles", "html", "joined", "svg"]


def svg(drawing: Drawing) -> Markup:
    """Return the drawing as an SVG element with all texts escaped."""
    return Markup(drawing.as_svg())


@cache
def _rules(path: Path) -> Markup:
    return Markup(path.read_text(encoding="utf-8"))


def draw_styles(path: Path) -> None:
    """Draw the style rules of that file, beside those that all pages have."""
    draw(html("<style>{}</style>", _rules(path)))


def draw(*parts: Markup) -> None:
    """Draw the parts as one piece of HTML."""
    st.html(str(joined(parts)))
