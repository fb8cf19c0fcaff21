"""A strategy that calls a model, with roles, kinds and letters of its own: drawn on Ask, and run when a person asks."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.types.settings import Settings
from leanrag_core.workbench.questions import Questions
from pages.ask.beside_view import NAIVE
from tests.app import drawn
from tests.app.conftest import QUESTIONS
from tests.endpoint.server import EndpointServer

QUESTION = QUESTIONS[0]["question"]
ASKS_MODEL = Questions.asks_model
Visit = Callable[..., AppTest]


pytestmark = pytest.mark.usefixtures("debate")


def test_nothing_runs_before_a_person_asks_and_a_moved_setting_costs_nothing(
    home: Workbench, visit: Visit, retrieved: list[str]
) -> None:
    app = visit("ask", home, q=QUESTION, strategy="debate")
    drawn.assert_sound(app)
    assert "Press Run to retrieve with these settings." in drawn.text(app)
    assert retrieved == []
    app.button("run").click().run()
    drawn.assert_sound(app)
    assert retrieved == ["debate", NAIVE], "the line beside naive RAG asks no model"
    assert len(drawn.plays(app)) == 1
    app.number_input("lr_debate_rounds").set_value(3).run()
    assert "Press Run to retrieve with these settings." in drawn.text(app)
    assert retrieved == ["debate", NAIVE]
    app.number_input("lr_debate_rounds").set_value(2).run()
    assert len(drawn.plays(app)) == 1, "what was retrieved before is kept"
    assert retrieved == ["debate", NAIVE]
    app.run()
    assert retrieved == ["debate", NAIVE]


def test_with_the_built_in_engine_it_runs_as_a_setting_moves(
    home: Workbench, visit: Visit, retrieved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Questions, "asks_model", ASKS_MODEL)
    app = visit("ask", home, q=QUESTION, strategy="debate")
    drawn.assert_sound(app)
    app.number_input("lr_debate_rounds").set_value(3).run()
    assert retrieved == ["debate", NAIVE, "debate"], "naive RAG has answered this question before"


def test_the_button_ask_runs_it_at_once(home: Workbench, visit: Visit, retrieved: list[str]) -> None:
    app = visit("ask", home, strategy="debate")
    app.text_area("lr_draft").input(QUESTION)
    next(button for button in app.button if button.label == "Ask").click().run()
    drawn.assert_sound(app)
    assert retrieved == ["debate", NAIVE]


def test_nothing_reaches_the_endpoint_before_a_person_asks(
    llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    def calls() -> int:
        return sum("chat" in request.path for request in endpoint.log)

    app = visit("ask", llm_home, q=QUESTION, strategy="debate")
    app.number_input("lr_debate_doubt").set_value(0.75).run()
    app.number_input("lr_debate_rounds").set_value(3).run()
    drawn.assert_sound(app)
    assert calls() == 0
    app.button("run").click().run()
    drawn.assert_sound(app)
    assert calls() == 2, "one of the retrieval, one of the answer"
    app.number_input("lr_debate_rounds").set_value(4).run()
    app.number_input("lr_debate_rounds").set_value(3).run()
    assert calls() == 2
    assert app.query_params["debate_doubt"] == "0.75"


def test_a_retrieval_that_fails_says_why_and_can_be_tried_again(
    llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    app = visit("ask", llm_home, q=QUESTION, strategy="debate")
    llm_home.settings.save(Settings(base_url="http://127.0.0.1:9", retries=0))
    app.button("run").click().run()
    drawn.assert_sound(app)
    assert "http://127.0.0.1:9" in drawn.text(app)
    llm_home.settings.save(Settings(base_url=endpoint.url))
    app.button("retry_retrieval").click().run()
    drawn.assert_sound(app)
    assert len(drawn.plays(app)) == 1


def ran(home: Workbench, visit: Visit, **url: str) -> AppTest:
    app = visit("ask", home, q=QUESTION, strategy="debate", **url)
    return app.button("run").click().run()


def test_a_foreign_trace_is_drawn_by_what_it_declares(home: Workbench, visit: Visit) -> None:
    app = ran(home, visit)
    drawn.assert_sound(app)
    [graph] = drawn.plays(app)
    widest = graph["play"]["layouts"][-1]
    assert [segment["title"] for segment in graph["play"]["segments"]] == ["Parts", "Argue", "Answer"]
    assert [row["label"] for row in widest["rows"]] == ["Sub question", "Claim", "Verdict"]
    assert {node["colour"] for node in widest["nodes"]} <= {"entered", "mute", "lca"}
    assert {edge["shape"] for edge in widest["edges"]} <= {"line", "arc", "dotted"}
    body = "".join(drawn.html(app))
    legend = [sign["title"] for sign in graph["play"]["signs"]]
    for shown_text in ("part of the question", "claim", "verdict", "supports", "speaks against"):
        assert shown_text in [title.lower() for title in legend]
    assert not any(edge.get("pill") for edge in widest["edges"]), "lambda belongs to relations of layers"
    sections = [(section["letter"], section["title"]) for section in graph["play"]["sections"]]
    assert sections == [("CL", "Claims"), ("S", "Sources")]
    assert "color:red" not in body
    said = {frame["step"]: frame["lead"] + frame["rest"] for frame in graph["play"]["frames"]}
    assert said[1] == "They argue."


def test_a_foreign_trace_has_its_tables_cards_and_drawers(home: Workbench, visit: Visit) -> None:
    app = ran(home, visit, show="table", node="claim-0")
    drawn.assert_sound(app)
    [shown] = drawn.plays(app)
    assert (shown["table"], shown["picked"]) == (True, "claim-0")
    nodes = [item for item in shown["play"]["items"].values() if not item["is_card"]]
    assert [item["role"] for item in nodes] == ["Part of the question", "Claim", "Claim", "Verdict"]
    assert not any("layer" in item for item in nodes)
    trace = home.retrieve(home.indexes.open(home.indexes.all()[0].id), QUESTION, "debate")
    for ref, mark, shown_text in (
        ("claim-0", "CL1", "Claim 0"),
        ("s1", "", "Claim 0"),
        (trace.passages[0].id, "S1", "S1"),
    ):
        app.session_state["lr_memory"].values["at"] = ref
        app.run()
        drawn.assert_sound(app)
        sign = f">{mark}</span>" if mark else ""
        assert any(sign in body and shown_text in body for body in drawn.html(app)[-3:])


def test_what_changed_between_foreign_traces_is_said_by_their_roles(home: Workbench, visit: Visit) -> None:
    app = ran(home, visit)
    app.number_input("lr_debate_rounds").set_value(3).run()
    app.button("run").click().run()
    drawn.assert_sound(app)
    assert "What changed" in drawn.text(app)
    assert "Claim: Claim 2" in drawn.text(app)
