"""The retrieval as a play, as a component: steps, hovering and scrubbing stay in the browser."""

import hashlib
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.play import Play, answer_frame, play_words
from leanrag_core.figures.play_values import play_page, play_values
from leanrag_core.figures.scripts import PLAY
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible_values
from pages.common import state
from pages.common.component import component
from pages.common.messages import language, say
from pages.common.scope import Scope

_SCRIPT = Path(__file__).with_name("play.js")
WHOLE = "whole"  # what is opened in Explore where no node is: the hierarchy with the hits of this question
_NOT_IN_NAMES = re.compile(r"[^\w]+")
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
    """Draw the play of the trace. The browser keeps in the scope's part of the URL the step it is at, or a frame in it
    ("climb.1"; its end where empty), the id of the node whose card is open, and whether it is a table. on_explore,
    on_read: what opens the node, or the passage, of that id elsewhere; explorable: the nodes for which that is
    possible."""
    key = scope.name("play")
    links = [scope.name(name) for name in ("step", "node", "show")]
    step, node, view = map(state.recall, links)

    def report(name: str, act: Callable[[str], None]) -> Callable[[], None]:
        def reported() -> None:
            chosen = str(st.session_state[key].get(name) or "")
            if chosen in {WHOLE, *(item.id for item in shown.items)}:
                act(chosen)

        return reported

    component(_SCRIPT, _FRAME, draws_svg=True, parts=("figure_tools", "marks", *PLAY))(
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
    """Return what the play of the answer's retrieval says at its end; it is sent with the answer, which the play does
    not wait for."""
    frame = answer_frame(answer.trace, answer, language())
    said = {"of": digest(answer.trace), "lead": frame.lead, "rest": frame.rest, "focus": frame.focus}
    values: dict[str, Any] = visible_values(said)
    return values


def digest(trace: Trace) -> str:
    """Tell one retrieval from another."""
    retrieval = (trace.index.id, trace.question, trace.strategy, trace.parameters)
    return hashlib.sha256(repr(retrieval).encode()).hexdigest()[:16]


def file_button(scope: Scope, trace: Trace) -> None:
    """Save the play; the file opens without a server and can be stepped through."""
    shown_in = language()
    st.download_button(
        say("ask.play_file"),
        lambda: play_page(trace, language=shown_in),
        file_name=f"play {_NOT_IN_NAMES.sub(' ', trace.question)[:40].strip() or 'question'}.html",
        mime="text/html",
        icon=":material/download:",
        type="tertiary",
        help=say("ask.play_file_hint"),
        on_click="ignore",
        key=scope.name("play_file"),
    )
