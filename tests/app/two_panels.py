"""A page of the tests alone: two groups of Ask's widgets over one index, each with a scope of its own."""

import streamlit as st

from pages._shared.ask import asking, controls, question_view, result_view
from pages._shared.common import session, state
from pages._shared.common.frame import enter
from pages._shared.common.scope import Scope

SCOPES = (Scope(), Scope("b"))


def page() -> None:
    summary = enter("ask")
    assert summary is not None
    strategies = {info.name: info for info in session.workbench().strategies().strategies}
    with session.reading(summary) as index:
        for scope, column in zip(SCOPES, st.columns(len(SCOPES)), strict=True):
            with column:
                question_view.form(scope)
                chosen = controls.show(scope, strategies)
                question = state.recall(scope.name("q"))
                if question:
                    result_view.show(scope, index, asking.Ask.of(summary, question, chosen))
                else:
                    question_view.examples(scope, summary)
    names = [name for scope in SCOPES for name in controls.url_names(scope, strategies)]
    state.publish([*names, *(scope.name(name) for scope in SCOPES for name in asking.LINKED)])


page()
