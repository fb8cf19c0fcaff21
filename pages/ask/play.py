"""The retrieval as a play, a component: stepping, hovering and scrubbing happen in the browser."""

import hashlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.play import Play, answer_frame, play_words
from leanrag_core.figures.play_values import play_page, play_values
from leanrag_core.figures.scripts import PLAY
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible_values
from pages.common import downloads, state
from pages.common.component import component
from pages.common.messages import language, say
from pages.common.scope import Scope

_SCRIPT = Path(__file__).with_name("play.js")
WHOLE = "whole"  # opens Explore without a node: the hierarchy with the hits of this question
_FRAME = '<div class="lr-play"></div>'


def show(
    shown: Play,
    *,
    trace: Trace,
    scope: Scope,
    explorable: Collection[str],
    on_explore: Callable[[str], None],
    on_read: Callable[[str], None],
) -> None:
    """Draw the play of the trace. The browser keeps three things in the scope's part of the URL: the current step, or a
    frame in it ("climb.1"; empty for the end), the id of the node whose card is open, and whether the table is shown.
    on_explore, on_read: open the node, or the passage, of that id elsewhere; explorable: the nodes that can be opened
    so."""
    key = scope.name("play")
    links = [scope.name(name) for name in ("step", "node", "show")]
    step, node, view = map(state.recall, links)

    def report(name: str, act: Callable[[str], None]) -> Callable[[], None]:
        def reported() -> None:
            chosen = str(st.session_state[key].get(name) or "")
            if chosen in {WHOLE, *(item.id for item in shown.items)}:
                act(chosen)

        return reported

    component(_SCRIPT, _FRAME, parts=("figure_tools", "marks", *PLAY))(
        data={
            "play": play_values(shown),
            "of": digest(trace),
            "words": play_words(language()),
            "start": step,
            "picked": node,
            "table": view == "table",
            "links": links,
            "explorable": sorted(explorable),
            "reads": True,
        },
        key=key,
        on_explore_change=report("explore", on_explore),
        on_read_change=report("read", on_read),
    )


def last_frame(answer: Answer) -> dict[str, Any]:
    """Return what the play shows at its end. It is sent with the answer, for which the play does not wait."""
    frame = answer_frame(answer.trace, answer, language())
    end_state = {"of": digest(answer.trace), "lead": frame.lead, "rest": frame.rest, "focus": frame.focus}
    values: dict[str, Any] = visible_values(end_state)
    return values


def digest(trace: Trace) -> str:
    """Return a digest that identifies the retrieval."""
    retrieval = (trace.index.id, trace.question, trace.strategy, trace.parameters)
    return hashlib.sha256(repr(retrieval).encode()).hexdigest()[:16]


def file_button(scope: Scope, trace: Trace) -> None:
    """Draw the button that saves the play as a file, which needs no server and can be stepped through."""
    shown_in = language()
    downloads.button(
        say("ask.play_file"),
        lambda: play_page(trace, language=shown_in),
        f"{say('download.play')} {downloads.name_from(trace.question, 40, 'question')}.html",
        "text/html",
        key=scope.name("play_file"),
        help=say("ask.play_file_hint"),
    )
