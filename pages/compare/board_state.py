"""What the board holds: the settings now and pinned, which links have, and the trail of one session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from leanrag_core.comparing.board_controls import Control, settings_of_link
from pages.common import state

NOW, PINNED, SYSTEM, MEASURE, SCALE = "bset", "bpin", "bsys", "bmeasure", "bscale"
NAMES = (NOW, PINNED, SYSTEM, MEASURE, SCALE)  # in links
LONGEST = 12  # points of a trail
Settings = Mapping[str, Any]  # values by Control.key


@dataclass
class Session:
    """What is not in links. trail: settings that were left, the oldest first. gesture: of the browser's last move,
    whose steps leave one point together. undo: what *Use these settings* replaced, None where nothing was used."""

    topic: tuple[object, ...] = ()
    trail: list[dict[str, Any]] = field(default_factory=list)
    gesture: int = -1
    seq: int = 0  # of the browser's last event that was heard
    moved: str = ""  # the control that was moved last, and which way
    towards: int = 1
    undo: Any = None
    failed: str = ""  # why the last event did nothing
    leave: bool = False  # another view was chosen: the page is drawn again
    all_shown: bool = False  # the list has the questions that found the same, too
    is_drawn: bool = False  # the first scores of a set take seconds, later ones a part of one


def session_of(topic: tuple[object, ...]) -> Session:
    """Return the session's board of that index and strategy; another one begins anew."""
    held: Session = st.session_state.setdefault("lr_board", Session())
    if held.topic != topic:
        held = st.session_state["lr_board"] = Session(topic, undo=held.undo, seq=held.seq)
    return held


def read(name: str, controls: Sequence[Control], ground: Settings, start: Settings) -> dict[str, Any]:
    """Return the settings remembered under that name. ground: of what they do not name; start: where nothing is
    remembered."""
    text = state.recall(name)
    return settings_of_link(text, controls, ground) if text else dict(start)


def move(session: Session, before: Settings, after: Settings, gesture: int) -> None:
    """Leave the setting before on the trail, unless the same gesture has just left one."""
    if dict(before) == dict(after):
        return
    if gesture != session.gesture or gesture < 0:
        session.trail.append(dict(before))
        del session.trail[:-LONGEST]
    session.gesture = gesture
