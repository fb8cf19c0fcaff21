"""Forms in dialogs stay open while their page draws them, and close with it."""

from streamlit.testing.v1 import AppTest


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
