"""A corpus that gets documents is marked as such, for everybody and no longer than that lasts."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core.storage import corpora, corpus_arrivals
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.types.corpus import Document
from tests.storage.test_large_corpora import document


@pytest.fixture(autouse=True)
def counted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_arrivals, "_COUNT_SECONDS", 0.0)


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    return CorpusStore(tmp_path / "corpora")


def test_a_corpus_is_marked_while_its_documents_come(store: CorpusStore) -> None:
    corpus, other = store.create("notes"), store.create("others")
    seen = list[dict[str, int | None]]()

    def documents() -> Iterator[Document]:
        for number in range(2):
            another_session = CorpusStore(store.root)
            seen.append({each.id: each.arriving for each in another_session.summaries()})
            assert another_session.summary(corpus).arriving == number
            yield document(number)

    store.add(corpus, documents())
    assert seen == [{corpus: 0, other: None}, {corpus: 1, other: None}]
    assert store.summary(corpus).arriving is None
    assert sorted(path.name for path in store.root.iterdir()) == sorted([".lock", corpus, other])


def test_the_mark_goes_when_adding_fails(store: CorpusStore) -> None:
    corpus = store.create("notes")

    def documents() -> Iterator[Document]:
        yield document(0)
        raise ValueError("the reader broke")

    with pytest.raises(ValueError, match="broke"):
        store.add(corpus, documents())
    assert store.summary(corpus).arriving is None


def test_the_mark_of_a_killed_process_says_nothing_and_goes(store: CorpusStore) -> None:
    corpus = store.create("notes")
    mark = store.root / f".adding-{corpus}.0123456789abcdef"
    count = store.root / ".count-0123456789abcdef"
    mark.touch()
    count.write_text("7")
    assert store.summary(corpus).arriving is None
    assert not mark.exists()
    assert not count.exists()


@pytest.mark.parametrize("n_documents", [2, 4])
def test_what_a_killed_process_has_read_goes_with_its_mark(
    store: CorpusStore, monkeypatch: pytest.MonkeyPatch, n_documents: int
) -> None:
    monkeypatch.setattr(corpora, "FILES", 3)
    corpus = store.create("notes")
    read = "from leanrag_core.storage import corpora; from tests.storage.test_large_corpora import document; import os"
    killed = f"(document(n) if n < {n_documents} else os._exit(9) for n in range({n_documents + 1}))"
    add = f"corpora.FILES = 3; corpora.CorpusStore(corpora.Path({str(store.root)!r})).add({corpus!r}, {killed})"
    assert subprocess.run([sys.executable, "-c", f"{read}; {add}"], check=False).returncode == 9
    assert len(list((store.root / corpus).iterdir())) > 1
    assert store.summary(corpus).arriving is None
    assert [path.name for path in (store.root / corpus).iterdir()] == ["corpus.json"]
    assert sorted(path.name for path in store.root.iterdir() if not path.name.startswith(".locking-")) == [corpus]


def test_two_that_add_are_counted_together_and_a_half_written_count_as_none(store: CorpusStore) -> None:
    corpus = store.create("notes")
    with corpus_arrivals.marked_as_filling(store.root, corpus, "0" * 16) as first:
        first(5)
        with corpus_arrivals.marked_as_filling(store.root, corpus, "1" * 16) as second:
            second(2)
            assert store.arriving() == {corpus: 7}
            for count in store.root.glob(".count-*"):
                count.write_bytes(b"")
            assert store.arriving() == {corpus: 0}
    assert store.arriving() == {}
