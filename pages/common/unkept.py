"""Trial indexes that Compare was left with: asked about once, on the page that comes after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.drawing import isolated
from leanrag_core.workbench.trials import MOST
from pages.common import session, state
from pages.common.messages import message, say

_KEY = "lr_unkept"


@dataclass
class Unkept:
    """trials: of the columns as Compare last showed them, names by id. asked: those that were asked about. visit: of
    the page that asks. kept: what was kept there. failed: why keeping ended."""

    trials: Mapping[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    visit: int = 0
    kept: tuple[str, ...] = ()
    failed: LeanRAGError | None = None


def _held() -> Unkept:
    held: Unkept = st.session_state.setdefault(_KEY, Unkept())
    return held


def note(trials: Mapping[str, str]) -> None:
    """Remember the trials that Compare shows. trials: names under which they would be kept, by id."""
    held = _held()
    held.trials = {id_: name for id_, name in trials.items() if id_ not in held.asked}
    held.visit, held.kept, held.failed = 0, (), None


def ask() -> None:
    """Ask whether they shall be kept, on the first page after Compare and as long as that is shown."""
    held, visit = _held(), state.memory().visit
    if held.visit not in (0, visit):
        held.trials, held.kept, held.failed = {}, (), None
    held.visit = visit
    if held.failed is not None:
        message(held.failed, kind="error")
    for name in held.kept:
        message(say("compare.kept", name=isolated(name)))
    if not held.trials:
        return
    held.asked |= set(held.trials)
    names = say("ask.comma").join(isolated(name) for name in held.trials.values())
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="unkept"):
        with st.container(width="content", gap=None):
            message(say("unkept.ask", n=len(held.trials), names=names, most=MOST))
        st.button(say("unkept.keep"), key="unkept_keep", icon=":material/bookmark_add:", on_click=_keep)
        st.button(say("unkept.leave"), key="unkept_leave", type="tertiary", on_click=_leave)


def _keep() -> None:
    held = _held()
    for id_, name in held.trials.items():
        try:
            session.workbench().trials.keep(id_, name)
            held.kept += (name,)
        except LeanRAGError as error:
            held.failed = error
    held.trials = {}


def _leave() -> None:
    _held().trials = {}
