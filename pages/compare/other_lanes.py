"""Grey lanes of strategies that have no column: each that runs at once, with its own defaults."""

import streamlit as st

from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import lane
from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.retrieval.base import StrategyInfo, strategies
from pages.common import choices, drawing_view, markup, session
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.compare.loading import Loaded
from pages.compare.missed_view import LANE_WIDTHS, lane_of


def show(loaded: list[Loaded], gold: Gold) -> None:
    """Draw a switch, and below it the lanes. gold: as located in the first column's index."""
    first = next((each for each in loaded if each.index is not None), None)
    if first is None or first.index is None:
        return
    if not choices.toggle("others", say("missed.others")):
        return
    compared_names = {each.column.info.name for each in loaded}
    left_out = []
    for info in strategies().strategies:
        if info.name in compared_names:
            continue
        if not _lane(first, info, gold):
            left_out.append(words(info.title))
    if left_out:
        draw(markup.muted(say("missed.others_left_out", names=say("ask.comma").join(left_out))))


def _lane(first: Loaded, info: StrategyInfo, gold: Gold) -> bool:
    """Draw the strategy's lane, or its error, and return True; False if it would call a model or lacks an index
    part."""
    assert first.index is not None
    if info.calls_model and session.workbench().questions.asks_model(first.column.summary.config.model):
        return False
    try:
        trace = session.retrieve(first.column.summary, first.question, info.name, ())
    except PartMissing:
        return False
    except LeanRAGError as error:
        draw(markup.muted(say("text.titled", title=words(info.title), text=words(error))))
        return True
    gold_lane = lane(trace, first.index, gold)
    name, lanes, _ = st.columns([19, 57, 34], gap="small", vertical_alignment="center")
    with name:
        title = words(info.title)
        draw(html('<div class="lr-lanename"><span>{}<small>{}</small></span></div>', title, say("missed.no_column")))
    with lanes:
        drawings = [lane_of("", gold_lane, title, width) for width in LANE_WIDTHS]
        drawing_view.show(drawings, key=f"missed_other_{info.name}", most=1.5)
    return True
