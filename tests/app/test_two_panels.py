"""Two retrievals on one page: what is done in one of them leaves the other as it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from pages.common.scope import Scope
from tests.app import drawn
from tests.app.conftest import QUESTIONS

PAGE_OF_TWO = Path(__file__).with_name("two_panels.py")
QUESTION = QUESTIONS[0]["question"]
Visit = Callable[..., AppTest]


@pytest.fixture
def two(home: Workbench, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Return a function that opens the page: two(q="...", b_n="4")."""
    monkeypatch.setenv("LEANRAG_HOME", str(home.root))

    def open_page(**url: Any) -> AppTest:
        app = AppTest.from_file(PAGE_OF_TWO, default_timeout=30)
        app.query_params = url
        return app.run()

    return open_page


def graphs(app: AppTest) -> list[dict[str, Any]]:
    """Return the subgraphs on the page, from left to right."""
    return [{**shown["play"]["layouts"][-1], **shown["play"], **shown} for shown in drawn.plays(app)]


def test_a_name_has_the_prefix_of_its_scope_and_none_on_a_page_of_one() -> None:
    assert (Scope().name("n"), Scope().key("n")) == ("n", "lr_n")
    assert (Scope("b").name("n"), Scope("b").key("n")) == ("b_n", "lr_b_n")


def test_two_panels_have_settings_of_their_own(two: Visit) -> None:
    app = two(q=QUESTION, b_q=QUESTION, n="4", b_n="2", b_c="1", b_leanrag_entity_tokens="700")
    drawn.assert_sound(app)
    assert [graph["n_seeds"] for graph in graphs(app)] == [4, 2]
    assert [app.number_input(f"lr_{scope}leanrag_entity_tokens").value for scope in ("", "b_")] == [9000, 700]
    app.slider("lr_b_n").set_value(3).run()
    app.pills("lr_use").set_value(["findings"]).run()
    app.number_input("lr_leanrag_entity_tokens").set_value(950).run()
    drawn.assert_sound(app)
    assert [graph["n_seeds"] for graph in graphs(app)] == [4, 3]
    assert [app.slider(key).value for key in ("lr_n", "lr_b_n", "lr_c", "lr_b_c")] == [4, 3, 5, 1]
    assert app.pills("lr_b_use").value == ["inter_cluster", "source_chunks"]
    shown = dict(app.query_params)
    assert shown.pop("index")
    assert shown == {
        "q": QUESTION,
        "b_q": QUESTION,
        "n": "4",
        "b_n": "3",
        "b_c": "1",
        "leanrag_use": "findings",
        "leanrag_entity_tokens": "950",
        "b_leanrag_entity_tokens": "700",
    }


def test_two_panels_have_strategies_steps_and_nodes_of_their_own(two: Visit) -> None:
    app = two(q=QUESTION, b_q=QUESTION, b_strategy="vector")
    drawn.assert_sound(app)
    assert [bool(graph["nodes"]) for graph in graphs(app)] == [True, False]
    assert len(drawn.component(app, "lr_citations")) == 2
    app.selectbox("lr_b_strategy").set_value("leanrag").run()
    left, right = graphs(app)
    assert left["links"] == ["step", "node", "show"]
    assert right["links"] == ["b_step", "b_node", "b_show"]
    app = two(q=QUESTION, b_q=QUESTION, b_step="seeds", b_show="table")
    assert [(graph["start"], graph["table"]) for graph in graphs(app)] == [("", False), ("seeds", True)]
    app = two(q=QUESTION, b_q=QUESTION, node=left["nodes"][0]["id"], b_node=right["nodes"][-1]["id"])
    drawn.assert_sound(app)
    assert [graph["picked"] for graph in graphs(app)] == [left["nodes"][0]["id"], right["nodes"][-1]["id"]]


def test_what_changed_is_said_in_the_panel_whose_setting_was_moved(two: Visit) -> None:
    app = two(q=QUESTION, b_q=QUESTION)
    app.slider("lr_b_n").set_value(2).run()
    drawn.assert_sound(app)
    assert drawn.text(app).count("What changed") == 1
    app.slider("lr_n").set_value(3).run()
    page_text = drawn.text(app)
    assert page_text.count("What changed") == 2
    assert "Top-N seeds: 10 to 2" in page_text
    assert "Top-N seeds: 10 to 3" in page_text


def test_a_question_is_asked_in_the_panel_in_which_it_is_written(two: Visit) -> None:
    app = two()
    drawn.assert_sound(app)
    app.text_area("lr_b_draft").input(QUESTION)
    ask_buttons = [button for button in app.button if button.label == "Ask"]
    ask_buttons[1].click().run()
    drawn.assert_sound(app)
    assert (app.query_params.get("q"), app.query_params["b_q"]) == (None, QUESTION)
    assert app.text_area("lr_draft").value == ""
    app.button("example_0").click().run()
    assert app.query_params["q"] == QUESTION


def test_a_passage_opens_once_whichever_panel_asked_for_it(two: Visit) -> None:
    app = two(q=QUESTION, b_q=QUESTION, b_n="2")
    of_scope = {"": [], "b_": []}
    for button in app.button:
        if button.label == "Open in document":
            of_scope["b_" if str(button.key).startswith("b_") else ""].append(button)
    assert all(of_scope.values())
    for buttons in of_scope.values():
        buttons[0].click().run()
        drawn.assert_sound(app)
        assert len(drawn.component(app, "lr_passage")) == 1


def test_old_links_open_the_panel_without_a_prefix(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, n="4", leanrag_use="findings", step="climb", show="table")
    drawn.assert_sound(app)
    assert app.slider("lr_n").value == 4
    assert app.pills("lr_use").value == ["findings"]
    [graph] = graphs(app)
    assert (graph["start"], graph["table"]) == ("climb", True)
    assert {"n", "leanrag_use", "step", "show"} <= app.query_params.keys()
