"""A line that compares the context with naive RAG's, and buttons to Compare with the same question and settings."""

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.trace import Trace
from pages.ask import asking, controls
from pages.common import buttons, markup, session, state
from pages.common.frame import page_path
from pages.common.html import draw
from pages.common.messages import say
from pages.common.scope import Scope

NAIVE = "vector"
OPEN_SETTINGS = "lr_compare_open"  # in the session: the column of Compare whose settings will be opened
_OWN, _OTHER = Scope("a"), Scope("b")  # of the columns on Compare


def line(scope: Scope, ask: asking.Ask, trace: Trace) -> None:
    """Draw the tokens of both contexts and their shared chunks; nothing for naive RAG itself."""
    if ask.strategy == NAIVE:
        return
    try:
        naive = session.retrieve(ask.summary, ask.question, NAIVE, (), ask.within)
    except LeanRAGError:  # such as an embedding endpoint's; the retrieval above has shown it
        return
    chunk_rows = {passage.row for passage in trace.passages}  # by chunk, since a strategy may take pieces of chunks
    n_shared = sum(passage.row in chunk_rows for passage in naive.passages)
    share = numbers.share(trace.context.tokens / max(1, naive.context.tokens))
    tokens = {"tokens": trace.context.tokens, "naive": naive.context.tokens}
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=scope.name("beside_naive")):
        with st.container(width="content"):
            code = "beside.naive" if trace.passages else "beside.no_chunks"
            draw(markup.muted(say(code, share=share, n=n_shared, of=len(chunk_rows), **tokens)))
        compare_button(scope)


def compare_button(scope: Scope) -> None:
    """Draw the button to Compare with naive RAG, for this question and these settings."""
    key = scope.name("compare_naive")
    if buttons.tertiary(say("beside.compare"), "view_column_2", key):
        take_along(scope)
        st.switch_page(page_path("compare"))


def with_other_settings(scope: Scope) -> None:
    """Draw the button to Compare with two columns like this one, the second one's settings being open."""
    if buttons.tertiary(say("ask.compare_settings"), "tune", scope.name("compare_settings")):
        take_along(scope, twice=True)
        st.switch_page(page_path("compare"))


def take_along(scope: Scope, *, twice: bool = False) -> None:
    """Give Compare's first column the settings of this scope, and the second one naive RAG. twice: the second one gets
    the same settings, open to be changed."""
    strategies = all_strategies().by_name()
    for plain in controls.url_names(Scope(), strategies):
        if plain not in ("index", "q"):
            state.remember(_OWN.name(plain), state.recall(scope.name(plain)))
            state.remember(_OTHER.name(plain), state.recall(scope.name(plain)) if twice else None)
    for name in [*state.memory().values]:  # indexes of the columns, changed settings of them, names
        if name.startswith(tuple(column.name(part) for column in (_OWN, _OTHER) for part in ("index", "ix_", "title"))):
            state.forget(name)
    state.remember("q", state.recall(scope.name("q")))
    state.forget("cols", "cview")
    if twice:
        chosen = controls.held(scope, strategies).strategy
        for column in (_OWN, _OTHER):
            state.remember(column.name("strategy"), chosen)
        st.session_state[OPEN_SETTINGS] = "B"
