"""Forms in dialogs stay open while their page draws them, and close with it."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core.errors import LeanRAGError
from leanrag_core.execution.background import StreamedCalls
from pages.build import suggest_view


def page() -> None:
    import streamlit as st

    from pages.common import dialogs

    dialogs.begin("evaluate")
    if st.session_state.pop("interrupted", False):
        st.rerun()
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    if st.session_state.pop("changed", False):
        dialogs.refresh()
    if not st.session_state.get("other_tab"):
        dialogs.form("Open", "Open", lambda: st.text_input("Title", key="title"), key="open")
    dialogs.end()


def opened_form() -> AppTest:
    app = AppTest.from_function(page).run()
    app.button("open").click().run()
    app.text_input("title").input("Bees by hand").run()
    return app


def test_an_interrupted_run_of_the_page_neither_closes_a_form_nor_loses_what_is_in_it() -> None:
    app = opened_form()
    app.session_state["interrupted"] = True
    app.run()
    assert app.text_input("title").value == "Bees by hand"


def test_a_run_that_does_not_draw_the_form_closes_it() -> None:
    app = opened_form()
    for other_tab in (True, False):
        app.session_state["other_tab"] = other_tab
        app.run()
        assert not app.text_input


def test_what_changes_by_itself_runs_the_page_anew_but_not_beneath_an_open_form() -> None:
    app = opened_form()
    for other_tab, n_more in ((False, 1), (True, 1), (True, 2)):  # the second run closes the form
        app.session_state["other_tab"], app.session_state["changed"] = other_tab, True
        before = app.session_state["runs"]
        app.run()
        assert app.session_state["runs"] - before == n_more


def page_with_suggestions() -> None:
    from typing import Any, cast

    import streamlit as st

    from leanrag_core.types.summary import IndexSummary
    from pages.build import suggest_view
    from pages.common import dialogs

    dialogs.begin("build")
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    if st.session_state.pop("tick", False):
        index: Any = type("Index", (), {"id": "mill", "created": "2026-01-02"})
        suggest_view._wait(cast(IndexSummary, index))
    dialogs.form("Open", "Open", lambda: st.text_input("Title", key="title"), key="open")
    dialogs.end()


@pytest.mark.parametrize("fails", [False, True])
def test_suggestions_that_are_there_wait_for_a_form_to_be_closed(monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    calls: StreamedCalls[str, Any] = StreamedCalls(keep=1)
    n_begun = 0

    def suggest(write: Callable[[str], object]) -> str:
        nonlocal n_begun
        n_begun += 1
        if fails:
            raise LeanRAGError("index.not_found", index="mill")
        return "suggestions"

    monkeypatch.setattr(suggest_view, "_calls", lambda: calls)
    monkeypatch.setattr(suggest_view, "_begin", lambda index: calls.begin(suggest_view._key(index), suggest))
    app = AppTest.from_function(page_with_suggestions).run()
    app.button("open").click().run()
    app.session_state[suggest_view._ASKED] = ("mill", "2026-01-02")
    for _ in range(2):  # the fragment looks again and again
        app.session_state["tick"] = True
        before = app.session_state["runs"]
        app.run()
        assert app.session_state["runs"] == before + 1
        assert app.text_input("title")
    assert (n_begun, suggest_view._FAULT in app.session_state) == (1, fails), "what failed is not tried again by itself"


def page_with_deletion() -> None:
    import streamlit as st

    from leanrag_core.errors import InvalidConfig
    from pages.common import deletion, dialogs

    state = st.session_state
    state.setdefault("things", ["mill", "barn"])
    state["runs"] = state.get("runs", 0) + 1
    dialogs.begin("library")
    if state.pop("changed", False):
        dialogs.refresh()

    def delete() -> None:
        if state.get("locked"):
            raise InvalidConfig("part.unknown", part="mill", known="")
        state["things"] = state["things"][1:]

    def close_menu() -> None:
        state["menus_closed"] = state.get("menus_closed", 0) + 1

    if state["things"]:
        deletion.button("delete", "Delete", "Delete?", state["things"][0], "All of it.", delete, on_click=close_menu)
    dialogs.end()


def opened_deletion() -> AppTest:
    app = AppTest.from_function(page_with_deletion).run()
    return app.button("delete").click().run()


def confirmations(app: AppTest) -> list[str]:
    return [button.key for button in app.button if button.key == "delete_confirm"]


def test_a_deletion_stays_open_when_the_page_runs_again_until_it_is_done() -> None:
    app = opened_deletion()
    assert app.session_state["menus_closed"] == 1
    before = app.session_state["runs"]
    app.session_state["changed"] = True
    app.run()
    assert app.session_state["runs"] == before + 1, "what changes by itself waits"
    assert confirmations(app)
    app.button("delete_confirm").click().run()
    assert app.session_state["things"] == ["barn"]
    assert not confirmations(app)
    app.run()
    assert not confirmations(app)
    assert app.session_state["menus_closed"] == 1


def test_a_deletion_that_fails_stays_open() -> None:
    app = opened_deletion()
    app.session_state["locked"] = True
    app.button("delete_confirm").click().run()
    assert app.session_state["things"] == ["mill", "barn"]
    assert confirmations(app)


def test_a_deletion_is_not_about_another_thing_when_its_own_is_gone() -> None:
    app = opened_deletion()
    app.session_state["things"] = ["barn"]
    app.run()
    assert not confirmations(app)


def page_with_two_clicks() -> None:
    import streamlit as st

    from leanrag_core.errors import InvalidConfig
    from pages.common import deletion

    def delete() -> None:
        if not st.session_state.things:
            raise InvalidConfig("part.unknown", part="mill", known="")
        st.session_state.things.pop()

    if "things" not in st.session_state:
        st.session_state["things"] = ["mill"]
        deletion.button("delete", "Delete", "Delete?", "mill", "All of it.", delete)
    else:
        for click in ("first", "second"):  # both reach the server before the dialog is closed
            deletion._confirm(click, "Delete", "mill", "All of it.", delete)


def test_a_second_click_deletes_nothing_and_says_nothing() -> None:
    app = AppTest.from_function(page_with_two_clicks).run()
    app.button("delete").click().run()
    app.button("first").click()
    app.button("second").click().run()
    assert not app.exception
    assert app.session_state["things"] == []
    assert "lr_deletion_fault" not in app.session_state
