"""Search indexes in files: written, measured, asked, replaced and closed."""

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import InvalidVectors, SearchIndexFailed
from leanrag_core.storage.layout import CHROMA, read_index, write_index
from leanrag_core.storage.search_connection import Connection, SearchPlace, connect_to_files, layer_searches
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.search_writer import measured_search, write_search_index, write_search_index_apart
from leanrag_core.types.index import Index
from tests.small_index import small_index
from tests.storage.searching import nearest_row, place_of, silent

pytestmark = pytest.mark.slow


def test_every_layer_is_searchable_by_row(searches: SearchStore, searchable: Index) -> None:
    assert nearest_row(searches, searchable, [0, 0, 0, 1]) == 5
    assert nearest_row(searches, searchable, [0, 0, 0.9, 1], layer=1) == 1
    assert nearest_row(searches, searchable, [1, 0, 0, 0], layer=2) == 0


def test_progress_counts_the_rows_of_all_layers(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    write_index(tmp_path, small_index())
    write_search_index(place_of(tmp_path), small_index(), lambda done, total: seen.append((done, total)))
    assert seen == [(6, 9), (8, 9), (9, 9)]


def test_recall_is_measured_for_every_layer(searches: SearchStore, searchable: Index) -> None:
    assert searchable.path is not None
    assert [
        (of_layer.layer, of_layer.rows, of_layer.recall) for of_layer in layer_searches(searchable.path / CHROMA)
    ] == [
        (0, 6, 1.0),
        (1, 2, 1.0),
        (2, 1, 1.0),
    ]


def test_candidates_are_raised_until_the_recall_holds() -> None:
    vectors = np.random.default_rng(1).normal(size=(2000, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    class Poor:
        """Names the true neighbours only when asked for 512 or more, else the last rows."""

        def query(self, *, query_embeddings: list[np.ndarray], n_results: int, include: list[str]) -> dict[str, object]:
            order = np.argsort(-(np.array(query_embeddings) @ vectors.T), axis=1)
            rows = order[:, :n_results] if n_results >= 512 else order[:, -n_results:]
            return {"ids": [[str(row) for row in of_query] for of_query in rows]}

    layer = replace(small_index().layers[0], vectors=vectors)
    measured = measured_search(layer, Poor())
    assert (measured.candidates, measured.recall) == (512, 1.0)


def turned(index: Index) -> Index:
    """Return the index with the vectors of its base layer in reverse order."""
    vectors = np.array(index.layers[0].vectors)[::-1].copy()
    return replace(index, layers=(replace(index.layers[0], vectors=vectors), *index.layers[1:]))


def stored_vectors(searches: SearchStore, directory: Path) -> list[list[float]]:
    searcher = searches.open(directory)
    assert searcher is not None
    return searcher.stored(0, 6).round(4).tolist()


def test_writing_again_takes_the_place_of_what_was_searchable(searches: SearchStore, searchable: Index) -> None:
    assert searchable.path is not None
    before = stored_vectors(searches, searchable.path)  # the files are open now
    searches.close(searchable.path)
    write_search_index(place_of(searchable.path), turned(searchable), silent)
    assert stored_vectors(searches, searchable.path) == before[::-1]


def test_one_that_another_process_replaced_is_opened_again(searches: SearchStore, searchable: Index) -> None:
    assert searchable.path is not None
    before = stored_vectors(searches, searchable.path)  # the files are open now
    beside = searchable.path / "beside"
    write_search_index(SearchPlace(searchable.path, beside), turned(searchable), silent)
    shutil.rmtree(searchable.path / CHROMA)
    beside.rename(searchable.path / CHROMA)
    assert stored_vectors(searches, searchable.path) == before[::-1]


def test_a_process_apart_writes_the_same_search_index(searches: SearchStore, tmp_path: Path) -> None:
    counted: list[tuple[int, int]] = []
    write_index(tmp_path, small_index())
    write_search_index_apart(place_of(tmp_path), lambda done, total: counted.append((done, total)), recall=0.99)
    assert (tmp_path / CHROMA / "chroma.sqlite3").is_file()
    assert counted == [(6, 9), (8, 9), (9, 9)]
    assert nearest_row(searches, read_index(tmp_path), [0, 0, 0, 1]) == 5


def test_without_its_files_there_is_none(searches: SearchStore, tmp_path: Path) -> None:
    write_index(tmp_path, small_index())
    assert searches.open(tmp_path) is None


def test_one_of_format_1_names_entities_by_their_ids(searches: SearchStore, tmp_path: Path) -> None:
    index = small_index()
    write_index(tmp_path, index)
    connection = connect_to_files(place_of(tmp_path))
    collection = connection.client.create_collection(
        "entities-0", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    collection.upsert(ids=index.layers[0].entities["id"].to_pylist(), embeddings=index.layers[0].vectors)
    connection.client.close()
    assert nearest_row(searches, read_index(tmp_path), [0, 0, 0, 1]) == 5


def test_vectors_that_are_not_of_length_one_are_refused(tmp_path: Path) -> None:
    index = small_index()
    for bad in (np.nan, 0.0, 2.0):
        vectors = np.array(index.layers[0].vectors)
        vectors[3] *= bad
        layers = (replace(index.layers[0], vectors=vectors), *index.layers[1:])
        with pytest.raises(InvalidVectors, match="first: row 3"):
            write_search_index(place_of(tmp_path), replace(index, layers=layers), silent)


def test_another_place_can_be_connected_to(searches: SearchStore, tmp_path: Path, searchable: Index) -> None:
    import chromadb

    server, asked = chromadb.EphemeralClient(), []

    def connect(place: SearchPlace) -> Connection:
        asked.append(place)
        return Connection(server, prefix="index-small-", own=False)

    write_search_index(place_of(tmp_path), small_index(), silent, connect=connect)
    write_search_index(
        place_of(tmp_path), small_index(), silent, connect=connect
    )  # a server keeps what was written before
    assert sorted(collection.name for collection in server.list_collections()) == [
        f"index-small-entities-{n}" for n in range(3)
    ]
    assert not (tmp_path / CHROMA / "chroma.sqlite3").exists()
    searches.connect_with(connect)
    assert nearest_row(searches, searchable, [0, 0, 0, 1]) == 5
    assert len(asked) == 3


def test_one_on_a_server_is_not_looked_for_in_files(searches: SearchStore, tmp_path: Path) -> None:
    import chromadb

    server = chromadb.EphemeralClient()
    write_index(tmp_path, small_index())

    def connect(place: SearchPlace) -> Connection:
        return Connection(server, prefix="elsewhere-", own=False)

    write_search_index(place_of(tmp_path), small_index(), silent, connect=connect)
    with pytest.raises(SearchIndexFailed, match=r"is on a Chroma server, .* name the server on Settings"):
        searches.open(tmp_path)
    assert [path.name for path in (tmp_path / CHROMA).iterdir()] == ["search.json"]  # no files were made in its place
    searches.connect_with(connect)
    assert nearest_row(searches, read_index(tmp_path), [0, 0, 0, 1]) == 5


class Scripted:
    """A Chroma client and its one collection; each query waits for `told`."""

    def __init__(self) -> None:
        self.asked, self.told, self.closed = threading.Event(), threading.Event(), threading.Event()

    def get_collection(self, name: str, embedding_function: None) -> "Scripted":
        return self

    def query(self, **options: object) -> dict[str, object]:
        self.asked.set()
        assert self.told.wait(60)
        assert not self.closed.is_set()
        return {"ids": [["5"]]}

    def close(self) -> None:
        self.closed.set()


def test_files_are_closed_when_the_last_question_to_them_is_answered(searches: SearchStore, searchable: Index) -> None:
    client, rows = Scripted(), []
    searches.connect_with(lambda place: Connection(client))
    asking = threading.Thread(target=lambda: rows.append(nearest_row(searches, searchable, [0, 0, 0, 1])))
    asking.start()
    assert client.asked.wait(60)
    searches.connect_with(connect_to_files)
    assert not client.closed.is_set()
    client.told.set()
    asking.join(60)
    assert rows == [5]
    assert client.closed.wait(60)


def test_the_same_way_to_connect_closes_nothing(searches: SearchStore, searchable: Index) -> None:
    client = Scripted()
    client.told.set()

    def connect(place: SearchPlace) -> Connection:
        return Connection(client)

    searches.connect_with(connect)
    assert nearest_row(searches, searchable, [0, 0, 0, 1]) == 5
    searches.connect_with(connect)
    assert not client.closed.is_set()
    searches.connect_with(connect_to_files)
    assert client.closed.is_set()


def test_connecting_to_one_index_lets_questions_of_others_through(
    searches: SearchStore, searchable: Index, tmp_path: Path
) -> None:
    assert searchable.path is not None
    slow, fast = tmp_path / "slow", tmp_path / "fast"
    for copy in (slow, fast):
        shutil.copytree(searchable.path, copy, ignore=shutil.ignore_patterns("slow", "fast"))
    begun, go_on, client = threading.Event(), threading.Event(), Scripted()
    client.told.set()

    def connect(place: SearchPlace) -> Connection:
        if place.index == slow:
            begun.set()
            assert go_on.wait(60)
        return Connection(client, own=False)

    searches.connect_with(connect)
    opened: list[object] = []
    waiting = threading.Thread(target=lambda: opened.append(searches.open(slow)))
    waiting.start()
    assert begun.wait(60)
    assert nearest_row(searches, read_index(fast), [0, 0, 0, 1]) == 5  # while the other one is still being connected to
    assert opened == []
    go_on.set()
    waiting.join(60)
    assert opened == [searches.open(slow)]


def test_a_server_that_falls_silent_fails_and_is_connected_to_anew(
    searchable: Index,
) -> None:
    searches = SearchStore(answer_seconds=0.2)
    clients = [Scripted(), Scripted()]
    hanging, answering = clients
    answering.told.set()
    searches.connect_with(lambda place: Connection(clients.pop(0), own=False))
    with pytest.raises(SearchIndexFailed, match="took a question and did not answer: search exactly"):
        nearest_row(searches, searchable, [0, 0, 0, 1])
    assert nearest_row(searches, searchable, [0, 0, 0, 1]) == 5
    hanging.told.set()
