"""The state of the board: the current and the pinned settings, which links hold, and the trail of one session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from leanrag_core.comparing.board_controls import Control, settings_of_link
from pages.common import state
from pages.common.scope import Scope

NOW, PINNED, SYSTEM, MEASURE, SCALE = "bset", "bpin", "bsys", "bmeasure", "bscale"
NAMES = (NOW, PINNED, SYSTEM, MEASURE, SCALE)  # in links
PARTS = Scope("board")  # of the index parts that a system lacks
LONGEST = 12  # longest trail, in points
Settings = Mapping[str, Any]  # values by Control.key


@dataclass
class Session:
    """The part of the state that links do not hold. trail: former settings, the oldest first. gesture: of the browser's
    last move; all steps of one gesture leave a single point. undo: what *Use these settings* replaced, None if nothing
    was used."""

    topic: tuple[object, ...] = ()
    trail: list[dict[str, Any]] = field(default_factory=list)
    gesture: int = -1
    seq: int = 0  # of the last event received from the browser
    moved: str = ""  # the control that was moved last, and in which direction
    towards: int = 1
    undo: Any = None
    failed: str = ""  # why the last event did nothing
    leave: bool = False  # another view was chosen: the page is drawn again
    all_shown: bool = False  # the list includes questions with unchanged results
    is_drawn: bool = False  # the first scores of a set take seconds, later ones less than one


def session_of(topic: tuple[object, ...]) -> Session:
    """Return the session's board of that index and strategy; a new one if it belonged to another index or strategy."""
    board_session = state.in_session("lr_board", Session)
    if board_session.topic != topic:
        board_session = st.session_state["lr_board"] = Session(topic, undo=board_session.undo, seq=board_session.seq)
    return board_session


def read(name: str, controls: Sequence[Control], ground: Settings, start: Settings) -> dict[str, Any]:
    """Return the settings remembered under that name. ground: values for what they do not name; start: what is returned
    if nothing is remembered."""
    text = state.recall(name)
    return settings_of_link(text, controls, ground) if text else dict(start)


def move(session: Session, before: Settings, after: Settings, gesture: int) -> None:
    """Add the previous settings to the trail, unless the same gesture has just added a point."""
    if dict(before) == dict(after):
        return
    if gesture != session.gesture or gesture < 0:
        session.trail.append(dict(before))
        del session.trail[:-LONGEST]
    session.gesture = gesture
