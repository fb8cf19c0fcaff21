"""Follow-up questions and the history on Ask."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.retrieval.base import MAX_QUESTION
from tests.app import drawn

Visit = Callable[..., AppTest]
QUESTION = "What do beekeepers use against Varroa destructor?"


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


def followed(app: AppTest, text: str) -> AppTest:
    app.text_input("follow_text").input(text)
    return press(app, "Ask a follow-up")


def test_a_follow_up_stands_alone_and_keeps_its_thread(home: Workbench, visit: Visit) -> None:
    app = followed(visit("ask", home, q=QUESTION), "When do they use it?")
    drawn.assert_sound(app)
    standalone = "When do they use it? (Varroa destructor, beekeepers)"
    assert app.query_params["q"] == app.text_area("lr_draft").value == standalone
    said = drawn.text(app)
    assert "You wrote “When do they use it?”." in said
    assert "the names of the question before were put behind it: Varroa destructor, beekeepers." in said
    assert drawn.component(app, "lr_citations")
    latest, first = home.history.matching()
    assert (latest.question, latest.written, latest.way, latest.follows) == (
        standalone,
        "When do they use it?",
        "rule",
        first.id,
    )
    again = visit("ask", home, q=standalone, wrote="When do they use it?", after=first.id)
    assert "1 question before" in drawn.text(again)
    press(again, QUESTION)
    assert again.query_params["q"] == QUESTION
    assert "wrote" not in again.query_params


def test_a_follow_up_is_no_longer_than_a_question(home: Workbench, visit: Visit) -> None:
    assert visit("ask", home, q=QUESTION).text_input("follow_text").max_chars == MAX_QUESTION


def test_how_a_follow_up_is_asked_can_be_changed(home: Workbench, visit: Visit) -> None:
    app = followed(visit("ask", home, q=QUESTION), "When do they use it?")
    changed = "In which season is oxalic acid used?"
    next(area for area in app.text_area if area.label == "Asked as").input(changed)
    press(app, "Ask again")
    drawn.assert_sound(app)
    assert (app.query_params["q"], app.query_params["wrote"]) == (changed, "When do they use it?")
    assert "Changed by you." in drawn.text(app)
    assert home.history.matching()[0].way == "person"
    app.text_area("lr_draft").input("What is a hive?")
    press(app, "Ask")
    assert "wrote" not in app.query_params, "a question in the field above begins a thread of its own"


def test_the_history_is_searched_pinned_noted_deleted_and_taken_back(home: Workbench, visit: Visit) -> None:
    for question in (QUESTION, "Who patented the hive?"):
        visit("ask", home, q=question, n="4")
    app = press(visit("ask", home), "History")
    drawn.assert_sound(app)
    assert "2 questions, pinned ones first; 2 shown" in drawn.text(app)
    first = next(entry for entry in home.history.matching() if entry.question == QUESTION)
    app.button(f"history_pin_{first.id}").click().run()
    assert home.history.matching()[0].pinned
    app = press(visit("ask", home), "History")
    app.button(f"history_note_{first.id}").click().run()
    app = press(app, "History")
    app.text_area(f"history_text_{first.id}").input("for <b>Anna</b>")
    app.button(f"history_text_{first.id}_save").click().run()
    drawn.assert_sound(app)
    assert home.history.matching("anna") == home.history.matching()[:1]
    app = press(visit("ask", home), "History")
    app.button(f"history_delete_{first.id}").click().run()
    assert [entry.question for entry in home.history.matching()] == ["Who patented the hive?"]


def test_a_question_of_the_history_opens_with_its_settings(home: Workbench, visit: Visit) -> None:
    visit("ask", home, q=QUESTION, n="4", leanrag_use="findings", why="honey")
    app = visit("ask", home)
    assert "Asked before" in drawn.text(app)
    next(button for button in app.button if str(button.key).startswith("recent_")).click().run()
    drawn.assert_sound(app)
    assert {name: app.query_params.get(name) for name in ("q", "n", "leanrag_use", "why")} == {
        "q": QUESTION,
        "n": "4",
        "leanrag_use": "findings",
        "why": None,
    }


def test_a_history_that_does_not_read_hides_no_answer(home: Workbench, visit: Visit) -> None:
    (home.root / "history").mkdir()
    (home.root / "history" / "questions.json").write_text("{", encoding="utf-8")
    app = visit("ask", home, q=QUESTION)
    drawn.assert_sound(app)
    assert drawn.component(app, "lr_citations")
    assert "The question is not in the history." in drawn.text(app)
