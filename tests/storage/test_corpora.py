import errno
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.errors import CorpusNotFound, FolderRefused, InvalidConfig, StorageFailed
from leanrag_core.messages.message import message
from leanrag_core.storage import corpora
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.corpus_arrivals import summarise
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.corpus import Document, Heading, Refusal, Span

BEES = Document(
    "doc-bees",
    "bees.pdf",
    "Bees 蜂",
    "pdf",
    "Bees 蜂\n\nThey dance. 🐝",
    language="en",
    pages=(Span(0, 6), Span(6, 21)),
    headings=(Heading("Bees 蜂", 1, 0, 6),),
    boilerplate=(Span(8, 19),),
    notes=("Read as UTF-16.",),
)
ANTS = Document("doc-ants", "ants.txt", "ants", "text", "Ants walk.")
HOSTILE = ["../outside", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "a\n", "A", "a" * 200, "corpus.json", "a\x00b"]


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    return CorpusStore(tmp_path / "corpora")


def a_document(name: str, text: str) -> Document:
    return Document(f"doc-{text}", name, name, "text", text)


def files_of(root: Path) -> list[str]:
    files = [path for path in root.rglob("*") if path.is_file() and path.name != ".lock"]
    return sorted(str(path.relative_to(root)) for path in files)


def test_a_new_corpus_is_empty_and_listed(store: CorpusStore) -> None:
    corpus = store.create("My Docs", description="about bees")
    card = store.summary(corpus)
    assert corpus.startswith("my-docs-")
    assert (card.name, card.description, card.documents, card.tokens, card.sample) == (
        "My Docs",
        "about bees",
        0,
        0,
        False,
    )
    assert store.summaries() == [card]
    assert store.documents(corpus) == []


def test_a_document_reads_back_as_it_was_added_after_reopening(store: CorpusStore) -> None:
    corpus = store.create("docs")
    added, duplicates = store.add(corpus, (BEES, ANTS))
    again = CorpusStore(store.root)
    assert added == [summarise(BEES), summarise(ANTS)]
    assert duplicates == []
    assert again.document(corpus, "doc-bees") == BEES
    assert again.document(corpus, "doc-ants") == ANTS
    assert again.documents(corpus) == [summarise(ANTS), summarise(BEES)]  # by name
    assert again.summary(corpus).documents == 2
    assert again.summary(corpus).tokens == count_tokens(BEES.text) + count_tokens(ANTS.text)


def test_a_summary_counts_characters_tokens_and_pages() -> None:
    row = summarise(BEES)
    assert (row.characters, row.tokens, row.pages) == (len(BEES.text), count_tokens(BEES.text), 2)
    assert row.notes == ("Read as UTF-16.",)


def test_the_same_content_is_taken_once_under_its_first_name(store: CorpusStore) -> None:
    corpus = store.create("docs")
    copy = Document("doc-bees", "copy.pdf", "Bees", "pdf", BEES.text)
    refusal = Refusal("copy.pdf", message("file.already_in_corpus", first="bees.pdf"))
    assert store.add(corpus, (BEES, copy))[1] == [refusal]  # in one go
    assert store.add(corpus, (copy,)) == ([], [refusal])  # and later
    assert [row.name for row in store.documents(corpus)] == ["bees.pdf"]
    assert store.document(corpus, "doc-bees") == BEES


def test_a_removed_document_is_gone_and_can_come_back(store: CorpusStore) -> None:
    corpus = store.create("docs")
    store.add(corpus, (BEES, ANTS))
    store.remove(corpus, "doc-bees")
    assert [row.id for row in store.documents(corpus)] == ["doc-ants"]
    assert not (store.root / corpus / "doc-bees.json").exists()
    with pytest.raises(CorpusNotFound, match="no document 'doc-bees'"):
        store.document(corpus, "doc-bees")
    assert store.add(corpus, (BEES,))[0] == [summarise(BEES)]


@pytest.mark.parametrize("document_id", ["doc-other", "corpus", "../corpus", "../../secret", ""])
def test_removing_what_is_not_a_document_changes_nothing(store: CorpusStore, document_id: str) -> None:
    corpus = store.create("docs")
    store.add(corpus, (ANTS,))
    secret = store.root.parent / "secret.json"
    secret.write_text("{}")
    before = files_of(store.root.parent)
    store.remove(corpus, document_id)
    assert files_of(store.root.parent) == before
    assert [row.id for row in store.documents(corpus)] == ["doc-ants"]


def test_the_record_is_not_read_as_a_document(store: CorpusStore) -> None:
    with pytest.raises(CorpusNotFound, match="no document 'corpus'"):
        store.document(store.create("docs"), "corpus")


def test_a_deleted_corpus_leaves_the_others(store: CorpusStore) -> None:
    gone, kept = store.create("gone"), store.create("kept")
    store.add(gone, (BEES,))
    store.delete(gone)
    assert [summary.id for summary in store.summaries()] == [kept]
    assert not (store.root / gone).exists()
    with pytest.raises(CorpusNotFound, match="add documents"):
        store.summary(gone)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_id_opens_nothing(store: CorpusStore, hostile: str) -> None:
    corpus = store.create("docs")
    (store.root.parent / "outside").mkdir()
    (store.root.parent / "outside" / "corpus.json").write_text(json.dumps({"documents": []}))
    before = files_of(store.root.parent)
    for access in (store.summary, store.documents, store.delete):
        with pytest.raises(CorpusNotFound):
            access(hostile)
    with pytest.raises(CorpusNotFound):
        store.add(hostile, (ANTS,))
    with pytest.raises(CorpusNotFound):
        store.document(corpus, hostile)
    assert files_of(store.root.parent) == before


@pytest.mark.parametrize("name", ["../../outside", "/etc/passwd", "a/b\\c", "蜂", "...", "x" * 500, "\x00", " "])
def test_a_hostile_name_is_kept_but_never_a_path(store: CorpusStore, name: str) -> None:
    corpus = store.create(name)
    store.add(corpus, (Document("doc-1", name, name, "text", "Ants walk."),))
    assert files_of(store.root.parent) == [f"corpora/{corpus}/corpus.json", f"corpora/{corpus}/doc-1.json"]
    assert store.summary(corpus).name == (name.strip() or "Untitled")
    assert store.document(corpus, "doc-1").name == name


@pytest.mark.parametrize("hostile", [text for text in HOSTILE if text])
def test_a_corpus_is_not_created_under_a_hostile_id(store: CorpusStore, hostile: str) -> None:
    with pytest.raises(InvalidConfig, match="is not one"):
        store.create("docs", corpus_id=hostile)
    assert files_of(store.root.parent) == []


def test_corpora_of_one_name_are_two_corpora(store: CorpusStore) -> None:
    assert len({store.create("docs"), store.create("docs")}) == 2


def test_ones_own_corpora_come_first_the_newest_at_the_top(store: CorpusStore) -> None:
    names = {"old": "2026-01-01", "new": "2026-03-01", "b sample": "2026-02-01", "a sample": "2026-01-15"}
    for name, created in names.items():
        path = store.root / store.create(name, sample="sample" in name) / "corpus.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "created": created}))
    assert [summary.name for summary in store.summaries()] == ["new", "old", "a sample", "b sample"]


def test_a_folder_that_someone_copied_does_not_close_the_library(store: CorpusStore) -> None:
    corpus = store.create("docs")
    (store.root / "Docs copy").mkdir()
    (store.root / "Docs copy" / "corpus.json").write_text((store.root / corpus / "corpus.json").read_text())
    assert [summary.id for summary in store.summaries()] == [corpus]


def test_the_source_of_a_sample_is_stored_after_its_documents(store: CorpusStore) -> None:
    corpus = store.create("cs", corpus_id="sample-cs", sample=True)
    assert (corpus, store.source("sample-cs"), store.source("sample-other")) == ("sample-cs", "", "")
    store.add(corpus, (ANTS,), source="abc")
    store.add(corpus, (replace(ANTS, id="doc-2"),))
    assert (store.source("sample-cs"), store.summary(corpus).documents) == ("abc", 2)


def test_an_empty_store_lists_nothing(store: CorpusStore) -> None:
    assert store.summaries() == []


def test_two_sessions_that_add_at_once_lose_nothing(store: CorpusStore) -> None:
    corpus = store.create("Shared")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: CorpusStore(store.root).add(corpus, (replace(ANTS, id=f"doc-{n}"),)), range(24)))
    assert store.summary(corpus).documents == 24


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": "x"}', "\x00\x01"])
def test_a_record_that_does_not_read_hides_no_other_corpus_and_can_be_deleted(store: CorpusStore, content: str) -> None:
    whole, broken = store.create("whole"), store.create("broken")
    (store.root / broken / "corpus.json").write_text(content)
    assert [summary.id for summary in store.summaries()] == [whole]
    [damaged] = store.damaged()
    assert damaged.id == broken
    assert "delete the corpus in the Library" in damaged.reason
    store.delete(broken)
    assert store.damaged() == []


def test_deleting_a_corpus_spares_what_is_not_of_one(store: CorpusStore, tmp_path: Path) -> None:
    corpus = store.create("docs")
    store.add(corpus, (BEES,))
    (store.root / corpus / "thesis.docx").touch()
    with pytest.raises(FolderRefused, match=r"'thesis\.docx'"):
        store.delete(corpus)
    (store.root / corpus / "thesis.docx").unlink()
    (store.root / corpus).rename(tmp_path / "elsewhere")
    (store.root / corpus).symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(FolderRefused, match="is a link"):
        store.delete(corpus)
    assert files_of(tmp_path / "elsewhere") == ["corpus.json", "doc-bees.json"]


def test_what_a_killed_deletion_left_goes_with_the_next(store: CorpusStore) -> None:
    store.add(store.create("old", corpus_id="old"), (BEES,))
    (store.root / "old").rename(store.root / ".deleted-old")
    (store.root / "new").mkdir()
    (store.root / "new" / "corpus.json").write_text("damaged")
    (store.root / "new" / ".corpus.json.7.8").touch()
    assert store.summaries() == []
    store.delete("new")
    assert files_of(store.root) == []


def test_what_could_not_be_read_is_reported_until_a_file_of_that_name_can(store: CorpusStore) -> None:
    corpus = store.create("docs")
    scan, ants = (
        Refusal("scan.pdf", message("file.no_text_layer", pages=3)),
        Refusal("ants.txt", message("file.no_text")),
    )
    store.add(corpus, (), refused=[scan, ants])
    assert CorpusStore(store.root).refused(corpus) == [scan, ants]
    again = Refusal("scan.pdf", message("file.pdf_password"))
    store.add(corpus, (ANTS,), refused=[again])
    assert store.refused(corpus) == [again]
    assert store.refused(store.create("other")) == []


def test_a_refusal_of_an_earlier_version_keeps_its_sentence(store: CorpusStore) -> None:
    corpus = store.create("docs")
    store.add(corpus, (), refused=[Refusal("scan.pdf", message("file.no_text_layer", pages=3))])
    path = store.root / corpus / "corpus.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    sentence = "has no text layer (pages: 3): run OCR on it, then add it again"
    assert record["refused"][0]["reason"] == sentence, "which earlier versions read"
    del record["refused"][0]["message"]
    path.write_text(json.dumps(record), encoding="utf-8")
    assert CorpusStore(store.root).refused(corpus) == [Refusal("scan.pdf", message("plain", text=sentence))]


def test_documents_are_written_one_after_another_and_others_may_write_meanwhile(store: CorpusStore) -> None:
    corpus = store.create("Bees")

    def arriving() -> Iterator[Document]:
        yield a_document("a.txt", "first")
        assert len(list((store.root / corpus).glob(".adding-*.json"))) == 1, "written before the next one is asked for"
        CorpusStore(store.root).add(corpus, (a_document("of another session.txt", "second"),))
        yield a_document("b.txt", "second")

    added, duplicates = store.add(corpus, arriving())
    assert [row.name for row in added] == ["a.txt"]
    assert [refusal.name for refusal in duplicates] == ["b.txt"]
    assert {row.name for row in store.documents(corpus)} == {"a.txt", "of another session.txt"}


def test_a_failure_on_the_way_adds_none_and_takes_nothing_of_others(store: CorpusStore) -> None:
    corpus = store.create("Bees")

    def arriving() -> Iterator[Document]:
        yield a_document("a.txt", "first")
        yield a_document("b.txt", "second")
        CorpusStore(store.root).add(corpus, (a_document("of another session.txt", "second"),))
        raise RuntimeError("the reader broke down")

    with pytest.raises(RuntimeError):
        store.add(corpus, arriving())
    [row] = store.documents(corpus)
    assert row.name == "of another session.txt"
    assert store.document(corpus, row.id).text == "second"
    assert len(list((store.root / corpus).glob("*.json"))) == 2, "the record and that document"


def test_an_upload_that_fails_takes_no_document_from_another_one_that_is_on_its_way(store: CorpusStore) -> None:
    corpus = store.create("Bees")

    def failing() -> Iterator[Document]:
        yield a_document("a.txt", "first")
        raise RuntimeError("the reader broke down")

    def arriving() -> Iterator[Document]:
        yield a_document("a.txt", "first")
        with pytest.raises(RuntimeError):
            CorpusStore(store.root).add(corpus, failing())
        yield a_document("b.txt", "second")

    store.add(corpus, arriving())
    assert [document.text for document in store.each_document(corpus)] == ["first", "second"]


def test_documents_whose_record_cannot_be_written_leave_nothing_behind(
    store: CorpusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = store.create("Bees")
    store.add(corpus, [ANTS])

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(corpora, "write_record", no_room)
    with pytest.raises(StorageFailed):
        store.add(corpus, [BEES])
    assert files_of(store.root / corpus) == ["corpus.json", f"{ANTS.id}.json"]
    assert list(store.each_document(corpus)) == [ANTS]


def test_an_error_of_a_new_corpus_is_told_also_where_the_corpus_cannot_be_deleted(
    store: CorpusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> Iterator[Document]:
        yield ANTS
        raise RuntimeError("the reader broke down")

    def refused(*_: object) -> None:
        raise FolderRefused("corpus.folder_is_link", folder="bees")

    monkeypatch.setattr(store, "delete", refused)
    with pytest.raises(RuntimeError, match="broke down"):
        store.create_with("Bees", failing())


def test_a_document_whose_file_is_gone_can_be_removed(store: CorpusStore) -> None:
    corpus = store.create("Bees")
    store.add(corpus, [ANTS, BEES])
    (store.root / corpus / f"{ANTS.id}.json").unlink()
    store.remove(corpus, ANTS.id)
    assert list(store.each_document(corpus)) == [BEES]


def test_a_document_that_takes_another_s_place_is_known_by_the_file_that_gave_it(store: CorpusStore) -> None:
    corpus, _ = store.create_with("Own", [BEES, ANTS])
    longer = replace(BEES, id="doc-longer", text=f"{BEES.text} They sting.")
    store.replace(corpus, BEES.id, longer)
    assert [row.id for row in store.documents(corpus)] == [ANTS.id, longer.id]
    assert store.document(corpus, longer.id) == longer
    assert store.summary(corpus).tokens == count_tokens(longer.text) + count_tokens(ANTS.text)
    added, duplicates = CorpusStore(store.root).add(corpus, [BEES])  # the same file again
    assert (added, [each.name for each in duplicates]) == ([], [BEES.name])
    assert f"{corpus}/{BEES.id}.json" not in files_of(store.root)
    with pytest.raises(InvalidConfig, match=r"ants\.txt"):
        store.replace(corpus, longer.id, replace(longer, id=ANTS.id))
    store.replace(corpus, longer.id, BEES)
    assert store.documents(corpus) == sorted(map(summarise, [BEES, ANTS]), key=lambda row: row.name)
