"""HTML that is escaped by construction: a template is written in the code, every value that is filled in is text.

A value of a document, a model or a person can only become HTML as text, with characters that are not seen shown as
marks; what `html` made before is filled in as it is.
"""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from leanrag_core.figures.drawing import Drawing
from leanrag_core.types.visible import visible

NOTHING = Markup("")


def html(template: str, /, *values: object, **named: object) -> Markup:
    """The template filled as str.format does it, each value escaped but for Markup: html("<b>{}</b>", name)."""
    return Markup(template).format(*map(_shown, values), **{name: _shown(value) for name, value in named.items()})


def joined(parts: Iterable[object], between: str = "") -> Markup:
    """The parts one after the other. between: HTML that is written in the code, such as "<br>"."""
    return Markup(between).join(part if isinstance(part, Markup) else visible(str(part)) for part in parts)


def svg(drawing: Drawing) -> Markup:
    """The drawing as an element, which escapes all of its texts."""
    return Markup(drawing.as_svg())


def draw(*parts: Markup) -> None:
    """Draws the parts as one piece of HTML."""
    st.html(str(joined(parts)))


def _shown(value: object) -> object:
    """The value with characters that are not seen as marks; Markup has been through this."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
