"""Choices whose labels change while they are on the page: Streamlit matches a choice by its label."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]


@pytest.mark.parametrize("page", ["ask", "explore", "build"])
def test_a_second_index_of_the_corpus_leaves_the_chosen_one_chosen(page: str, home: Workbench, visit: Visit) -> None:
    [first] = home.indexes.all()
    app = visit(page, home)
    title = app.sidebar.selectbox[0].proto.options[0]
    home.build(CORPUS, IndexConfig(cluster_size=4))
    assert title not in [index.title for index in home.indexes.all()], "both are named by what differs now"
    for _ in range(2):
        app.run()
        drawn.assert_sound(app)
        assert app.sidebar.selectbox("lr_index").value == first.id
        assert app.query_params["index"] == first.id
    if page == "ask":
        assert app.text_area("lr_draft").proto.value is not None


def emptied() -> None:
    import streamlit as st

    from pages.common import state, widgets

    state.read_url("ask")
    number = widgets.remembered(
        "n",
        5,
        lambda mount: st.number_input(
            "N", value=None if state.recall("empty") else mount.value, key=f"{mount.key}{state.recall('empty')}"
        ),
        widgets.Values(parse=int),
    )
    st.text(f"{number!r} {state.recall('n')!r}")
    st.button("Empty", key="empty", on_click=state.remember, args=("empty", "1"))


def test_a_widget_that_comes_back_empty_leaves_what_is_remembered() -> None:
    app = AppTest.from_function(emptied).run()
    app.number_input("lr_n").set_value(7).run()
    assert [text.value for text in app.text] == ["7 '7'"]
    app.button("empty").click().run()
    assert app.number_input("lr_n1").value is None
    assert [text.value for text in app.text] == ["7 '7'"]
