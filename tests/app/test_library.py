import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.chunking import SIZES, chunk_documents
from leanrag_core.indexing.parsing import formats
from leanrag_core.indexing.parsing.upload import parse_upload
from leanrag_core.messages.catalog import sentence
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.scope import DocumentData
from tests.app import drawn
from tests.app.conftest import CORPUS
from tests.paged_file import HEAD, TEXTS, paged_file

Visit = Callable[..., AppTest]


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.file_uploader[0].set_value([(name, content, "text/plain") for name, content in files]).run()
    return finished(app.button("primary_add").click().run())


def finished(app: AppTest) -> AppTest:
    """Wait until a thread has read the files; return the page."""
    begun = time.monotonic()
    while "lr_uploading" in app.session_state and time.monotonic() < begun + 60:
        app.run()
    return app


def shown_document(app: AppTest) -> str:
    """Return the beginning of the document beside the list."""
    [preview] = drawn.component(app, "chunk_preview")
    return str(preview["text"])


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
    assert "1 of 3 documents could not be read. 1 document added. " in page_text, "the third is a duplicate"
    assert "The others are in." not in page_text
    assert "not read empty.txt" in page_text
    assert "duplicate again.txt" in page_text
    [own] = [corpus for corpus in home.corpora.all() if not corpus.sample]
    assert (own.name, own.documents) == ("My documents", 1)
    assert app.query_params["corpus"] == own.id
    assert "Bees live in hives of wood." in shown_document(app), "what was added is shown"
    app.button("close_outcome").click().run()
    assert "could not be read" not in drawn.text(app)


def test_a_file_that_was_in_with_another_text_is_told_and_the_earlier_one_can_be_removed(
    home: Workbench, visit: Visit
) -> None:
    corpus = home.add_documents("Mill", [("mill.txt", b"The mill was built in 1924."), ("b.txt", b"Bees.")]).corpus_id
    app = visit("library", home, corpus=corpus, upload_into=corpus)
    app = upload(app, ("mill.txt", b"The mill was built in 1926."), ("new.txt", b"Another text."))
    assert "mill.txt was already in the corpus, with another text. Now both texts are in it." in drawn.text(app)
    assert len(home.corpora.documents(corpus)) == 4
    app.button("remove_earlier").click().run()
    app.button("remove_earlier_confirm").click().run()
    drawn.assert_sound(app)
    assert "was already in the corpus" not in drawn.text(app)
    texts = sorted(document.text for document in home.corpora.each_document(corpus))
    assert texts == ["Another text.", "Bees.", "The mill was built in 1926."]


def test_another_list_of_documents_keeps_no_frame_around_a_row(home: Workbench, visit: Visit) -> None:
    corpus = home.add_documents("Two", [("a.txt", b"Ants."), ("b.txt", b"Bees.")]).corpus_id
    app = visit("library", home, corpus=corpus)
    before = app.dataframe[0].proto.id
    assert visit("library", home, corpus=corpus).dataframe[0].proto.id == before, "the same list is the same table"
    app.button("remove_document").click().run()
    app.button("remove_document_confirm").click().run()
    assert app.dataframe[0].proto.id != before, "a row's number would name another document"


def test_a_refused_file_is_named_and_nothing_else_is_claimed(home: Workbench, visit: Visit) -> None:
    app = upload(visit("library", home), ("<img src=x>.pdf", b"%PDF-1.7 nothing"))
    drawn.assert_sound(app)
    assert "not read <img src=x>.pdf" in drawn.text(app)
    assert "1 of 1 document could not be read." in drawn.text(app)
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
    assert "Only clover." in shown_document(app)
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
    assert len(home.corpora.documents(own)) == 1
    app.button("remove_document_confirm").click().run()
    assert home.corpora.documents(own) == []


def test_what_cannot_be_deleted_stays_and_says_why(home: Workbench, visit: Visit) -> None:
    app = upload(visit("library", home), ("good.txt", b"Bees live in hives of wood."))
    [own] = [corpus for corpus in home.corpora.all() if not corpus.sample]
    app.button("delete_corpus").click().run()
    home.corpora.delete(own.id)  # by another session
    app.button("delete_corpus_confirm").click().run()
    drawn.assert_sound(app)
    assert "no corpus" in drawn.text(app)


def test_a_document_is_found_by_its_title(home: Workbench, visit: Visit) -> None:
    app = visit("library", home)
    app.text_input("find_document").input("RAPE").run()
    assert list(app.dataframe[0].value["Title"]) == ["Bees in rape"]
    app.text_input("find_document").input("<b>nothing</b>").run()
    drawn.assert_sound(app)
    assert len(app.dataframe[0].value) == 3
    assert "No document has that in its title or name." in drawn.text(app)


def test_a_corpus_without_documents_cannot_be_built(home: Workbench, visit: Visit) -> None:
    empty = home.corpora.create("Empty")
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
    assert "<script>alert(1)</script>" in shown_document(app)
    [own] = [corpus for corpus in home.corpora.all() if not corpus.sample]
    [document] = home.corpora.documents(own.id)
    assert document.name == name.rsplit("/", 1)[-1]
    assert document.name in drawn.text(app)


def test_pasted_text_becomes_a_document(home: Workbench, visit: Visit) -> None:
    app = visit("library", home)
    app.segmented_control("lr_add_by").set_value("text").run()
    app.button("primary_add").click().run()
    assert "There is no text yet." in drawn.text(app)
    app.text_input("text_title_0").input("On clover").run()
    app.text_area("text_0").input("Clover feeds bees in <b>summer</b>.").run()
    app = finished(app.button("primary_add").click().run())
    drawn.assert_sound(app)
    [own] = [corpus for corpus in home.corpora.all() if not corpus.sample]
    [document] = home.corpora.documents(own.id)
    assert document.title == "On clover"
    assert "Clover feeds bees in <b>summer</b>." in shown_document(app)


def test_pasted_text_without_a_title_is_named_by_its_first_sentence(home: Workbench, visit: Visit) -> None:
    app = visit("library", home)
    app.segmented_control("lr_add_by").set_value("text").run()
    app.text_area("text_0").input("Clover feeds bees.").run()
    drawn.assert_sound(finished(app.button("primary_add").click().run()))
    [own] = [corpus for corpus in home.corpora.all() if not corpus.sample]
    assert [document.name for document in home.corpora.documents(own.id)] == ["Clover feeds bees.txt"]


def test_a_folder_of_this_machine_is_read_by_its_path(home: Workbench, visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "papers" / "old").mkdir(parents=True)
    (tmp_path / "papers" / "a.txt").write_text("Bees live in hives.")
    (tmp_path / "papers" / "old" / "b.txt").write_text("Clover feeds them.")
    app = visit("library", home)
    app.segmented_control("lr_add_by").set_value("path").run()
    for nowhere in ("no such folder", "~no-such-user/papers", "x" * 300):  # no such user; too long for a name
        app.text_input("path_0").input(f"{tmp_path}/{nowhere}" if nowhere[0] != "~" else nowhere).run()
        drawn.assert_sound(app)
        app.button("primary_add").click().run()
        assert "There is no folder or file" in drawn.text(app)
    app.text_input("path_0").input(str(tmp_path / "papers")).run()
    app = finished(app.button("primary_add").click().run())
    drawn.assert_sound(app)
    [own] = [corpus for corpus in home.corpora.all() if not corpus.sample]
    assert [document.name for document in home.corpora.documents(own.id)] == ["a.txt", "b.txt"]


def test_every_file_has_its_row(home: Workbench, visit: Visit) -> None:
    app = upload(visit("library", home), ("good.txt", b"Bees live in hives."), ("empty.txt", b""))
    rows = next(frame.value for frame in app.dataframe if "State" in frame.value)
    assert rows[["State", "File", "Size"]].to_numpy().tolist() == [
        ["not read", "empty.txt", "0 B"],
        ["added", "good.txt", "19 B"],
    ]
    assert rows["Tokens"].tolist()[1] == count_tokens("Bees live in hives.")


def test_long_lists_come_in_pages(home: Workbench, visit: Visit) -> None:
    files = [(f"file-{n:03}.txt", f"Hive number {n}.".encode()) for n in range(201)]
    own = home.add_documents("Own", files).corpus_id
    app = visit("library", home, corpus=own)
    assert len(app.dataframe[0].value) == 200
    app.button("docs_page_next").click().run()
    drawn.assert_sound(app)
    assert app.dataframe[0].value["Title"].tolist() == ["file-200"]


def test_ones_own_corpora_come_first_and_an_index_leads_on(home: Workbench, visit: Visit) -> None:
    own = home.add_documents("Own", [("a.txt", b"Only clover.")]).corpus_id
    app = visit("library", home)
    cards = [button.key.removeprefix("open_") for button in app.button if (button.key or "").startswith("open_")]
    cards.remove("import")
    assert cards == [own, CORPUS]
    with pytest.raises(KeyError):
        app.button(f"ask_{own}")
    app.button(f"ask_{CORPUS}").click().run()
    drawn.assert_sound(app)
    assert "Question" in [area.label for area in app.text_area]


def test_the_preview_cuts_a_document_as_a_build_does(home: Workbench, visit: Visit) -> None:
    text = " ".join(f"Hive {n} holds 🐝 bees." for n in range(60))
    own = home.add_documents("Own", [("a.txt", text.encode())]).corpus_id
    [preview] = drawn.component(visit("library", home, corpus=own), "chunk_preview")
    [document] = home.corpora.documents(own)
    chunks = chunk_documents([home.corpora.document(own, document.id)], max_tokens=64, overlap_tokens=8)
    as_the_browser_counts = preview["text"].encode("utf-16-le")
    spans = preview["sizes"][SIZES.index(64)]["spans"]
    pieces = [as_the_browser_counts[2 * start : 2 * end].decode("utf-16-le") for start, end in spans]
    assert pieces == [chunk.text for chunk in chunks]
    assert preview["sizes"][SIZES.index(64)]["said"].startswith("64 tokens, 8 of overlap: ")
    form = {"b_chunk_tokens": "64", "b_overlap_tokens": "20"}
    [preview] = drawn.component(visit("library", home, corpus=own, **form), "chunk_preview")
    said = [preview["sizes"][SIZES.index(size)]["said"] for size in (64, 128)]
    assert [text.partition(":")[0] for text in said] == ["64 tokens, 20 of overlap", "128 tokens, 16 of overlap"]


def test_what_is_no_prose_is_shown_with_its_reason_and_read_on_demand(home: Workbench, visit: Visit) -> None:
    prose, row = "Varroa mites weaken honey bees in winter.", "BISLIG 7 1,592 7,412 2 754"
    own = home.add_documents("Own", [("a.txt", f"🐝 {prose}\n\n{row}\n\n{prose}".encode())]).corpus_id
    [before] = home.corpora.documents(own)
    [preview] = drawn.component(visit("library", home, corpus=own), "chunk_preview")
    [aside] = preview["asides"]
    assert (aside["reason"], aside["read"]) == ("table", False)
    as_the_browser_counts = preview["text"].encode("utf-16-le")
    assert as_the_browser_counts[2 * aside["span"][0] : 2 * aside["span"][1]].decode("utf-16-le") == row
    assert preview["asides_legend"].startswith("Struck through: what is no prose, 23% of this document.")
    read = home.corpora.read_anyway(own, before.id, [aside["key"]])
    [preview] = drawn.component(visit("library", home, corpus=own, doc=read), "chunk_preview")
    assert preview["asides"] == [{**aside, "read": True}]
    assert home.corpora.read_anyway(own, read, [aside["key"]]) == before.id
    assert home.corpora.documents(own) == [before]


def test_running_heads_are_shown_where_they_were_and_can_be_put_back(home: Workbench, visit: Visit) -> None:
    own = home.add_documents("Own", [("a.pdf", paged_file())]).corpus_id
    [before] = home.corpora.documents(own)
    [preview] = drawn.component(visit("library", home, corpus=own), "chunk_preview")
    assert preview["text"] == "\n\n".join(TEXTS)
    assert [head["span"] for head in preview["heads"]] == [[preview["text"].index(text)] * 2 for text in TEXTS]
    put_back = home.corpora.put_back(own, before.id, HEAD)
    [preview] = drawn.component(visit("library", home, corpus=own, doc=put_back), "chunk_preview")
    pieces = [preview["text"][start:end] for start, end in (head["span"] for head in preview["heads"])]
    assert pieces == [f"{HEAD}\n\n"] * 3
    assert "".join(preview["text"].split(f"{HEAD}\n\n")) == "\n\n".join(TEXTS)
    assert home.add_documents(own, [("a.pdf", paged_file())]).added == ()  # it is remembered
    assert home.corpora.put_back(own, put_back, HEAD) == before.id
    assert home.corpora.documents(own) == [before]


def test_tags_and_dates_of_one_document_and_of_all_that_are_listed(home: Workbench, visit: Visit) -> None:
    ids = {row.name: row.id for row in home.corpora.documents(CORPUS)}
    app = visit("library", home, corpus=CORPUS, doc=ids["hives.txt"])
    assert "Tags" not in app.dataframe[0].value
    app.multiselect(f"describe_{ids['hives.txt']}_tags").set_value(["wood, frames"])
    app.text_input(f"describe_{ids['hives.txt']}_date").input("1852")
    app.button(f"describe_{ids['hives.txt']}_save").click().run()
    drawn.assert_sound(app)
    assert "Tags and date of 1 document are saved." in drawn.text(app)
    assert home.corpora.data(CORPUS) == {ids["hives.txt"]: DocumentData(("frames", "wood"), "1852")}
    assert "frames, wood" in list(app.dataframe[0].value["Tags"])
    assert "1852" in list(app.dataframe[0].value["Date"])
    app.radio("describe_of").set_value("listed").run()
    app.multiselect("describe_listed_tags").set_value(["bees"])
    app.button("describe_listed_save").click().run()
    drawn.assert_sound(app)
    data = home.corpora.data(CORPUS)
    assert data[ids["hives.txt"]] == DocumentData(("bees", "frames", "wood"), "1852")
    assert data[ids["bees.md"]] == DocumentData(("bees",))


def test_a_date_that_is_none_is_refused_in_its_form(home: Workbench, visit: Visit) -> None:
    ids = {row.name: row.id for row in home.corpora.documents(CORPUS)}
    app = visit("library", home, corpus=CORPUS, doc=ids["bees.md"])
    app.text_input(f"describe_{ids['bees.md']}_date").input("in May")
    app.button(f"describe_{ids['bees.md']}_save").click().run()
    assert not app.exception
    assert "'in May' is no date" in drawn.text(app)
    assert home.corpora.data(CORPUS) == {}


def test_a_reader_of_files_that_does_not_load_is_named_where_files_are_added_and_where_one_is_refused(
    empty_home: Workbench, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rtf.py").write_text("raise RuntimeError('no converter is installed')")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    page = visit("library", empty_home)
    assert "The file rtf.py cannot be loaded: no converter is installed" in drawn.text(page)
    [refused] = parse_upload("letter.rtf", b"{\\rtf1}").refusals
    assert sentence(refused.reason).endswith("Not usable: the file rtf.py cannot be loaded: no converter is installed")


def test_duplicates_are_told_where_build_opens_at_once(home: Workbench, visit: Visit) -> None:
    app = visit("library", home)
    notes = [{"text": "Bees live in hives."}, {"text": "Wax comes from bees."}, {"text": "Wax comes from bees."}]
    lines = "\n".join(map(json.dumps, notes)).encode()
    app.file_uploader[0].set_value([("notes.jsonl", lines, "application/json")]).run()
    app = finished(app.button("add_and_build").click().run())
    drawn.assert_sound(app)
    assert app.selectbox("lr_corpus").value not in (CORPUS, None), "Build is open on the new corpus"
    assert [toast.value for toast in app.toast] == ["2 documents added. 1 duplicate is left out."]
    drawn.assert_sound(app.run())
    assert not app.toast, "it is told once"
    app.switch_page("../library/page.py").run()
    assert "duplicate notes.jsonl" in drawn.text(app)


def test_a_corpus_is_renamed_and_its_indexes_name_it_so(home: Workbench, visit: Visit) -> None:
    home.build(home.add_documents("Mine", [("bees.txt", b"Bees need nectar. " * 20)]).corpus_id, IndexConfig())
    index = next(each for each in home.indexes.all() if each.corpus_name == "Mine")
    for name in ("Bees & <b>crops</b>", "蜜蜂 $x$ " * 3):
        app = visit("library", home, corpus=index.corpus_id)
        app.button("rename_corpus").click().run()
        drawn.assert_sound(app)
        assert app.text_input(f"rename_corpus_{index.corpus_id}").max_chars == 500, "a longer one is refused below"
        assert app.text_input(f"rename_corpus_{index.corpus_id}").value == home.corpora.summary(index.corpus_id).name
        app.run()  # as at a job's end
        assert app.text_input(f"rename_corpus_{index.corpus_id}")
        home.rename_corpus(index.corpus_id, f" {name} ")
        app = visit("library", home, corpus=index.corpus_id)
        drawn.assert_sound(app)
        assert name.strip() in drawn.text(app)
        assert home.corpora.summary(index.corpus_id).name == name.strip()
        assert home.indexes.summary(index.id).corpus_name == name.strip()
        assert home.indexes.summary(index.id).name == index.name
        assert not [each for each in home.check(index.path) if each.problems]
    for name in ("  ", "x" * 501):
        with pytest.raises(InvalidConfig, match="the name"):
            home.rename_corpus(index.corpus_id, name)
    sample = next(corpus for corpus in home.corpora.all() if corpus.sample)
    with pytest.raises(InvalidConfig, match="belong to the program"):
        home.rename_corpus(sample.id, "Mine")
