"""What a question found with one strategy: the answer, the retrieval beside it, the context and the chunks."""

from dataclasses import dataclass

import streamlit as st

from leanrag_core.errors import EndpointError
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from pages._shared.ask import answer_view, asking, changes_view, context_view, reference_view, retrieval_view
from pages._shared.common import passage_view, session
from pages._shared.common.messages import message, say
from pages._shared.common.scope import Scope

WIDER_ABOVE = 10  # ranked nodes, such as seeds; the figure then takes more of the page


def show(scope: Scope, index: Index, ask: asking.Ask) -> None:
    """The result; where the endpoint could not embed the question, why, and a way to try again."""
    try:
        _result(scope, index, ask)
    except EndpointError as error:
        message(error, kind="error", title=say("ask.not_embedded"))
        st.button(say("ask.try_again"), icon=":material/replay:", key=scope.name("retry_retrieval"))


def drawers(scope: Scope, index: Index) -> None:
    """Opens what was clicked, if anything was; the last call for that scope."""
    reference_view.drawer(scope, index)
    passage_view.drawer(index, scope=scope)


def _result(scope: Scope, index: Index, ask: asking.Ask) -> None:
    trace = session.retrieve(ask.summary, ask.question, ask.strategy, ask.options)
    before = _previous_trace(scope, ask, trace)
    # Many of them are drawn in trays, which need room for their names.
    left, right = st.columns(
        [5, 7] if sum(node.rank is not None for node in trace.nodes) <= WIDER_ABOVE else [4, 9], gap="large"
    )
    with left:
        slot = st.container(gap="small")
    with right:
        retrieval_view.show(scope, index, trace)
    context_view.panel(scope, trace)
    context_view.passage_cards(scope, index, trace)
    with slot:
        asking.show(scope, index, ask, trace)
        changes_view.panel(scope, before, trace)
        answer_view.notes_panel(trace)


@dataclass(frozen=True)
class _Retrievals:
    """The last retrieval of a question, and the last other one before it."""

    topic: tuple[str, str]  # index, question
    now: Trace
    before: Trace | None = None


def _previous_trace(scope: Scope, ask: asking.Ask, trace: Trace) -> Trace | None:
    """The last other retrieval of this question, to say what a setting changed."""
    key, topic = scope.key("traces"), (ask.summary.id, ask.question)
    last: _Retrievals | None = st.session_state.get(key)
    if last is None or last.topic != topic:
        last = _Retrievals(topic, trace)
    elif last.now.parameters != trace.parameters or last.now.strategy != trace.strategy:
        last = _Retrievals(topic, trace, before=last.now)
    st.session_state[key] = last
    return last.before
