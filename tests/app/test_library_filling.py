"""While a large file is read: the page counts its documents, and the corpus that gets them does not look empty."""

from collections.abc import Callable, Sequence

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.indexing.parsing import ParsedUpload
from leanrag_core.indexing.reading import FileRead
from leanrag_core.messages.message import message
from leanrag_core.storage.corpus_arrivals import marked_as_filling
from leanrag_core.types.corpus import Document, Refusal
from pages.library.adding_view import Uploading
from tests.app import drawn

Visit = Callable[..., AppTest]
SOME = [Document(f"d{n}", f"d{n}", f"D{n}", "text", "Bees.") for n in range(3)]


def part(documents: Sequence[Document], *, begins: bool, ends: bool, name: str = "big.jsonl") -> FileRead:
    return FileRead(name, 9, ParsedUpload(tuple(documents)), ends=ends, begins=begins)


def reading(app: AppTest, uploading: Uploading) -> str:
    """What the page says while that is under way."""
    app.session_state["lr_uploading"] = uploading
    app.run()
    drawn.assert_sound(app)
    return drawn.text(app)


def test_of_a_single_file_the_documents_are_counted(home: Workbench, visit: Visit) -> None:
    app, uploading = visit("library", home), Uploading(1, current="big.jsonl")
    said = reading(app, uploading)
    assert "0 documents so far" in said
    assert "now big.jsonl" in said
    assert "0 of 1 files" not in said
    uploading.heard(part(SOME, begins=True, ends=False))
    uploading.heard(part(SOME[:2], begins=False, ends=False))
    assert "5 documents so far" in reading(app, uploading)
    uploading.heard(part(SOME[:1], begins=False, ends=True))
    said = reading(app, uploading)
    assert "6 documents so far" in said, "while they are taken into the corpus"
    assert "now big.jsonl" not in said


def test_of_several_files_both_are_counted_where_a_file_has_several_documents(home: Workbench, visit: Visit) -> None:
    app, uploading = visit("library", home), Uploading(3)
    uploading.heard(part(SOME[:1], begins=True, ends=True, name="a.txt"))
    said = reading(app, uploading)
    assert "1 of 3 files" in said
    assert "so far" not in said
    uploading.heard(FileRead("bad.txt", 1, ParsedUpload((), (Refusal("bad.txt", message("file.too_large", limit=1)),))))
    uploading.heard(part(SOME, begins=True, ends=False))
    said = reading(app, uploading)
    assert "2 of 3 files, 4 documents so far, 1 not read" in said
    assert "now big.jsonl, bad.txt, a.txt" in said


@pytest.mark.parametrize(("language", "filling"), [("en", "documents are being added"), ("zh", "正在添加文档")])
def test_a_corpus_that_is_being_filled_does_not_look_empty(
    language: str, filling: str, home: Workbench, visit: Visit
) -> None:
    corpus = home.corpora.create("Notes")
    with marked_as_filling(home.corpora.root, corpus, "0" * 16) as tell:
        tell(4448)
        library = drawn.text(visit("library", home, corpus=corpus, lang=language))
        build = visit("build", home, corpus=corpus, lang=language)
    assert filling in library
    assert ("4,448 documents so far" if language == "en" else "已读取 4,448 篇文档") in library
    assert ("0 documents" if language == "en" else "0 篇文档") not in library
    [chosen] = [box for box in build.selectbox if "Notes" in str(box.options)]
    assert f"Notes{', ' if language == 'en' else '，'}{filling}" in chosen.options
    assert filling not in drawn.text(visit("library", home, corpus=corpus, lang=language))
