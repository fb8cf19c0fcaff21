"""A line that measures the context against naive RAG, and the way to Compare with the same question and settings."""

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.trace import Trace
from pages.ask import asking, controls
from pages.common import markup, session, state
from pages.common.frame import page_path
from pages.common.html import draw
from pages.common.messages import say
from pages.common.scope import Scope

NAIVE = "vector"
OPEN_SETTINGS = "lr_compare_open"  # in the session: the column of Compare whose settings are to be opened
_OWN, _OTHER = Scope("a"), Scope("b")  # of the columns on Compare


def line(scope: Scope, ask: asking.Ask, trace: Trace) -> None:
    """Draw the tokens of both and the chunks that they share; nothing beside naive RAG itself."""
    if ask.strategy == NAIVE:
        return
    try:
        naive = session.retrieve(ask.summary, ask.question, NAIVE, (), ask.within)
    except LeanRAGError:  # such as of an endpoint that embeds; the retrieval above has said what there is to say
        return
    own = {passage.row for passage in trace.passages}  # by chunk: a strategy may take pieces of chunks
    n_shared = sum(passage.row in own for passage in naive.passages)
    share = numbers.share(trace.context.tokens / max(1, naive.context.tokens))
    tokens = {"tokens": trace.context.tokens, "naive": naive.context.tokens}
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=scope.name("beside_naive")):
        with st.container(width="content"):
            code = "beside.naive" if trace.passages else "beside.no_chunks"
            draw(markup.muted(say(code, share=share, n=n_shared, of=len(own), **tokens)))
        compare_button(scope)


def compare_button(scope: Scope) -> None:
    """Draw the way to Compare, where naive RAG stands beside this question and these settings."""
    key = scope.name("compare_naive")
    if st.button(say("beside.compare"), icon=":material/view_column_2:", type="tertiary", key=key):
        take_along(scope)
        st.switch_page(page_path("compare"))


def with_other_settings(scope: Scope) -> None:
    """Draw the way to Compare with two columns like this one, the settings of the second being open."""
    if st.button(
        say("ask.compare_settings"), icon=":material/tune:", type="tertiary", key=scope.name("compare_settings")
    ):
        take_along(scope, twice=True)
        st.switch_page(page_path("compare"))


def take_along(scope: Scope, *, twice: bool = False) -> None:
    """Give Compare's first column the settings of this group of widgets, and its second one naive RAG. twice: it has
    the same settings, which are open to be changed."""
    strategies = {info.name: info for info in all_strategies().strategies}
    for plain in controls.url_names(Scope(), strategies):
        if plain not in ("index", "q"):
            state.remember(_OWN.name(plain), state.recall(scope.name(plain)))
            state.remember(_OTHER.name(plain), state.recall(scope.name(plain)) if twice else None)
    for name in [*state.memory().values]:  # indexes of the columns, changed settings of them, names
        if name.startswith(tuple(column.name(part) for column in (_OWN, _OTHER) for part in ("index", "ix_", "title"))):
            state.remember(name, None)
    state.remember("q", state.recall(scope.name("q")))
    state.remember("cols", None)
    state.remember("cview", None)
    if twice:
        chosen = controls.held(scope, strategies).strategy
        for column in (_OWN, _OTHER):
            state.remember(column.name("strategy"), chosen)
        st.session_state[OPEN_SETTINGS] = "B"
