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
