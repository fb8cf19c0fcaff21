"""A corpus that gets documents is marked as such, for everybody and no longer than that lasts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.types.corpus import Document
from tests.storage.test_large_corpora import document


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    return CorpusStore(tmp_path / "corpora")


def test_a_corpus_is_marked_while_its_documents_come(store: CorpusStore) -> None:
    corpus, other = store.create("notes"), store.create("others")
    seen = list[dict[str, bool]]()

    def documents() -> Iterator[Document]:
        for number in range(2):
            another_session = CorpusStore(store.root)
            seen.append({each.id: each.filling for each in another_session.summaries()})
            assert another_session.summary(corpus).filling
            yield document(number)

    store.add(corpus, documents())
    assert seen == [{corpus: True, other: False}] * 2
    assert not store.summary(corpus).filling
    assert sorted(path.name for path in store.root.iterdir()) == sorted([".lock", corpus, other])


def test_the_mark_goes_when_adding_fails(store: CorpusStore) -> None:
    corpus = store.create("notes")

    def documents() -> Iterator[Document]:
        yield document(0)
        raise ValueError("the reader broke")

    with pytest.raises(ValueError, match="broke"):
        store.add(corpus, documents())
    assert not store.summary(corpus).filling


def test_the_mark_of_a_killed_process_says_nothing_and_goes(store: CorpusStore) -> None:
    corpus = store.create("notes")
    mark = store.root / f".adding-{corpus}.0123456789abcdef"
    mark.touch()
    assert not store.summary(corpus).filling
    assert not mark.exists()
