"""A run is saved on Ask as one file, and shown from it without its index and without a model."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.messages.message import message
from leanrag_core.storage.history import content_of, run_of
from leanrag_core.types.trace import Answer, AnswerPart, RecordedRun
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.questions import Questions
from pages.ask import recorded_view
from pages.ask.recorded_view import save_button
from tests.app import drawn
from tests.app.conftest import QUESTIONS

QUESTION = QUESTIONS[0]["question"]
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) $a$ \"'"
Visit = Callable[..., AppTest]


@pytest.fixture
def answer(home: Workbench) -> Answer:
    return home.ask(home.indexes.open(home.indexes.all()[0].id), QUESTION, top_n=4)


def opened(app: AppTest, content: bytes, name: str = "Saved.json") -> AppTest:
    app.file_uploader[0].set_value([(name, content, "application/json")]).run()
    return app


def figures(app: AppTest) -> list[Any]:
    return [(shown["play"]["layouts"], shown["play"]["cards"]) for shown in drawn.plays(app)]


def test_a_run_that_is_saved_is_the_one_on_the_page(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[RecordedRun] = []

    def note(scope: Any, trace: Any, answer: Any) -> None:
        saved.append(RecordedRun(trace, answer))
        save_button(scope, trace, answer)

    monkeypatch.setattr(recorded_view, "save_button", note)
    app = visit("ask", home, q=QUESTION, n="4")
    drawn.assert_sound(app)
    [run] = saved
    assert run_of(content_of(run), name="run.json") == run
    assert run.answer is not None
    assert run.trace.question == QUESTION
    assert run.trace.parameters["top_n"] == 4


def test_a_saved_run_draws_the_same_without_index_and_model(
    home: Workbench, empty_home: Workbench, answer: Answer, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = visit("ask", home, q=QUESTION, n="4")
    methods = ((Questions, "retrieve"), (Questions, "answer"), (Questions, "kept_answer"), (Questions, "stream_answer"))
    for kind, name in (*methods, (Indexes, "open")):
        monkeypatch.setattr(kind, name, lambda *args, called=name, **options: pytest.fail(f"{called} was called"))
    app = visit("ask", empty_home)
    drawn.assert_sound(app)
    opened(app, content_of(RecordedRun(answer.trace, answer)))
    drawn.assert_sound(app)
    assert "Recorded run of Bees." in drawn.text(app)
    assert figures(app) == figures(live)
    [shown], [before] = drawn.component(app, "lr_citations"), drawn.component(live, "lr_citations")
    assert shown["parts"] == before["parts"]
    assert not app.slider
    assert not app.text_area
    for line in ("Source chunks", "Top-C is not filled" if answer.trace.notes else "Source chunks"):
        assert line in drawn.text(app)
    [shown] = drawn.plays(app)
    assert {"Entities", "Source chunks"} <= {section["title"] for section in shown["play"]["sections"]}
    assert shown["explorable"] == [], "there is no index to explore"


def test_a_citation_of_a_saved_run_shows_the_text_that_was_saved(
    empty_home: Workbench, answer: Answer, visit: Visit
) -> None:
    app = opened(visit("ask", empty_home), content_of(RecordedRun(answer.trace, answer)))
    passage = answer.trace.passages[0]
    next(button for button in app.button if button.label == "Open in document").click().run()
    drawn.assert_sound(app)
    assert passage.text in drawn.text(app)
    assert f"characters {passage.source.start:,} to {passage.source.end:,}" in drawn.text(app)
    assert drawn.component(app, "lr_passage") == []


def test_a_closed_run_gives_the_page_back(home: Workbench, answer: Answer, visit: Visit) -> None:
    app = opened(visit("ask", home, q=QUESTION, n="6"), content_of(RecordedRun(answer.trace)))
    assert "The run was saved without an answer." in drawn.text(app)
    app.button("close_run").click().run()
    drawn.assert_sound(app)
    assert app.slider("lr_n").value == 6
    assert "Recorded run" not in drawn.text(app)


def test_a_hostile_run_is_drawn_as_text(empty_home: Workbench, answer: Answer, visit: Visit) -> None:
    values = json.loads(content_of(RecordedRun(answer.trace, answer)))

    def poisoned(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: poisoned(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [poisoned(inner, key) for inner in value]
        shown = key in ("text", "name", "title", "description", "colour", "shape", "document", "made", "model", "role")
        return f"{value}{HOSTILE}" if shown and isinstance(value, str) else value

    trace = values["trace"]
    for part in ("items", "relations", "styles"):
        trace[part] = poisoned(trace[part])
    values["answer"] = poisoned(values["answer"])
    trace["question"] = trace["index"]["name"] = HOSTILE
    trace["title"] = {"code": "plain", "values": {"text": HOSTILE}}
    for step in trace["steps"]:
        step["title"] = step["caption"] = trace["title"]
    app = opened(visit("ask", empty_home), json.dumps(values).encode())
    drawn.assert_sound(app)
    assert HOSTILE in drawn.text(app)
    next(button for button in app.button if button.label == "Open in document").click().run()
    drawn.assert_sound(app)


@pytest.mark.parametrize(
    ("content", "expected_text"),
    [
        (b"no json", "Saved.json"),
        (b"{}", "is no recorded run"),
        (b'{"format": "leanrag-run", "version": 99}', "was written by a newer version"),
        (b'{"format": "leanrag-run", "version": 1, "trace": {}, "answer": null}', "Saved.json"),
        (b"[" * 100_000, "Saved.json"),
    ],
)
def test_a_file_that_is_no_run_says_why_and_the_page_stays(
    content: bytes, expected_text: str, home: Workbench, visit: Visit
) -> None:
    app = opened(visit("ask", home, q=QUESTION), content)
    drawn.assert_sound(app)
    assert "This file was not opened." in drawn.text(app)
    assert expected_text in drawn.text(app)
    assert len(drawn.component(app, "lr_citations")) == 1


def test_a_run_with_a_message_that_this_version_does_not_know_says_so(
    empty_home: Workbench, answer: Answer, visit: Visit
) -> None:
    step = replace(answer.trace.steps[0], caption=message("leanrag.seeds", n=1))  # its values are missing
    trace = replace(answer.trace, steps=(step, *answer.trace.steps[1:]))
    app = opened(visit("ask", empty_home), content_of(RecordedRun(trace)))
    drawn.assert_sound(app)
    assert "holds a message that this version does not know (leanrag.seeds)" in drawn.text(app)


def test_a_file_with_very_many_passages_is_shown_in_part(empty_home: Workbench, answer: Answer, visit: Visit) -> None:
    passage = answer.trace.passages[0]
    many = tuple(replace(passage, id=f"passage-{number}") for number in range(130))
    app = opened(visit("ask", empty_home), content_of(RecordedRun(replace(answer.trace, items=many))))
    drawn.assert_sound(app)
    assert sum(button.label == "Open in document" for button in app.button) == 100
    assert "30 more are not shown." in drawn.text(app)


def test_a_sentence_without_support_is_marked_with_the_rule(
    empty_home: Workbench, answer: Answer, visit: Visit
) -> None:
    parts = (*answer.parts, AnswerPart("Wasps sting beekeepers.", ()))
    written = replace(answer, parts=parts, extractive=False, model="openai:m")
    app = opened(visit("ask", empty_home), content_of(RecordedRun(answer.trace, written)))
    drawn.assert_sound(app)
    [shown] = drawn.component(app, "lr_citations")
    assert [part["lacks"] for part in shown["parts"]] == [""] * len(answer.parts) + ["no citation"]
    said = drawn.text(app)
    assert f"1 sentence of {len(parts)} lacks support. Marked by a rule, not by a model" in said
