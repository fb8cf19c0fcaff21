"""What sliders of an index need on the board: stages that earlier builds have kept.

Where they are gone a button makes them. The board goes on meanwhile; the making is a fragment of its own that looks
again and again.
"""

import time
from dataclasses import dataclass, field

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.execution.background import StreamedCall
from leanrag_core.figures import numbers
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.messages.message import Message
from leanrag_core.types.forecast import Range
from leanrag_core.types.job import Progress
from leanrag_core.types.summary import IndexSummary
from pages.common import session
from pages.common.html import draw, html
from pages.common.messages import message, say, words

_LOOK_SECONDS = 1.0


@dataclass
class Making:
    """The making that a session has begun, and when. failed: why the last one ended."""

    call: StreamedCall[Progress, None] | None = None
    began: float = 0.0
    failed: LeanRAGError | None = None


@dataclass(frozen=True)
class MoveTime:
    """What a move of a slider of the index takes. are_kept: the stages that it is made from."""

    seconds: Range = field(default_factory=Range)
    are_kept: bool = True
    failed: Message | None = None


def _making(base: IndexSummary) -> Making:
    held: dict[tuple[str, str], Making] = st.session_state.setdefault("lr_board_stages", {})
    return held.setdefault((base.id, base.created), Making())


def move_time(base: IndexSummary, setting: str, value: object) -> MoveTime:
    """Return what a move of that setting of the index to the value takes."""
    return _move_time(base.id, base.created, setting, base, value)


@st.cache_data(ttl=60, max_entries=16, show_spinner=False)  # a tenth of a second, for each move of a slider
def _move_time(index_id: str, created: str, setting: str, _base: IndexSummary, _value: object) -> MoveTime:
    trials, index = session.workbench().trials, session.open_index(_base)
    try:
        if trials.has_stages(index):
            return MoveTime(trials.seconds(index, {setting: _value}))
        return MoveTime(trials.forecast(index, trials.config(index, {setting: _value})).seconds, are_kept=False)
    except LeanRAGError as error:
        return MoveTime(failed=error.message)


def show(base: IndexSummary, setting: str, takes: MoveTime) -> None:
    """Say that the stages are gone, with the button that makes them; what the making does; nothing where they are kept.
    setting: the title of a slider of the index."""
    held = _making(base)
    if held.call is not None and held.call.wait(0):
        _end(held)
        st.rerun()
    if held.call is not None:
        st.fragment(_progress, run_every=_LOOK_SECONDS)(base)
        return
    if held.failed is not None:
        message(held.failed, kind="error")
    if takes.are_kept:
        return
    time_needed = numbers.duration(takes.seconds.expected)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="board_stages"):
        with st.container(width="content", gap=None):
            message(say("board.stages_gone", setting=setting, time=time_needed))
        st.button(say("board.make_stages"), key="board_make_stages", on_click=_begin, args=(base,))


def _begin(base: IndexSummary) -> None:
    held = _making(base)
    held.failed = None
    try:
        held.call, held.began = session.make_stages(base), time.monotonic()
    except LeanRAGError as error:
        held.failed = error


def _end(held: Making) -> None:
    assert held.call is not None
    call, held.call = held.call, None
    _move_time.clear()
    try:
        call.result()
    except LeanRAGError as error:
        held.failed = error


def _progress(base: IndexSummary) -> None:
    held = _making(base)
    if held.call is None or held.call.wait(0):
        st.rerun()
    assert held.call is not None
    progress = held.call.pieces[-1] if held.call.pieces else None
    doing = words(BUILD.stage(progress.stage if progress else BUILD.stages[0].name).doing)
    text = say("compare.making", doing=doing, seconds=int(time.monotonic() - held.began))
    draw(html('<div class="lr-making" role="status">{}</div>', text))
