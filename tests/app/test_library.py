from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.file_uploader[0].set_value([(name, content, "text/plain") for name, content in files]).run()
    return app.button("primary_add").click().run()


def test_uploads_become_a_corpus_and_bad_ones_are_reported(home: Workbench, visit: Visit) -> None:
    app = visit("library", home)
    assert app.button("primary_add").disabled
    app = upload(
        app,
        ("good.txt", b"Bees live in hives of wood."),
        ("empty.txt", b""),
        ("again.txt", b"Bees live in hives of wood."),
    )
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "1 of 3 files could not be read. The others are in." in page_text
    assert "not read empty.txt" in page_text
    assert "duplicate again.txt" in page_text
    [own] = [corpus for corpus in home.corpora() if not corpus.sample]
    assert (own.name, own.documents) == ("My documents", 1)
    assert app.query_params["corpus"] == own.id
    assert "Bees live in hives of wood." in page_text, "what was added is shown"
    app.button("close_outcome").click().run()
    assert "could not be read" not in drawn.text(app)


def test_a_refused_file_is_named_and_nothing_else_is_claimed(home: Workbench, visit: Visit) -> None:
    app = upload(visit("library", home), ("<img src=x>.pdf", b"%PDF-1.7 nothing"))
    drawn.assert_sound(app)
    assert "not read <img src=x>.pdf" in drawn.text(app)
    assert "1 of 1 file could not be read." in drawn.text(app)
    assert "The others are in." not in drawn.text(app)


def test_a_sample_corpus_can_be_built_and_not_deleted(home: Workbench, visit: Visit) -> None:
    app = visit("library", home)
    assert all(not button.label.startswith(("Delete", "Remove")) for button in app.button)
    app.button(f"build_{CORPUS}").click().run()
    drawn.assert_sound(app)
    assert app.selectbox("lr_corpus").value == CORPUS


def test_another_corpus_is_opened_by_its_button(home: Workbench, visit: Visit) -> None:
    own = home.add_documents("Own", [("a.txt", b"Only clover.")]).corpus_id
    app = visit("library", home)
    app.button(f"open_{own}").click().run()
    drawn.assert_sound(app)
    assert "Only clover." in drawn.text(app)
    assert app.query_params["corpus"] == own


def test_deleting_asks_first(home: Workbench, visit: Visit) -> None:
    own = home.add_documents("Own", [("a.txt", b"Only clover.")]).corpus_id
    app = visit("library", home, corpus=own)
    for label, shown_text in (
        ("Delete corpus", "1 document will be deleted."),
        ("Remove document", "It is removed from the corpus."),
    ):
        next(button for button in app.button if button.label == label).click().run()
        drawn.assert_sound(app)
        assert shown_text in drawn.text(app)
    assert len(home.documents(own)) == 1


def test_a_document_is_found_by_its_title(home: Workbench, visit: Visit) -> None:
    app = visit("library", home)
    app.text_input("find_document").input("RAPE").run()
    assert list(app.dataframe[0].value["Title"]) == ["Bees in rape"]
    app.text_input("find_document").input("<b>nothing</b>").run()
    drawn.assert_sound(app)
    assert len(app.dataframe[0].value) == 3
    assert "No document has that in its title or name." in drawn.text(app)


def test_a_corpus_without_documents_cannot_be_built(home: Workbench, visit: Visit) -> None:
    empty = home.create_corpus("Empty")
    app = visit("library", home, corpus=empty)
    drawn.assert_sound(app)
    assert "No documents yet." in drawn.text(app)
    app = visit("build", home, corpus=empty)
    drawn.assert_sound(app)
    assert app.button("primary_build").disabled
    assert "Add some in the Library." in drawn.text(app)


@pytest.mark.parametrize(
    "name", ["../../evil.txt", "<img src=x onerror=alert(1)>.txt", "[x](javascript:alert(1)).txt", "$a$ `b`.txt"]
)
def test_a_hostile_file_name_is_text_and_no_path(name: str, home: Workbench, visit: Visit) -> None:
    app = upload(visit("library", home), (name, b"# Plain <script>alert(1)</script> words\n\nand more of them."))
    drawn.assert_sound(app)
    assert "<script>alert(1)</script>" in drawn.text(app)
    [own] = [corpus for corpus in home.corpora() if not corpus.sample]
    [document] = home.documents(own.id)
    assert document.name == name.rsplit("/", 1)[-1]
    assert document.name in drawn.text(app)
