"""Present: cards, a form that makes a presentation, files of others; what is shown needs no index."""

import shutil
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.presenting.storing import content_of
from leanrag_core.presenting.story import PresentationSummary
from leanrag_core.workbench.presentations import Presentations
from pages.common import to_presentation
from pages.present import form_view
from tests.app import drawn
from tests.app.conftest import QUESTIONS

Visit = Callable[..., AppTest]
SAMPLE = "people-cities-and-ideas"


def decks(app: AppTest) -> list[Any]:
    return [shown["deck"] for shown in drawn.component(app, "lr_present")]


def made(app: AppTest) -> AppTest:
    """Wait until a thread has made the presentation; return the page."""
    call = app.session_state[form_view._CALL]
    assert call.wait(60)
    return app.run()


def test_a_presentation_is_made_shown_without_its_index_and_deleted(home: Workbench, visit: Visit) -> None:
    app = visit("present", home)
    drawn.assert_sound(app)
    assert app.button("present_make_now").disabled
    assert "It needs a title and one to 6 questions; 0 are chosen." in drawn.text(app)
    app.text_input("present_title").set_value("Bees for $all$ <b>people</b>")
    app.text_area("present_own").set_value("What feeds honey bees?\n\nWhat feeds honey bees?")
    app.multiselect("present_questions_sample-agriculture").set_value([QUESTIONS[0]["question"]]).run()
    assert "It needs a title" not in drawn.text(app)
    app.text_area("present_notes_cost").set_value("Thank them.")
    app.button("present_make_now").click().run()
    app = made(app)
    drawn.assert_sound(app)
    [own, sample] = home.presentations.all().presentations
    assert sample.id == SAMPLE
    assert own.questions == (QUESTIONS[0]["question"], "What feeds honey bees?")
    assert own.strategies == ("leanrag", "vector")
    shutil.rmtree(home.root / "indexes")
    app.button(f"show_{own.id}").click().run()
    drawn.assert_sound(app)
    [deck] = decks(app)
    assert deck["title"] == "Bees for $all$ <b>people</b>"
    assert deck["slides"][-1]["notes"] == "Thank them."
    assert app.query_params["show"] == own.id
    app = visit("present", home)
    app.button(f"delete_{own.id}").click().run()
    assert own.title in " ".join(text.value for text in app.text), "asked before"
    assert len(home.presentations.all().presentations) == 2
    app.button(f"delete_{own.id}_confirm").click().run()
    drawn.assert_sound(app)
    assert [each.id for each in home.presentations.all().presentations] == [SAMPLE]


def test_a_presentation_that_cannot_be_made_says_why_and_the_form_keeps_what_was_written(
    home: Workbench, visit: Visit
) -> None:
    app = visit("present", home)
    app.text_input("present_title").set_value("Bees")
    app.text_area("present_own").set_value("why " * 1200)
    app.multiselect("present_beside").set_value(["zero_shot"])
    app.text_area("present_notes_cost").set_value("Thank them.")
    app.multiselect("present_questions_sample-agriculture").set_value([QUESTIONS[0]["question"]]).run()
    app.button("present_make_now").click().run()
    for _ in range(2):  # also in the next run, as when a field is changed
        app = made(app) if app.session_state[form_view._CALL] else app.run()
        drawn.assert_sound(app)
        assert "The presentation was not made. The question has 4,799 characters" in drawn.text(app)
        assert app.text_input("present_title").value == "Bees"
        assert app.text_area("present_notes_cost").value == "Thank them."
        assert app.multiselect("present_beside").value == ["zero_shot"]
        assert app.multiselect("present_questions_sample-agriculture").value == [QUESTIONS[0]["question"]]
    app.text_area("present_own").set_value("").run()
    app.multiselect("present_beside").set_value([]).run()
    app.button("present_make_now").click().run()
    app = made(app)
    assert [each.title for each in home.presentations.all().presentations] == ["Bees", "People, cities and ideas"]
    assert "was not made" not in drawn.text(app)
    assert app.text_input("present_title").value == ""


def test_a_reload_goes_on_with_the_presentation_that_is_being_made(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, make = Event(), Presentations.make

    def slow(self: Presentations, *asked: Any, **more: Any) -> Any:
        assert may_end.wait(60)
        return make(self, *asked, **more)

    monkeypatch.setattr(Presentations, "make", slow)
    app = visit("present", home)
    app.text_input("present_title").set_value("Bees").run()
    app.text_area("present_own").set_value("What feeds honey bees?").run()
    app.button("present_make_now").click().run()
    reloaded = visit("present", home)
    drawn.assert_sound(reloaded)
    assert [each.key for each in reloaded.text_input if each.key == "present_title"] == []
    may_end.set()
    reloaded = made(reloaded)
    drawn.assert_sound(reloaded)
    assert home.presentations.all().presentations[0].title == "Bees"
    assert reloaded.text_input("present_title").value == ""


def test_a_file_of_another_machine_is_opened_and_another_file_refused(home: Workbench, visit: Visit) -> None:
    app = visit("present", home)
    app.file_uploader[0].set_value([("other.json", b'{"format": "leanrag-run"}', "application/json")]).run()
    assert "is not a presentation of this program" in drawn.text(app)
    content = content_of(home.presentations.read(SAMPLE))
    app = visit("present", home)
    app.file_uploader[0].set_value([("story.json", content, "application/json")]).run()
    drawn.assert_sound(app)
    [deck] = decks(app)
    assert deck["title"] == "People, cities and ideas"


def test_a_link_to_what_is_gone_says_so_and_lists_what_there_is(home: Workbench, visit: Visit) -> None:
    app = visit("present", home, show="gone-12345678")
    drawn.assert_sound(app)
    assert "There is no presentation" in drawn.text(app)
    assert "People, cities and ideas" in drawn.text(app)


def test_a_damaged_presentation_is_named_and_can_be_deleted(home: Workbench, visit: Visit) -> None:
    (home.root / "presentations").mkdir()
    (home.root / "presentations" / "broken.json").write_text("{")
    app = visit("present", home)
    drawn.assert_sound(app)
    assert "broken cannot be shown" in drawn.text(app)
    app.button("delete_damaged_broken").click().run()
    assert not (home.root / "presentations" / "broken.json").exists()


def test_without_an_index_the_sample_is_there_and_the_form_says_what_is_needed(
    empty_home: Workbench, visit: Visit
) -> None:
    app = visit("present", empty_home)
    drawn.assert_sound(app)
    assert "build one first" in drawn.text(app)
    app.button(f"show_{SAMPLE}").click().run()
    assert len(decks(app)) == 1


def test_the_slides_are_in_the_language_of_the_reader(home: Workbench, visit: Visit) -> None:
    [deck] = decks(visit("present", home, show=SAMPLE, lang="zh"))
    assert deck["slides"][0]["views"][0]["title"] == "读取了什么"
    assert deck["words"]["notes"] == "备注"


def test_columns_of_compare_go_into_a_presentation_by_one_click(home: Workbench, visit: Visit) -> None:
    for n_columns in (2, 3):
        app = visit("compare", home, q=QUESTIONS[0]["question"], cols="abc"[:n_columns])
        app.button("compare_present").click().run()
        drawn.assert_sound(app)
        assert "Added as slide" in app.button("open_compare_present").label
        assert [toast.value.partition(" as slide")[0] for toast in app.toast] == ["Added to “People, cities and ideas”"]
    [own, sample] = home.presentations.all().presentations
    assert sample.id == SAMPLE
    app = visit("present", home, show=own.id)
    drawn.assert_sound(app)
    [deck] = decks(app)
    added = [slide for slide in deck["slides"] if slide["kind"] == "comparison"]
    assert [len(slide["views"][0]["picture"]["columns"]) for slide in added] == [2, 3]
    assert added[0]["views"][0]["picture"]["question"] == QUESTIONS[0]["question"]
    home.presentations.delete(own.id)


def test_slides_go_to_the_presentation_in_hand_else_to_the_newest_about_the_index() -> None:
    def about(name: str, index: str) -> PresentationSummary:
        return PresentationSummary(name, name, "2026-01-02", index, index, (), (), 0, is_shipped=False)

    listed = [about("newest", "bees"), about("mills", "mills"), about("older", "mills")]
    chosen = [to_presentation.best_of(listed, *wanted) for wanted in (("older", "bees"), ("gone", "mills"), ("", "x"))]
    assert [each.id for each in chosen if each] == ["older", "mills", "newest"]
    assert to_presentation.best_of([], "older", "bees") is None
