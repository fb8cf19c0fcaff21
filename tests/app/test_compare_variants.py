"""Columns of one strategy that differ in settings, of the index too: names, what is equal, trials, their end."""

import re
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.types.index import Index
from leanrag_core.workbench.settings import AskedWith
from tests.app import drawn
from tests.app.compared import QUESTION, rows

Visit = Callable[..., AppTest]
TWO = {"q": QUESTION, "b_strategy": "leanrag"}


@pytest.fixture(autouse=True)
def without_trials(home: Workbench) -> Iterator[None]:
    kept = {index.id for index in home.indexes.all()}
    yield
    home.trials.clear()
    for index in home.indexes.all():
        if index.id not in kept:
            home.indexes.delete(index.id)


def heads(app: AppTest) -> list[str]:
    return [drawn.Markup(body).text for body in drawn.html(app) if '"lr-colhead' in body]


def pills(app: AppTest) -> list[str]:
    return re.findall(r"≠ [^≠]+", " ".join(drawn.Markup(body).text for body in drawn.html(app) if "lr-pills" in body))


def test_columns_are_named_by_what_differs_and_what_is_equal_is_one_line(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, **TWO, a_n="3", b_n="5")
    drawn.assert_sound(app)
    assert [head[1:4] for head in heads(app)] == ["N 3", "N 5"]
    assert "2 columns of LeanRAG; they differ in N" in drawn.text(app)
    assert re.search(r"= \d+ settings are equal", drawn.text(app))
    app = visit("compare", home, **TWO, a_n="3", b_n="5", b_c="1", b_leanrag_use="findings")
    assert [head[1:15] for head in heads(app)] == ["N 3 and 4 more", "N 5 and 4 more"]
    assert any(pill.startswith("≠ C 1") for pill in pills(app))
    app = visit("compare", home, **TWO)
    assert "2 columns of LeanRAG with the same settings" in drawn.text(app)
    assert "The same answer" in drawn.text(app)


def test_what_is_compared_is_seen_before_a_question_is_asked(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, b_strategy="leanrag", b_n="5")
    drawn.assert_sound(app)
    assert len(heads(app)) == 2
    assert rows(app) == []


def test_only_differences_shows_an_answer_that_both_columns_give_once(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, **TWO, differ="1")
    drawn.assert_sound(app)
    assert "The same answer" in drawn.text(app)
    assert len(drawn.component(app, "lr_citations")) == 1, "for both columns"
    app = visit("compare", home, **TWO)
    assert len(drawn.component(app, "lr_citations")) == 2


def test_an_answer_says_nothing_of_its_own_where_another_column_says_all_of_it(home: Workbench, visit: Visit) -> None:
    less = {"q": QUESTION, "b_strategy": "bm25", "b_c": "1"}
    first, second = drawn.component(visit("compare", home, **less), "lr_citations")
    assert [any(part["alone"] for part in each["parts"]) for each in (first, second)] == [True, False]
    assert first["compared"]
    assert second["compared"], "what both say is marked in both"
    app = visit("compare", home, **less, differ="1")
    (only,) = drawn.component(app, "lr_citations")
    assert all(part["alone"] for part in only["parts"])
    assert "All that it says is in another column's answer too." in drawn.text(app)


def test_a_setting_of_the_index_is_tried_on_the_spot_and_kept(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, **TWO, b_ix_cluster_size="2")
    drawn.assert_sound(app)
    assert [trial.summary.config.cluster_size for trial in home.trials.all()] == [2]
    assert "clustersize 2" in heads(app)[1]
    assert "trial index" in heads(app)[1]
    assert "Trial index, made in" in drawn.text(app)
    assert len(rows(app)) == 2
    app.button("compare_settings_b").click().run()
    app.button("compare_keep_b").click().run()
    drawn.assert_sound(app)
    [kept] = [index for index in home.indexes.all() if "clustersize 2" in index.name]
    assert app.query_params["b_index"] == kept.id
    assert app.selectbox("lr_draft_index").value == kept.id, "the open settings too"
    assert home.trials.all() == []
    assert any("clustersize 2" in index.name for index in home.indexes.all())
    assert "b_ix_cluster_size" not in app.query_params
    assert "Kept as " in drawn.text(app)
    assert "clustersize 2" in heads(app)[1]


def test_passages_of_chunks_of_another_size_are_said_to_be_others(home: Workbench, visit: Visit) -> None:
    note = "the same text may count as another passage"
    assert note not in drawn.text(visit("compare", home, **TWO, b_ix_cluster_size="2"))
    app = visit("compare", home, **TWO, b_ix_chunk_tokens="96")
    drawn.assert_sound(app)
    assert note in drawn.text(app)


def test_the_open_settings_say_of_a_trial_that_was_just_made_that_it_is_there(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, **TWO)
    app.button("compare_settings_b").click().run()
    assert "is there already" not in drawn.text(app)
    app.number_input("lr_draft_index_cluster_size").set_value(2).run()
    assert "is there already" not in drawn.text(app)
    app.button("compare_apply").click().run()
    assert drawn.text(app).count("is there already") == 1
    app.number_input("lr_draft_index_cluster_size").set_value(home.indexes.all()[0].config.cluster_size).run()
    assert "is there already" not in drawn.text(app), "another value than that of the trial takes its time"


def test_a_trial_of_an_index_with_a_long_name_is_kept(home: Workbench, visit: Visit) -> None:
    home.indexes.rename(first(home).folder_name, "n" * 500)
    app = visit("compare", home, **TWO, b_ix_cluster_size="2")
    app.button("compare_keep_b").click().run()
    drawn.assert_sound(app)
    assert "n…, clustersize 2" in " ".join(index.name for index in home.indexes.all())
    assert home.trials.all() == []


def test_an_index_that_cannot_be_is_said_in_its_column(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, **TWO, b_ix_tau="often")
    drawn.assert_sound(app)
    assert "often" in drawn.text(app)
    assert len(rows(app)) == 1, "the other column stands"
    app = visit("compare", home, **TWO, b_ix_cluster_size="1")  # out of bounds in a link: passed over
    drawn.assert_sound(app)
    assert len(rows(app)) == 2
    assert home.trials.all() == []


def test_trials_are_listed_and_cleared_away(home: Workbench, visit: Visit) -> None:
    index = first(home)
    for size in (2, 4):
        home.trials.make(index, {"cluster_size": size})
    app = visit("compare", home, **TWO, b_ix_cluster_size="2")
    fold = next(each for each in app.expander if each.label.startswith("Trial indexes: "))
    assert "2, " in fold.label
    app.session_state["compare_trials"] = True
    app.run()
    drawn.assert_sound(app)
    app.button("trials_clear_all").click().run()
    drawn.assert_sound(app)
    assert [trial.summary.config.cluster_size for trial in home.trials.all()] == [2], "a column has it"
    assert app.button("trials_clear_all").disabled, "the list is still open"


def first(home: Workbench) -> Index:
    return home.indexes.open(home.indexes.all()[0].id)


def test_one_question_is_seen_at_several_values_of_a_setting(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, cview="multiples", vary="top_n", vary_at="1, 2, 4")
    drawn.assert_sound(app)
    cards = [drawn.Markup(body).text for body in drawn.html(app) if '"lr-mulhead' in body]
    assert [card.split()[1] for card in cards] == ["1", "2", "4"]
    assert "Show as table" in drawn.text(app)
    widths = [[each["width"] for each in drawing["drawings"]] for drawing in drawn.component(app, "lr_drawing")]
    assert widths == [[206, 320]] * 3, "few cards have room for a wider graph, whose bands then fill the card"
    app.button("multiples_open_1").click().run()
    drawn.assert_sound(app)
    assert app.query_params["cols"] == "acb"
    assert app.query_params["c_n"] == "2"
    assert "N 2" in heads(app)[1]


def test_multiples_of_a_setting_of_the_index_make_their_trials(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, cview="multiples", vary_at="2, 3, 4")
    drawn.assert_sound(app)
    if any(button.key == "multiples_make" for button in app.button):  # a slow machine asks first
        app.button("multiples_make").click().run()
    drawn.assert_sound(app)
    assert sorted(trial.summary.config.cluster_size for trial in home.trials.all()) == [2, 4]
    assert len([body for body in drawn.html(app) if '"lr-mulhead' in body]) == 3
    app.button("multiples_use_0").click().run()
    assert app.query_params["a_ix_cluster_size"] == "2"
    app = visit("compare", home, q=QUESTION, cview="multiples", vary_at="one, 2")
    drawn.assert_sound(app)
    assert "Two to seven values" in drawn.text(app)


def test_ask_leads_to_two_columns_whose_settings_are_open(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, n="4")
    app.button("compare_settings").click().run()
    drawn.assert_sound(app)
    assert "2 columns of LeanRAG with the same settings" in drawn.text(app)
    assert app.query_params["b_n"] == app.query_params["a_n"] == "4"
    assert "Settings of column B" in drawn.text(app)


def test_a_column_is_duplicated_beside_itself_with_its_settings_open(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, a_n="4")
    app.button("compare_duplicate_a").click().run()
    drawn.assert_sound(app)
    assert app.query_params["cols"] == "acb"
    assert app.query_params["c_n"] == "4"
    assert "Settings of column C" in drawn.text(app)
    app.button("compare_panel_close").click().run()
    assert "Settings of column" not in drawn.text(app)


def test_the_board_says_after_a_reload_which_settings_are_used(home: Workbench, visit: Visit) -> None:
    home.defaults.use(home.indexes.all()[0].id, AskedWith("leanrag", {"top_n": 2}))
    for settings, is_used in (("top_n=2", True), ("top_n=3", False), ("top_n=2;index.cluster_size=2", False)):
        (shown,) = drawn.component(visit("compare", home, cview="board", bset=settings, bpin="-"), "lr_board")
        assert (shown["isUsed"], shown["undo"]) == (is_used, False), settings


def test_the_pinned_setting_of_a_link_keeps_its_clustersize_on_an_index_with_another_one(
    home: Workbench, visit: Visit
) -> None:
    (shown,) = drawn.component(visit("compare", home, cview="board", bpin="index.cluster_size=7"), "lr_board")
    assert "clustersize 7" in shown["pinned"]["name"]


def test_the_board_says_of_which_questions_its_means_are(home: Workbench, visit: Visit) -> None:
    (shown,) = drawn.component(visit("compare", home, cview="board", bmeasure="passages"), "lr_board")
    assert "Mean of all 3 questions." in str(shown["tools"]), "passages are counted of questions without gold, too"
