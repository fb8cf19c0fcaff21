"""The retrieval as a play, as a component: steps, hovering and scrubbing stay in the browser."""

from collections.abc import Callable, Collection
from pathlib import Path

import streamlit as st

from leanrag_core.figures.play import Play, play_words
from leanrag_core.figures.scripts import PLAY
from pages._shared.common.component import component
from pages._shared.common.messages import language

_SCRIPT = Path(__file__).with_name("play.js")
WHOLE = "whole"  # what is opened in Explore where no node is: the hierarchy with the hits of this question
_FRAME = '<div class="lr-play"></div>'


def show(
    shown: Play,
    *,
    key: str,
    start: str = "",
    picked: str = "",
    table: bool = False,
    links: tuple[str, ...] = (),
    explorable: Collection[str] = (),
    on_explore: Callable[[str], None] | None = None,
    on_read: Callable[[str], None] | None = None,
) -> None:
    """start: name of the step it begins at, or of a frame in it ("climb.1"); its end where empty. picked: id of the
    node whose card is open. links: the names in the URL under which the browser keeps the step, the node, and whether
    it is a table; nothing is kept without them. on_explore, on_read: what opens the node, or the passage, of that id
    elsewhere; explorable: the nodes for which that is possible."""

    def report(name: str, act: Callable[[str], None] | None) -> Callable[[], None]:
        def reported() -> None:
            chosen = str(st.session_state[key].get(name) or "")
            if act is not None and chosen in {WHOLE, *(item.id for item in shown.items)}:
                act(chosen)

        return reported

    component(_SCRIPT, _FRAME, draws_svg=True, parts=("figure_tools", *PLAY))(
        data={
            "play": shown.as_json(),
            "words": play_words(language()),
            "start": start,
            "picked": picked,
            "table": table,
            "links": list(links),
            "explorable": sorted(explorable),
            "reads": on_read is not None,
        },
        key=key,
        on_explore_change=report("explore", on_explore),
        on_read_change=report("read", on_read),
    )
