"""Widgets and what they show: drawn or not, replaced or not, whether a person or the program changed the value last."""

from streamlit.testing.v1 import AppTest

from pages.common.state import Memory
from tests.app import drawn


def two_strategies() -> None:
    import streamlit as st

    from pages.common import state, widgets

    state.read_url("ask")
    bounds = {"wide": (0, 50), "narrow": (1, 20)}
    strategy = widgets.one_of(
        "strategy", list(bounds), lambda mount: st.selectbox("S", list(bounds), key=mount.key, on_change=mount.changed)
    )
    low, high = bounds[strategy]
    value = widgets.remembered(
        "c",
        5,
        lambda mount: st.slider("C", low, high, mount.value, key=mount.key, on_change=mount.changed),
        widgets.Values(parse=int, allowed=lambda number: low <= number <= high, form=(low, high)),
    )
    st.text(f"c is {value}")
    if strategy == "wide":
        tokens = widgets.remembered(
            "wide_tokens",
            1000,
            lambda mount: st.number_input("T", 0, 32000, mount.value, key=mount.key, on_change=mount.changed),
            widgets.Values(parse=int),
        )
        st.text(f"tokens are {tokens}")
    st.button("Again", key="again")
    state.publish(["strategy", "c", "wide_tokens"])


def texts(app: AppTest) -> list[str]:
    return [text.value for text in app.text]


def test_no_value_moves_when_a_strategy_is_left_and_taken_again() -> None:
    app = AppTest.from_function(two_strategies).run()
    app.number_input("lr_wide_tokens").set_value(70).run()
    for strategy in ("narrow", "wide", "narrow", "wide"):
        app.selectbox("lr_strategy").set_value(strategy).run()
        assert app.slider("lr_c").value == 5
        app.button("again").click().run()
        assert app.slider("lr_c").value == 5
    assert texts(app) == ["c is 5", "tokens are 70"]


def test_what_one_strategy_cannot_take_is_there_again_for_the_other() -> None:
    app = AppTest.from_function(two_strategies).run()
    app.slider("lr_c").set_value(40).run()
    app.selectbox("lr_strategy").set_value("narrow").run()
    assert texts(app) == ["c is 5"]
    assert "c" not in app.query_params, "the link says what is shown"
    app.selectbox("lr_strategy").set_value("wide").run()
    assert texts(app)[0] == "c is 40"


def test_each_run_gives_the_browser_the_value_that_is_remembered() -> None:
    app = AppTest.from_function(two_strategies).run()
    app.number_input("lr_wide_tokens").set_value(70).run()
    app.button("again").click().run()
    # A widget behind a closed popover is mounted later, with the default that the last run gave it.
    assert app.number_input("lr_wide_tokens").proto.default == 70
    assert not app.number_input("lr_wide_tokens").proto.set_value


def cut_off() -> None:
    import streamlit as st

    from pages.common import state, widgets

    state.read_url("build")
    name = widgets.remembered("name", "", lambda mount: st.text_input("Name", mount.value, key=mount.key))
    st.text(f"{name}, {state.recall('name')}")
    if st.button("Preset", key="preset", on_click=state.remember, args=("name", "from outside")):
        st.text("pressed")
    state.publish(["name"])


def test_a_choice_whose_callback_was_cut_off_by_the_next_run_is_kept() -> None:
    app = AppTest.from_function(cut_off).run()
    app.text_input("lr_name").input("typed").run()
    assert texts(app) == ["typed, typed"]
    assert app.query_params["name"] == "typed"


def test_a_value_from_outside_comes_in_a_new_widget_so_that_the_old_ones_cannot_be_taken_for_a_wish() -> None:
    app = AppTest.from_function(cut_off).run()
    app.text_input("lr_name").input("typed").run()
    before = app.text_input("lr_name").proto.id
    app.button("preset").click().run()  # the browser still sends "typed" along
    assert texts(app)[0] == "from outside, from outside"
    assert app.text_input("lr_name").proto.id != before
    app.run()
    assert texts(app)[0] == "from outside, from outside"


def test_a_url_forgets_what_its_page_would_have_written_and_nothing_of_other_pages() -> None:
    memory = Memory(values={"n": "6", "c": "3", "b_tau": "4"}, names={"ask": ("n", "c")})
    memory.follow("ask", {"n": "7"})
    assert memory.values == {"n": "7", "b_tau": "4"}


def forty_rows() -> None:
    import streamlit as st

    from pages.common import markup, state
    from pages.common.paging import rows_of_page

    state.read_url("ask")
    markup.note("<b>{4}</b> & 𝛌")
    rows = rows_of_page(range(40), 20, key="turned")
    st.text(f"{rows[0]} to {rows[-1]}")


def test_the_last_page_of_a_list_holds_rows_and_none_comes_after_it() -> None:
    app = AppTest.from_function(forty_rows).run()
    assert texts(app) == ["0 to 19"]
    app.button("turned_next").click().run()
    assert texts(app) == ["20 to 39"]
    assert app.button("turned_next").disabled
    app.button("turned_previous").click().run()
    assert texts(app) == ["0 to 19"]


def test_a_note_is_text_whatever_it_says() -> None:
    app = AppTest.from_function(forty_rows).run()
    assert "&lt;b&gt;{4}&lt;/b&gt; &amp; 𝛌" in " ".join(drawn.html(app))


def forgotten() -> None:
    import streamlit as st

    from pages.common import state, widgets

    state.read_url("ask")

    def forget_and_hear() -> None:
        del st.session_state["lr_word"]
        mounts[0].changed()

    def field(mount: widgets.Mount[str]) -> str:
        mounts.append(mount)
        return st.text_input("W", mount.value, **mount.wired)

    mounts: list[widgets.Mount[str]] = []
    st.button("Forget", key="forget", on_click=forget_and_hear)
    word = widgets.remembered("word", "bee", field)
    st.text(f"word is {word}")


def test_a_widget_that_streamlit_has_forgotten_keeps_what_was_chosen_when_the_browser_reports_it() -> None:
    app = AppTest.from_function(forgotten).run()
    app.text_input("lr_word").input("wasp").run()
    app.button("forget").click().run()
    drawn.assert_sound(app)
    assert texts(app) == ["word is wasp"]


def turned_titles() -> None:
    from pages.common import choices, state
    from pages.evaluate import title_view

    state.read_url("ask")
    title_view.field("cod\u202efdp.exe", key="title")
    titles = {"a": "cod\u202efdp.exe", "b": "B"}
    choices.dropdown("listed", "Listed", titles)
    choices.multiselect("Several", titles, ["a"])


def test_lists_of_options_show_what_turns_the_direction_of_a_title() -> None:
    app = AppTest.from_function(turned_titles).run()
    drawn.assert_sound(app)
    assert list(app.selectbox[0].options) == ["cod[U+202E]fdp.exe", "B"]
    assert list(app.multiselect[0].options) == ["cod[U+202E]fdp.exe", "B"]
    assert app.text_input("title").placeholder == "cod[U+202E]fdp.exe"
