"""Trial indexes that nobody kept before leaving Compare: the next page asks about them once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.drawing import isolated
from leanrag_core.workbench.trials import MOST
from pages.common import buttons, session, state
from pages.common.messages import message, say

_KEY = "lr_unkept"


@dataclass
class Unkept:
    """What to ask about. trials: of the columns that Compare showed last, names by id. asked: ids already asked about.
    visit: of the page that asks. kept: names of the kept ones. failed: why keeping failed."""

    trials: Mapping[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    visit: int = 0
    kept: tuple[str, ...] = ()
    failed: LeanRAGError | None = None


def _held() -> Unkept:
    return state.in_session(_KEY, Unkept)


def note(trials: Mapping[str, str]) -> None:
    """Remember the trials that Compare shows. trials: by id, the names under which they would be kept."""
    unkept = _held()
    unkept.trials = {id_: name for id_, name in trials.items() if id_ not in unkept.asked}
    unkept.visit, unkept.kept, unkept.failed = 0, (), None


def ask() -> None:
    """Ask whether to keep them, on the first page after Compare, while that page is shown."""
    unkept, visit = _held(), state.memory().visit
    if unkept.visit not in (0, visit):
        unkept.trials, unkept.kept, unkept.failed = {}, (), None
    unkept.visit = visit
    if unkept.failed is not None:
        message(unkept.failed, kind="error")
    for name in unkept.kept:
        message(say("compare.kept", name=isolated(name)))
    if not unkept.trials:
        return
    unkept.asked |= set(unkept.trials)
    names = say("ask.comma").join(isolated(name) for name in unkept.trials.values())
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="unkept"):
        with st.container(width="content", gap=None):
            message(say("unkept.ask", n=len(unkept.trials), names=names, most=MOST))
        buttons.secondary(say("unkept.keep"), "bookmark_add", "unkept_keep", _keep)
        buttons.tertiary(say("unkept.leave"), "", "unkept_leave", _leave)


def _keep() -> None:
    unkept = _held()
    for id_, name in unkept.trials.items():
        try:
            session.workbench().trials.keep(id_, name)
            unkept.kept += (name,)
        except LeanRAGError as error:
            unkept.failed = error
    unkept.trials = {}


def _leave() -> None:
    _held().trials = {}
