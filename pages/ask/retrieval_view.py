"""The retrieval beside an answer as a play: its steps, the layered subgraph, and a table of both."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.figures.layered_places import MOST_SEEDS
from leanrag_core.figures.play import play
from leanrag_core.queries import browse
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from pages.ask import play as component
from pages.ask import reference_view, roles
from pages.common import state
from pages.common.frame import page_path
from pages.common.messages import language, message, say
from pages.common.scope import Scope

_WIDER_ABOVE = 10  # ranked nodes, such as seeds; with more the figure takes more of the page


def columns(trace: Trace) -> list[DeltaGenerator]:
    """Return places for the answer and, beside it, the play. The play of many nodes takes the whole width, above the
    answer."""
    n_ranked = sum(node.rank is not None for node in trace.nodes)
    if n_ranked > MOST_SEEDS:
        above = st.container(gap="small")
        return [st.container(gap="small"), above]
    return st.columns([5, 7] if n_ranked <= _WIDER_ABOVE else [4, 9], gap="large")


def show(scope: Scope, index: Index | None, trace: Trace, *, before: Trace | None = None) -> None:
    """Draw the play of a trace. index: None if only the trace is available. before: the pinned retrieval; the play
    marks what entered and left since."""
    if not trace.nodes and not trace.passages:
        message(say("ask.nothing_retrieved"))
        return
    known = frozenset(node.id for node in trace.nodes if index is not None and browse.locate(index, node.id))
    key = scope.key("opens_explore")
    component.show(
        play(trace, before=before, index=index, language=language()),
        trace=trace,
        scope=scope,
        explorable=known,
        on_explore=partial(st.session_state.__setitem__, key),
        on_read=partial(_read, scope, trace, stored=index is None),
    )
    wanted = st.session_state.pop(key, "")  # a callback cannot leave the page
    if wanted == component.WHOLE:
        for name, value in (("view", "hierarchy"), ("by", "question"), ("node", None), ("focus", None)):
            state.remember(name, value)
        st.switch_page(page_path("explore"))
    if wanted:
        reference_view.open_explore(scope, wanted)


def _read(scope: Scope, trace: Trace, id_: str, *, stored: bool) -> None:
    """Open the passage in its document, or its text if there is no index."""
    mark = roles.marks_by_ref(trace.context).get(id_)
    reference_view.opener(scope, trace, trace.item(id_), mark.name if mark else "", stored=stored)()
