"""The documents that a question on Ask is asked of."""

from collections.abc import Callable
from datetime import date
from typing import Any

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.types.scope import Scope
from tests.app import drawn
from tests.app.conftest import CORPUS
from tests.app.test_code_view import opened

Visit = Callable[..., AppTest]
QUESTION = "What do beekeepers use against Varroa destructor?"


def button_label(app: AppTest) -> str:
    """Return what the button to the choice says."""
    labels = (getattr(getattr(block.proto, "popover", None), "label", "") for block in blocks(app.main))
    return next(str(label) for label in labels if str(label).startswith(("In: ", "范围：")))


def blocks(block: Any) -> list[Any]:
    held = list(getattr(block, "children", {}).values())
    return held + [inner for child in held for inner in blocks(child)]


def test_all_documents_are_asked_until_some_are_chosen(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    assert button_label(app) == "In: all documents"
    assert "in" not in app.query_params
    app.multiselect("lr_within_documents").set_value(["hives.txt"]).run()
    drawn.assert_sound(app)
    assert button_label(app) == "In: 1 of 3 documents, 1 chunk"
    assert app.query_params["in"] == "document:hives.txt"
    assert "Asked within 1 of 3 documents" in drawn.text(app)
    [answer] = drawn.component(app, "lr_citations")
    titles = {mark["title"] for part in answer["parts"] for mark in part["marks"]}
    assert {title for title in titles if title.startswith("source chunk")} <= {"source chunk, hives"}
    assert "oxalic acid" not in "".join(part["text"] for part in answer["parts"])
    app.multiselect("lr_within_documents").set_value(["hives.txt", "bees.md"]).run()
    assert button_label(app).startswith("In: 2 of 3 documents")
    app.multiselect("lr_within_documents").set_value([]).run()
    assert button_label(app) == "In: all documents"
    assert "in" not in app.query_params


def test_a_link_holds_the_documents_and_a_button_asks_all_again(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, **{"in": "document:bees.md"})
    drawn.assert_sound(app)
    assert app.multiselect("lr_within_documents").value == ["bees.md"]
    assert "Asked within 1 of 3 documents" in drawn.text(app)
    app.button("within_all").click().run()
    drawn.assert_sound(app)
    assert button_label(app) == "In: all documents"
    assert "Asked within" not in drawn.text(app)
    assert "in" not in app.query_params


def test_a_link_to_documents_that_are_not_there_says_so(home: Workbench, visit: Visit) -> None:
    for link in ("document:no.md", "tag:law", "colour:red", "from:May"):
        app = visit("ask", home, q=QUESTION, **{"in": link})
        assert not app.exception
        assert button_label(app) == "In: nothing of this index"
        assert not drawn.component(app, "lr_citations")
        app.button("within_again").click().run()
        drawn.assert_sound(app)
        assert drawn.component(app, "lr_citations")


def test_tags_and_dates_of_the_library_narrow_a_question(home: Workbench, visit: Visit) -> None:
    ids = {row.name: row.id for row in home.corpora.documents(CORPUS)}
    home.corpora.describe(CORPUS, [ids["bees.md"]], tags=["care"], date="2024-05")
    home.corpora.describe(CORPUS, [ids["hives.txt"]], date="1852")
    app = visit("ask", home, q=QUESTION)
    app.multiselect("lr_within_tags").set_value(["care"]).run()
    assert button_label(app).startswith("In: 1 of 3 documents")
    assert app.query_params["in"] == "tag:care"
    app.multiselect("lr_within_tags").set_value([]).run()
    app.date_input("lr_within_since").set_value(date(1850, 1, 1)).run()
    drawn.assert_sound(app)
    assert button_label(app).startswith("In: 2 of 3 documents")
    app.date_input("lr_within_until").set_value(date(1900, 1, 1)).run()
    assert button_label(app).startswith("In: 1 of 3 documents")
    assert app.query_params["in"] == "from:1850-01-01;to:1900-01-01"
    app.date_input("lr_within_since").set_value(date(2024, 1, 1)).run()
    assert app.query_params["in"] == "from:2024-01-01", "no date lies between the two, so the other bound goes"
    assert button_label(app).startswith("In: 1 of 3 documents")


def test_facts_are_asked_as_of_a_date(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    for day in ("2015-06", "1850"):
        app.text_input("lr_within_as_of").set_value(day).run()
        drawn.assert_sound(app)
        assert button_label(app) == f"In: all documents, as of {day}"
        assert app.query_params["in"] == f"as-of:{day}"
        assert f"As of {day}, " in drawn.text(app)
    app.text_input("lr_within_as_of").set_value("in May").run()
    assert "'in May' is no date" in drawn.text(app)
    assert button_label(app) == "In: all documents, as of 1850"
    app.text_input("lr_within_as_of").set_value("").run()
    drawn.assert_sound(app)
    assert button_label(app) == "In: all documents"
    assert "in" not in app.query_params
    assert "is no date" not in drawn.text(app)


def test_the_code_repeats_the_date(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, **{"in": "as-of:2015-06"})
    made = opened(app, "copy_code")
    assert made["trace"].scope == Scope(as_of="2015-06")
    assert "--as-of=2015-06" in app.code[1].value


def test_the_code_repeats_the_question_in_its_scope(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, **{"in": "document:bees.md"})
    made = opened(app, "copy_code")
    assert made["trace"].scope == Scope(documents=("bees.md",))
    assert made["trace"].passages
    assert "--document=bees.md" in app.code[1].value


def test_the_same_page_in_chinese(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, lang="zh", **{"in": "document:bees.md"})
    drawn.assert_sound(app)
    assert "在 3 篇文档中的 1 篇之内提问" in drawn.text(app)
