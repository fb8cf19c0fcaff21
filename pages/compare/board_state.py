"""What the board holds: the settings now and pinned, which links have, and the trail of one session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import streamlit as st

from leanrag_core.comparing.board_controls import Control
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
    is_drawn: bool = False  # the first scores of a set take seconds, later ones a part of one


def session_of(topic: tuple[object, ...]) -> Session:
    """The session's board of that index and strategy; another one begins anew."""
    held: Session = st.session_state.setdefault("lr_board", Session())
    if held.topic != topic:
        held = st.session_state["lr_board"] = Session(topic, undo=held.undo, seq=held.seq)
    return held


def written(settings: Settings, ground: Settings) -> str:
    """What of the settings is not official, nor the index's own, as links have it; "-" where nothing is."""
    parts = (
        f"{key}={int(value) if isinstance(value, bool) else value}"
        for key, value in settings.items()
        if value != ground[key]
    )
    return ";".join(parts) or "-"


def read(name: str, controls: Sequence[Control], ground: Settings, start: Settings) -> dict[str, Any]:
    """The settings remembered under that name. ground: of what they do not name; start: where nothing is remembered."""
    text = state.recall(name)
    if not text:
        return dict(start)
    settings = dict(ground)
    known = {control.key: control for control in controls}
    for pair in text.split(";"):
        key, _, value = pair.partition("=")
        if key in known:
            settings[key] = next((stop for stop in known[key].stops if _text(stop) == value), settings[key])
    return settings


def _text(stop: Any) -> str:
    return str(int(stop)) if isinstance(stop, bool) else str(stop)


def held_values(texts: Sequence[str], config: type) -> list[dict[str, Any]]:
    """The values in links that a control may lack a stop for: numbers within the option's bounds, and rules of tau."""
    specs, found = {spec.name: spec for spec in fields(config)}, []
    for text in texts:
        for pair in filter(None, text.split(";")):
            key, _, value = pair.partition("=")
            spec = specs.get(key)
            if spec is not None and type(spec.default) in (int, float):
                try:
                    number = int(value) if isinstance(spec.default, int) else float(value)
                except ValueError:  # somebody wrote the link by hand
                    continue
                low, high = spec.metadata.get("low"), spec.metadata.get("high")
                if (low is None or number >= low) and (high is None or number <= high):
                    found.append({key: number})
    return found


def move(session: Session, before: Settings, after: Settings, gesture: int) -> None:
    """Leaves the setting before on the trail, unless the same gesture has just left one."""
    if dict(before) == dict(after):
        return
    if gesture != session.gesture or gesture < 0:
        session.trail.append(dict(before))
        del session.trail[:-LONGEST]
    session.gesture = gesture
