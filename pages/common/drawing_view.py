"""Drawings as a component: its script makes their shapes, in the widest version that fits."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.chart import CONFIG, Chart, as_csv
from leanrag_core.figures.drawing import Drawing, plain_values
from leanrag_core.types.visible import visible_values
from pages.common import downloads, markup
from pages.common.component import component
from pages.common.html import draw
from pages.common.messages import say

_SCRIPT = Path(__file__).with_name("drawing.js")
_FRAME = '<div class="lr-drawing"></div>'


def show(
    drawings: Sequence[Drawing],
    *,
    key: str,
    most: float = 1.25,
    picked: Callable[[str], None] | None = None,
    brushed: Callable[[tuple[str, ...]], None] | None = None,
) -> None:
    """Draw one drawing in one or several widths, the narrowest first. most: by which factor it may be enlarged.

    picked: called with the value of the shape that a person clicks. brushed: called with the values of the shapes in a
    box that a person draws, in the order of the drawing; with an empty tuple for a box around none.
    """
    mount = component(_SCRIPT, _FRAME)
    values = {"drawings": plain_values(drawings), "most": most, "brush": brushed is not None}
    picks = tuple(dict.fromkeys(shape.pick for drawing in drawings for shape in drawing.shapes if shape.pick))

    def report_picked() -> None:
        chosen = str(st.session_state[key].get("picked") or "")
        if picked is not None and chosen in picks:
            picked(chosen)

    def report_brushed() -> None:
        inside = st.session_state[key].get("brushed")
        if brushed is not None and isinstance(inside, list):
            brushed(tuple(pick for pick in picks if pick in inside))

    handlers: dict[str, Any] = {"on_picked_change": report_picked} if picked is not None else {}
    if brushed is not None:
        handlers["on_brushed_change"] = report_brushed
    mount(data=values, key=key, **handlers)


def show_chart(chart: Chart, *, title: str, key: str, note: str = "") -> None:
    """Draw the chart under its title, and a fold with its numbers as a table and as CSV. key: unique on the page."""
    draw(markup.label(title, note))
    # Streamlit's own theme would replace the colours of the palette.
    st.plotly_chart(chart.figure, theme=None, config=dict(CONFIG), key=key, alt=chart.label)
    numbers_fold(chart.head, chart.rows, key=key, note=f"{chart.label}.", caption=title)


def numbers_fold(head: Sequence[str], rows: Sequence[Sequence[str]], *, key: str, note: str, caption: str) -> None:
    """Draw a button that opens the numbers of a drawing as a table, and as a file. caption: of the table."""
    with st.popover(say("chart.table"), type="tertiary", icon=":material/table_rows:", key=f"table_{key}"):
        draw(markup.muted(note), markup.facts_table(head, rows, caption=caption))
        downloads.button(say("chart.csv"), as_csv(head, rows), f"{key}.csv", "text/csv", key=f"csv_{key}")


def tools(title: str, note: str, *, keys: str = "", svg: bool = False) -> dict[str, Any]:
    """Return the values for the script's figureTools. title: names the files. note: how much is drawn. keys: help on
    keyboard use. svg: offer the picture as SVG too."""
    words = {"svg": say("figure.as_svg")} if svg else {}
    words |= {"table": say("figure.as_table"), "png": say("figure.as_png"), "html": say("figure.as_html")}
    values: dict[str, Any] = visible_values({"title": title, "note": note, "keys": keys, "words": words})
    return values
