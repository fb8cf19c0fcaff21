"""A page of the tests alone: two groups of Ask's widgets over one index, each with a scope of its own."""

import streamlit as st

from leanrag_core.retrieval.base import strategies as all_strategies
from pages.ask import asking, controls, question_view, result_view
from pages.common import session, state
from pages.common.frame import enter
from pages.common.scope import Scope

SCOPES = (Scope(), Scope("b"))


def page() -> None:
    summary = enter("ask")
    assert summary is not None
    strategies = {info.name: info for info in all_strategies().strategies}
    with session.reading(summary) as index:
        for scope, column in zip(SCOPES, st.columns(len(SCOPES)), strict=True):
            with column:
                question_view.form(scope)
                shown = controls.show(scope, strategies)
                question = state.recall(scope.name("q"))
                if question:
                    ask = asking.Ask.of(summary, question, shown.chosen)
                    result_view.show(scope, index, ask, drawn=shown.draw_rest)
                else:
                    question_view.examples(scope, summary)
                shown.draw_rest()
    names = [name for scope in SCOPES for name in controls.url_names(scope, strategies)]
    state.publish([*names, *(scope.name(name) for scope in SCOPES for name in asking.LINKED)])


page()
