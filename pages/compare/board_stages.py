"""The stages of earlier builds that the board's index sliders need.

Where they were deleted, a button makes them again. The board stays usable meanwhile; a fragment polls the progress.
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
from pages.common import buttons, dialogs, session, state
from pages.common.html import draw, html
from pages.common.messages import message, say, words

_LOOK_SECONDS = 1.0


@dataclass
class Making:
    """A running job of this session that makes stages, and its start. failed: why the last one ended."""

    call: StreamedCall[Progress, None] | None = None
    began: float = 0.0
    failed: LeanRAGError | None = None


@dataclass(frozen=True)
class MoveTime:
    """How long moving an index slider takes. are_kept: whether the stages that it needs exist."""

    seconds: Range = field(default_factory=Range)
    are_kept: bool = True
    failed: Message | None = None


def _making(base: IndexSummary) -> Making:
    return state.in_session(f"lr_board_stages {base.id} {base.created}", Making)


# Costs a tenth of a second at each move of a slider.
@st.cache_data(ttl=60, max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def move_time(base: IndexSummary, setting: str, _value: object) -> MoveTime:
    """Return how long a change of that index setting to the value takes."""
    trials, index = session.workbench().trials, session.open_index(base)
    try:
        if trials.has_stages(index):
            return MoveTime(trials.seconds(index, {setting: _value}))
        return MoveTime(trials.forecast(index, trials.config(index, {setting: _value})).seconds, are_kept=False)
    except LeanRAGError as error:
        return MoveTime(failed=error.message)


def show(base: IndexSummary, setting: str, takes: MoveTime) -> None:
    """Draw that the stages were deleted, with a button that makes them, or the progress of making them; nothing while
    they exist. setting: the title of an index slider."""
    making = _making(base)
    if making.call is not None and making.call.wait(0):
        _end(making)
        st.rerun()
    if making.call is not None:
        st.fragment(_progress, run_every=_LOOK_SECONDS)(base)
        return
    if making.failed is not None:
        message(making.failed, kind="error")
    if takes.are_kept:
        return
    time_needed = numbers.duration(takes.seconds.expected)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="board_stages"):
        with st.container(width="content", gap=None):
            message(say("board.stages_gone", setting=setting, time=time_needed))
        buttons.secondary(say("board.make_stages"), "", "board_make_stages", _begin, base)


def _begin(base: IndexSummary) -> None:
    making = _making(base)
    making.failed = None
    try:
        making.call, making.began = session.make_stages(base), time.monotonic()
    except LeanRAGError as error:
        making.failed = error


def _end(making: Making) -> None:
    assert making.call is not None
    call, making.call = making.call, None
    move_time.clear()
    try:
        call.result()
    except LeanRAGError as error:
        making.failed = error


def _progress(base: IndexSummary) -> None:
    making = _making(base)
    if making.call is None or making.call.wait(0):
        dialogs.refresh()
        return
    progress = making.call.pieces[-1] if making.call.pieces else None
    doing = words(BUILD.stage(progress.stage if progress else BUILD.stages[0].name).doing)
    text = say("compare.making", doing=doing, seconds=int(time.monotonic() - making.began))
    draw(html('<div class="lr-making" role="status">{}</div>', text))
