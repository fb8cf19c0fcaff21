"""The pinned run: the retrieval of this question against which the others are measured, until it is let go."""

from dataclasses import dataclass

import streamlit as st

from leanrag_core.types.trace import Trace
from pages.ask import asking
from pages.common.messages import say
from pages.common.scope import Scope


@dataclass(frozen=True)
class _Pinned:
    topic: tuple[str, str]  # index, question
    trace: Trace


def trace_of(scope: Scope, ask: asking.Ask) -> Trace | None:
    """Return the pinned retrieval of this question to this index; None where there is none."""
    held: _Pinned | None = st.session_state.get(scope.key("pinned"))
    return held.trace if held is not None and held.topic == _topic(ask) else None


def button(scope: Scope, ask: asking.Ask, trace: Trace) -> None:
    """Pin the retrieval on the page, or lets the pinned one go."""
    held = trace_of(scope, ask)
    st.button(
        say("ask.pin") if held is None else say("ask.unpin"),
        icon=":material/keep:" if held is None else ":material/keep_off:",
        type="tertiary",
        help=say("ask.pin_hint"),
        key=scope.name("pin"),
        on_click=_keep,
        args=(scope, _Pinned(_topic(ask), trace) if held is None else None),
    )


def _keep(scope: Scope, pinned: _Pinned | None) -> None:
    st.session_state[scope.key("pinned")] = pinned


def _topic(ask: asking.Ask) -> tuple[str, str]:
    return ask.summary.id, ask.question
