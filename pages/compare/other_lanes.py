"""Lanes of strategies that are no columns: each that runs at once, with its own defaults, in grey."""

import streamlit as st

from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import lane
from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.retrieval.base import StrategyInfo, strategies
from pages.common import drawing_view, markup, session, state, widgets
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.compare.loading import Loaded
from pages.compare.missed_view import LANE_WIDTHS, lane_of


def show(loaded: list[Loaded], gold: Gold) -> None:
    """Draw a switch, and below it the lanes. gold: as the first column's index holds it."""
    own = next((each for each in loaded if each.index is not None), None)
    if own is None or own.index is None:
        return
    widgets.remembered(
        "others",
        False,
        lambda mount: st.toggle(say("missed.others"), value=mount.value, key=mount.key, on_change=mount.changed),
        widgets.Values(parse=state.as_flag),
    )
    if state.recall("others") != "1":
        return
    taken = {each.column.info.name for each in loaded}
    left_out = []
    for info in strategies().strategies:
        if info.name in taken:
            continue
        if not _lane(own, info, gold):
            left_out.append(words(info.title))
    if left_out:
        draw(markup.muted(say("missed.others_left_out", names=say("ask.comma").join(left_out))))


def _lane(own: Loaded, info: StrategyInfo, gold: Gold) -> bool:
    """Return whether the strategy ran and its lane is drawn: none is that would call a model, or lacks a part."""
    assert own.index is not None
    if info.calls_model and session.workbench().questions.asks_model(own.column.summary.config.model):
        return False
    try:
        trace = session.retrieve(own.column.summary, own.question, info.name, ())
    except PartMissing:
        return False
    except LeanRAGError as error:
        draw(markup.muted(f"{words(info.title)}: {words(error)}"))
        return True
    way = lane(trace, own.index, gold)
    name, lanes, _ = st.columns([19, 57, 34], gap="small", vertical_alignment="center")
    with name:
        title = words(info.title)
        draw(html('<div class="lr-lanename"><span>{}<small>{}</small></span></div>', title, say("missed.no_column")))
    with lanes:
        drawings = [lane_of("", way, title, width) for width in LANE_WIDTHS]
        drawing_view.show(drawings, key=f"missed_other_{info.name}", most=1.5)
    return True
