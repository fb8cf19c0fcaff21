import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanrag_core.errors import IndexDamaged, InvalidConfig, SearchIndexFailed
from leanrag_core.indexing.manifest import count_layers
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval import vector_search
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.vector_search import (
    CHUNKS,
    EXACT,
    cosines,
    cosines_of_each,
    nearest,
    nearest_rows,
    rank,
    similarity,
    similarity_to_each,
)
from leanrag_core.storage.layout import CHROMA, read_index, write_index
from leanrag_core.storage.search_connection import SearchIndex, SearchPlace
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.search_writer import write_search_index
from leanrag_core.types.index import Index
from tests.retrieval.tools import TOOLS
from tests.small_index import entity, layer, small_index, unit


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """Return an index of 400 entities under one root, on disk, with a search index."""
    random = np.random.default_rng(3)
    vectors = random.normal(size=(400, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    base = layer(0, [entity(f"e{row}", [row % 4]) for row in range(400)], [], vectors, [0] * 400)
    root = layer(1, [entity("root", [0, 1, 2, 3])], [], unit([[1.0] * 16]), [])
    small = small_index()
    counts = replace(small.manifest.counts, layers=2, entities=(400, 1), relations=(0, 0))
    embedding = replace(small.manifest.embedding, dimension=16)
    rows = count_layers((base, root))
    index = replace(
        small,
        layers=(base, root),
        chunk_vectors=vectors[:4],
        manifest=replace(small.manifest, counts=counts, layers=rows, embedding=embedding),
    )
    directory = tmp_path_factory.mktemp("many")
    write_index(directory, index)
    write_search_index(SearchPlace(directory, directory / CHROMA), index, lambda done, total: None)
    return read_index(directory)


@pytest.fixture(scope="module")
def searches() -> SearchStore:
    return SearchStore()


class Unreachable(SearchStore):
    """A store whose server does not answer."""

    def open(self, directory: Path) -> SearchIndex | None:
        raise SearchIndexFailed("no Chroma server answers at http://127.0.0.1:1: start one")


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3]), max_size=12), st.integers(1, 14))
def test_the_best_rows_come_first_and_ties_go_to_the_lower_row(scores: list[float], n: int) -> None:
    rows, best = rank(np.arange(len(scores)), np.array(scores), n)
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:n]
    assert rows.tolist() == expected
    assert best.tolist() == [scores[row] for row in expected]


def test_exact_and_approximate_search_agree_to_the_last_bit(many: Index, searches: SearchStore) -> None:
    for row in range(0, 400, 40):
        vector = np.array(many.layers[0].vectors[row])
        exact = nearest(many, many.layers[0], vector, 10, "exact")
        close = nearest(many, many.layers[0], vector, 10, "approximate", searches=searches)
        assert exact.rows.tolist() == close.rows.tolist()
        assert exact.scores.tolist() == close.scores.tolist()
        assert (exact.kind, close.kind) == ("exact", "approximate")


def test_a_score_does_not_depend_on_the_other_rows() -> None:
    vectors = np.random.default_rng(0).normal(size=(301, 33)).astype(np.float32)
    assert cosines(vectors, vectors[5])[7] == cosines(vectors[7:8], vectors[5])[0]


def test_a_layer_shared_among_threads_has_the_scores_of_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(0).normal(size=(301, 33)).astype(np.float32)
    alone = cosines(vectors, vectors[5])
    monkeypatch.setattr(vector_search, "_ONE_THREAD_UP_TO", 100)
    assert cosines(vectors, vectors[5]).tolist() == alone.tolist()


def test_auto_is_exact_up_to_the_bound_and_approximate_above(
    many: Index, searches: SearchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    vector = np.array(many.layers[0].vectors[0])
    assert nearest(many, many.layers[0], vector, 5, searches=searches).kind == "exact"
    monkeypatch.setattr(vector_search, "EXACT_UP_TO", 399)
    close = nearest(many, many.layers[0], vector, 5, searches=searches)
    assert (close.kind, close.recall) == ("approximate", 1.0)


def test_above_the_bound_an_index_without_a_search_index_is_searched_exactly(
    searches: SearchStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(vector_search, "EXACT_UP_TO", 2)
    index, vector = small_index(), unit([[1, 0, 0, 0]])[0]
    assert nearest(index, index.layers[0], vector, 3, searches=searches).kind == "exact"
    write_index(tmp_path, index)
    read = read_index(tmp_path)
    assert nearest(read, read.layers[0], vector, 3, searches=searches).kind == "exact"
    for store in (searches, None):
        with pytest.raises(SearchIndexFailed, match="this index has no search index: search exactly, or") as refused:
            nearest(read, read.layers[0], vector, 3, "approximate", searches=store)
        assert refused.value.message.code == "search.none"


def test_a_trace_says_how_its_vectors_were_searched(many: Index, searches: SearchStore) -> None:
    query = Query("what?", np.array(many.layers[0].vectors[9]))
    exact = strategy("leanrag", {"search": "exact"}).retrieve(query, many, replace(TOOLS, searches=searches))
    close = strategy("leanrag", {"search": "approximate"}).retrieve(query, many, replace(TOOLS, searches=searches))
    assert (exact.search, close.search) == ("exact", "approximate")
    assert exact.with_role("seed") == close.with_role("seed")
    assert exact.context == close.context
    note = "The seeds come from the approximate search index, which finds 100.0 % of the ten nearest."
    assert note in map(sentence, close.notes)
    assert note not in map(sentence, exact.notes)


def test_the_ways_to_search_are_named_when_another_is_asked_for() -> None:
    with pytest.raises(InvalidConfig, match="auto, exact, approximate"):
        strategy("leanrag", {"search": "fast"})


def test_more_neighbours_than_entities_are_all_of_them(many: Index, searches: SearchStore) -> None:
    vector = np.array(many.layers[1].vectors[0])
    assert nearest(many, many.layers[1], vector, 10, "approximate", searches=searches).rows.tolist() == [0]
    vector = np.array(many.layers[0].vectors[3])
    assert len(nearest(many, many.layers[0], vector, 500, "approximate", searches=searches).rows) == 400


def test_what_was_measured_is_recorded(many: Index) -> None:
    assert many.path is not None
    stored = json.loads((many.path / CHROMA / "search.json").read_text())
    assert [(row["layer"], row["rows"], row["recall"]) for row in stored["layers"]] == [(0, 400, 1.0), (1, 1, 1.0)]


def test_reading_ahead_opens_the_search_index_of_large_layers_alone(
    many: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert many.path is not None
    searches = SearchStore()
    vector_search.read_ahead(many, searches)
    assert not searches.is_open(many.path)
    monkeypatch.setattr(vector_search, "EXACT_UP_TO", 399)
    vector_search.read_ahead(many, searches)
    assert searches.is_open(many.path)
    monkeypatch.setattr(vector_search, "cosines", lambda vectors, vector: pytest.fail("everything was read"))
    vector_search.read_ahead(replace(many, path=tmp_path), searches)  # without a search index
    assert not searches.is_open(tmp_path)


def test_auto_searches_exactly_where_the_search_index_does_not_answer(
    many: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    vector = np.array(many.layers[0].vectors[7])
    exact = nearest(many, many.layers[0], vector, 5)
    monkeypatch.setattr(vector_search, "EXACT_UP_TO", 399)
    instead = nearest(many, many.layers[0], vector, 5, searches=Unreachable())
    assert (instead.kind, instead.recall) == ("exact", 1.0)
    assert instead.rows.tolist() == exact.rows.tolist()
    assert instead.instead is not None
    assert sentence(instead.instead) == "no Chroma server answers at http://127.0.0.1:1: start one"
    with pytest.raises(SearchIndexFailed, match="no Chroma server answers"):
        nearest(many, many.layers[0], vector, 5, "approximate", searches=Unreachable())
    with pytest.raises(SearchIndexFailed, match="no Chroma server answers"):
        vector_search.read_ahead(many, Unreachable())


def test_a_trace_says_that_the_search_index_did_not_answer(many: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    query = Query("what?", np.array(many.layers[0].vectors[9]))
    exact = strategy("leanrag", {}).retrieve(query, many, TOOLS)
    monkeypatch.setattr(vector_search, "EXACT_UP_TO", 399)
    trace = strategy("leanrag", {}).retrieve(query, many, replace(TOOLS, searches=Unreachable()))
    reason = "The seeds were searched exactly, without the search index: no Chroma server answers at http://127.0.0.1:1"
    assert [sentence(note) for note in trace.notes if note not in exact.notes] == [f"{reason}: start one."]
    assert (trace.search, trace.with_role("seed")) == ("exact", exact.with_role("seed"))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30, -1e30, 0.0, 1.5])
def test_a_vector_that_is_none_is_an_error_that_names_file_and_row(many: Index, bad: float) -> None:
    base, vector = many.layers[0], many.layers[0].vectors[5]
    spoilt = np.array(base.vectors)
    spoilt[5] = spoilt[5] * bad if bad else -1e-20
    index = replace(many, layers=(replace(base, vectors=spoilt), *many.layers[1:]))
    with pytest.raises(IndexDamaged, match=r"vectors-0\.npy holds no vector of length 1 in row 5"):
        nearest(index, index.layers[0], vector, 400, EXACT)
    spoilt = np.array(many.chunk_vectors)
    spoilt[2] = spoilt[2] * bad if bad else -1e-20
    with pytest.raises(IndexDamaged, match=r"vectors-chunks\.npy holds no vector of length 1 in row 2"):
        similarity(replace(many, chunk_vectors=spoilt), CHUNKS, spoilt[1], [0, 2])


def test_of_a_large_part_the_lengths_of_chosen_rows_are_checked(many: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_search, "_KEPT_UP_TO", 0)
    base = many.layers[0]
    halved = np.array(base.vectors)
    halved[5] /= 2  # its product with a unit vector may be one of unit vectors
    index = replace(many, layers=(replace(base, vectors=halved), *many.layers[1:]))
    assert len(similarity(index, 0, base.vectors[7])) == 400
    with pytest.raises(IndexDamaged, match=r"vectors-0\.npy holds no vector of length 1 in row 5"):
        similarity(index, 0, base.vectors[7], [4, 5])
    with pytest.raises(IndexDamaged, match=r"vectors-0\.npy holds no vector of length 1 in row 5"):
        nearest(index, index.layers[0], base.vectors[5], 400, EXACT)


def test_cosines_of_a_small_part_are_kept_for_the_next_question_of_the_vector(
    many: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_search, "_KEPT_UP_TO", 0)
    many, vectors = replace(many), np.asarray(many.layers[0].vectors)
    plain = [similarity(many, 0, vector) for vector in vectors[:3]]
    monkeypatch.setattr(vector_search, "_KEPT_UP_TO", len(vectors))
    calls: list[int] = []
    counted = vector_search.cosines
    monkeypatch.setattr(vector_search, "cosines", lambda *given: calls.append(1) or counted(*given))
    for _ in range(2):
        for vector, scores in zip(vectors[:3], plain, strict=True):
            kept = similarity(many, 0, vector)
            assert np.array_equal(kept, scores)
            assert not kept.flags.writeable
            assert np.array_equal(similarity(many, 0, vector, [5, 2]), scores[[5, 2]])
    assert len(calls) == 3
    assert len(similarity(many, 0, vectors[0], [])) == 0


def test_cosines_to_several_queries_are_those_to_each() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((2500, 24)).astype(np.float32)  # more rows than are held in the cache at a time
    queries = random.standard_normal((3, 24)).astype(np.float32)
    together = cosines_of_each(vectors, queries)
    assert np.array_equal(together, [cosines(vectors, query) for query in queries])
    assert cosines_of_each(vectors[:0], queries).shape == (3, 0)


def test_a_row_at_the_least_cosine_is_near_enough() -> None:
    vectors = np.array([[0, 1], [1, 0], [0.6, 0.8]], dtype=np.float32)
    assert nearest_rows(vectors, vectors[1], 3, at_least=0.0).rows.tolist() == [1, 2, 0]
    assert nearest_rows(vectors, vectors[1], 3, at_least=0.1).rows.tolist() == [1, 2]


def test_rows_are_looked_at_among_others_alone_whether_they_are_few_or_most() -> None:
    random = np.random.default_rng(8)
    vectors = unit(random.normal(size=(60, 8)))
    for among in (np.array([3, 17, 40]), np.arange(5, 60)):
        near = nearest_rows(vectors, vectors[17], 2, among=among)
        rows, scores = rank(among, cosines(vectors[among], vectors[17]), 2)
        assert (near.rows.tolist(), near.scores.tobytes()) == (rows.tolist(), scores.tobytes())


def test_chunks_are_as_near_to_several_vectors_at_once_as_to_each_alone() -> None:
    vectors = unit(np.random.default_rng(9).normal(size=(1500, 4)))
    index = replace(small_index(), chunk_vectors=vectors)
    queries = vectors[[7, 800, 1400]]
    each = similarity_to_each(index, CHUNKS, queries)
    assert [scores.tobytes() for scores in each] == [similarity(index, CHUNKS, query).tobytes() for query in queries]
    with pytest.raises(IndexDamaged):
        similarity_to_each(replace(index, chunk_vectors=2 * vectors), CHUNKS, queries)
