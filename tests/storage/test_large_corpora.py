"""A corpus of many documents keeps them in one file, and behaves like a small one."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core.errors import CorpusDamaged, CorpusNotFound, InvalidConfig, StorageFailed
from leanrag_core.messages.message import message
from leanrag_core.storage import corpora
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.scope import DocumentData


@pytest.fixture(autouse=True)
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "FILES", 3)


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    return CorpusStore(tmp_path / "corpora")


def document(number: int, text: str = "") -> Document:
    text = text or f"Note {number} tells of the Mill."
    return Document(f"doc-{number:03}", f"{number:03}.txt", f"Note {number}", "text", text, language="en")


def files_of(store: CorpusStore, corpus: str) -> list[str]:
    return sorted(path.name for path in (store.root / corpus).iterdir())


def names(store: CorpusStore, corpus: str, wanted: str = "") -> list[str]:
    return [row.name for row in store.documents(corpus, wanted)]


def a_corpus(store: CorpusStore, n: int) -> str:
    corpus = store.create("notes")
    store.add(corpus, map(document, reversed(range(n))))
    return corpus


def test_up_to_so_many_documents_have_a_file_each_and_more_have_one_together(store: CorpusStore) -> None:
    corpus = a_corpus(store, 3)
    assert files_of(store, corpus) == ["corpus.json", "doc-000.json", "doc-001.json", "doc-002.json"]
    added, duplicates = store.add(corpus, [document(3), document(1)])
    assert files_of(store, corpus) == ["corpus.json", "documents.db"]
    assert [row.name for row in added] == ["003.txt"]
    assert duplicates == [Refusal("001.txt", message("file.already_in_corpus", first="001.txt"))]
    assert list(store.each_document(corpus)) == [document(number) for number in range(4)]


def test_a_large_corpus_reads_back_as_it_was_added_after_reopening(store: CorpusStore) -> None:
    corpus = a_corpus(store, 10)
    again = CorpusStore(store.root)
    card = again.summary(corpus)
    assert (card.documents, card.tokens) == (10, sum(row.tokens for row in store.documents(corpus)))
    assert names(again, corpus) == [f"{number:03}.txt" for number in range(10)]
    assert again.document(corpus, "doc-007") == document(7)
    assert again.languages(corpus) == {"en": card.tokens}
    with pytest.raises(CorpusNotFound):
        again.document(corpus, "doc-100")


def test_rows_of_a_page_a_step_and_a_search_are_those_of_the_whole_list(store: CorpusStore) -> None:
    corpus = a_corpus(store, 25)
    rows = store.documents(corpus)
    every = list(rows)
    assert rows[10:13] == every[10:13]
    assert rows[-1] == every[-1]
    assert rows[::7] == every[::7]
    assert rows[20:3:-4] == every[20:3:-4]
    assert names(store, corpus, "NOTE 2") == ["002.txt", *(f"{number:03}.txt" for number in range(20, 25))]
    assert len(store.documents(corpus, "wasp")) == 0
    with pytest.raises(IndexError):
        rows[25]


def test_content_that_is_there_is_refused_under_its_first_name_whenever_it_comes(store: CorpusStore) -> None:
    corpus = a_corpus(store, 5)
    copy = Document("doc-002", "copy.txt", "Copy", "text", document(2).text)
    refusal = Refusal("copy.txt", message("file.already_in_corpus", first="002.txt"))
    assert store.add(corpus, [copy])[1] == [refusal]
    twice = Document("doc-009", "twice.txt", "Twice", "text", document(9).text)
    added, duplicates = store.add(corpus, [document(9), twice])
    assert [row.name for row in added] == ["009.txt"]
    assert duplicates == [Refusal("twice.txt", message("file.already_in_corpus", first="009.txt"))]
    assert store.summary(corpus).documents == 6


def test_a_removed_document_is_gone_and_can_come_back(store: CorpusStore) -> None:
    corpus = a_corpus(store, 5)
    before = store.version(corpus)
    store.remove(corpus, "doc-002")
    store.remove(corpus, "doc-002")
    assert "002.txt" not in names(store, corpus)
    assert store.summary(corpus).documents == 4
    assert store.version(corpus) != before
    store.add(corpus, [document(2)])
    assert store.document(corpus, "doc-002") == document(2)


def test_tags_and_dates_are_set_in_a_large_corpus_and_looked_up(store: CorpusStore) -> None:
    corpus = a_corpus(store, 3)
    store.describe(corpus, ["doc-001"], tags=["mill"])
    store.add(corpus, [document(3), document(4)])
    store.describe(corpus, ["doc-001", "doc-004"], more_tags=["river"], date="1901")
    assert store.data(corpus) == {
        "doc-001": DocumentData(("mill", "river"), "1901"),
        "doc-004": DocumentData(("river",), "1901"),
    }
    with pytest.raises(CorpusNotFound):
        store.describe(corpus, ["doc-100"], date="1901")


def test_a_document_that_takes_another_s_place_is_known_by_the_file_that_gave_it(store: CorpusStore) -> None:
    corpus = a_corpus(store, 5)
    changed = Document("doc-new", "002.txt", "Note 2", "text", "Note 2, with its running head.")
    store.replace(corpus, "doc-002", changed)
    assert store.document(corpus, "doc-new") == changed
    assert store.add(corpus, [document(2)])[1] == [
        Refusal("002.txt", message("file.already_in_corpus", first="002.txt"))
    ]
    with pytest.raises(InvalidConfig):
        store.replace(corpus, "doc-003", changed)
    store.replace(corpus, "doc-new", document(2))
    row = store.row(corpus, "doc-002")
    assert row is not None
    assert row.read_as == ""


def test_a_failure_on_the_way_adds_none_and_leaves_nothing_behind(store: CorpusStore) -> None:
    corpus = a_corpus(store, 3)

    def documents() -> Iterator[Document]:
        yield from map(document, range(3, 20))
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        store.add(corpus, documents())
    assert files_of(store, corpus) == ["corpus.json", "doc-000.json", "doc-001.json", "doc-002.json"]
    assert len(store.documents(corpus)) == 3


def test_a_small_corpus_stays_small_where_its_record_cannot_be_written(
    store: CorpusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = a_corpus(store, 3)
    before = files_of(store, corpus)

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(corpora, "write_record", no_room)
    with pytest.raises(StorageFailed):
        store.add(corpus, map(document, range(3, 6)))
    assert files_of(store, corpus) == before
    assert len(store.documents(corpus)) == 3


def test_documents_that_another_session_adds_meanwhile_stay(store: CorpusStore) -> None:
    corpus = a_corpus(store, 2)

    def documents() -> Iterator[Document]:
        yield document(5)
        CorpusStore(store.root).add(corpus, [document(2), document(5)])  # which stay below the limit
        yield from (document(6), document(7))

    added, duplicates = store.add(corpus, documents())
    assert [row.name for row in added] == ["006.txt", "007.txt"]
    assert [refusal.name for refusal in duplicates] == ["005.txt"]
    assert names(store, corpus) == ["000.txt", "001.txt", "002.txt", "005.txt", "006.txt", "007.txt"]


def test_what_could_not_be_read_is_recorded_beside_a_large_corpus_until_it_can(store: CorpusStore) -> None:
    corpus = store.create("notes")
    refused = [Refusal("009.txt", message("file.empty")), Refusal("scan.pdf", message("file.empty"))]
    store.add(corpus, map(document, range(5)), refused=refused)
    assert store.refused(corpus) == refused
    store.add(corpus, [document(9)])
    assert store.refused(corpus) == refused[1:]


def test_a_large_corpus_is_deleted_whole(store: CorpusStore) -> None:
    corpus = a_corpus(store, 5)
    store.delete(corpus)
    assert store.summaries() == []
    assert not (store.root / corpus).exists()


def test_a_damaged_file_is_named_and_hides_no_other_corpus(store: CorpusStore) -> None:
    corpus, other = a_corpus(store, 5), a_corpus(store, 2)
    (store.root / corpus / "documents.db").write_bytes(b"no database" * 1000)
    with pytest.raises(CorpusDamaged, match=r"documents\.db"):
        CorpusStore(store.root).summary(corpus)
    assert [card.id for card in CorpusStore(store.root).summaries()] == [other]
