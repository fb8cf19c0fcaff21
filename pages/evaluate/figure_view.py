"""A drawing under its title, with a button to its numbers as a table and as a file."""

from collections.abc import Callable, Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.statistics import Interval
from leanrag_core.figures.drawing import Drawing
from leanrag_core.figures.interval_marks import CellMark
from pages.common import drawing_view
from pages.common.html import draw, html
from pages.common.messages import say
from pages.evaluate import measure_words


def title(text: str, note: str = "") -> None:
    """Draw the heading of a figure with a muted note."""
    draw(html('<div class="lr-h3">{}<span>{}</span></div>', text, note))


def not_measured() -> Markup:
    """Return the cell of a figure that a run does not have."""
    return html('<td class="lr-muted" title="{}">–</td>', say("evaluate.not_measured"))


def interval_words(interval: Interval, measure: str) -> str:
    """Return in words from where to where the interval goes, "" where that is unknown."""
    if interval.low is None or interval.high is None:
        return ""
    low, high = (measure_words.shown(measure, end) for end in (interval.low, interval.high))
    return say("evaluate.interval", low=low, high=high)


def interval_bar(mark: CellMark, described: str, letter: str = "") -> Markup:
    """Return a value and its interval as a dot on a bar. letter: of the run, "" for one without a colour."""
    template = (
        '<span class="lr-iv" role="img" aria-label="{0}" title="{0}"><i style="left:{1}%;width:{2}%"></i>'
        '<u class="{3}" style="left:{4}%"></u></span>'
    )
    return html(template, described, mark.left, mark.width, letter.lower() or "other", mark.dot)


def show(
    drawings: Sequence[Drawing],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    key: str,
    picked: Callable[[str], None] | None = None,
    brushed: Callable[[tuple[str, ...]], None] | None = None,
    most: float = 1.25,
) -> None:
    """Draw the figure in several widths, the narrowest first, then a button to its table. key: unique on the page.
    picked, brushed: see drawing_view.show()."""
    caption = drawings[0].label
    with st.container(gap="xxsmall", key=f"figure_{key}"):
        drawing_view.show(drawings, key=key, most=most, picked=picked, brushed=brushed)
        drawing_view.numbers_fold(head, rows, key=key, note=caption, caption=caption)
