"""Coarse cosines against exact ones."""

import gc

import numpy as np
import pytest

from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import cosines, nearest_rows, rank, row_cosines
from leanrag_core.storage import search_store
from leanrag_core.storage.search_store import COARSE_ABOVE, CoarseStore, CoarseVectors, SearchStore


def rows_by_chance(n: int, dimension: int = 24, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).standard_normal((n, dimension)).astype(np.float32)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def _no_texts(texts: object) -> np.ndarray:
    raise AssertionError(f"{texts} would be embedded")


@pytest.fixture
def many() -> np.ndarray:
    vectors = rows_by_chance(COARSE_ABOVE + 50)
    vectors[[400, 20_000]] = vectors[9]  # rows that tie
    vectors[77] = 0
    vectors[77, 3] = 1  # one number alone
    return vectors


def test_no_cosine_is_farther_from_the_exact_one_than_its_margin(many: np.ndarray) -> None:
    queries = np.concatenate([many[[9, 77]], rows_by_chance(3, seed=5)])
    coarse = CoarseVectors(many).cosines(queries)
    exact = np.stack([cosines(many, query) for query in queries])
    assert (np.abs(coarse.values - exact) <= coarse.margins).all()
    assert coarse.margins.max() < 0.013


def test_a_margin_covers_what_the_digits_of_a_question_leave_out() -> None:
    dimension = 384
    query = rows_by_chance(1, dimension)
    left_out = query - CoarseVectors(np.eye(dimension, dtype=np.float32)).cosines(query).values
    along_it = np.sign(left_out) / np.float32(np.sqrt(dimension))  # coded without loss, and the worst of such rows
    for queries in (query, np.concatenate([query, np.eye(dimension, dtype=np.float32)[:1]]), along_it):
        coarse = CoarseVectors(along_it).cosines(queries)
        off = np.abs(coarse.values - queries.astype(np.float64) @ along_it.T.astype(np.float64))
        assert (off <= coarse.margins).all()
        assert coarse.margins.max() < 2e-4


def test_digits_of_a_question_stay_below_128(many: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    digits: list[np.ndarray] = []

    class Session:
        def __init__(self, codes: np.ndarray) -> None:
            self.n_rows = codes.shape[1]

        def run(self, _: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            digits.append(inputs["digits"])
            return [np.zeros((len(inputs["digits"]), self.n_rows), dtype=np.float32)]

    monkeypatch.setattr(search_store, "_session", Session)
    CoarseVectors(many[:3]).cosines(many[:200])
    [of_questions] = digits
    assert 0 < of_questions.min() < 10
    assert 118 < of_questions.max() < 128


def test_vectors_are_coded_in_more_than_one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = rows_by_chance(1000)
    whole = CoarseVectors(vectors).cosines(vectors[:2])
    monkeypatch.setattr(search_store, "_ROWS_A_SESSION", 300)
    monkeypatch.setattr(search_store, "_ROWS_CODED", 70)
    parts = CoarseVectors(vectors).cosines(vectors[:2])
    assert parts.values.tobytes() == whole.values.tobytes()
    assert parts.margins.tobytes() == whole.margins.tobytes()


@pytest.mark.parametrize("k", [1, 3, 40])
def test_the_nearest_of_many_rows_are_the_exact_ones_to_the_last_bit(many: np.ndarray, k: int) -> None:
    tools = Tools(embed=_no_texts, searches=SearchStore())
    some = np.arange(5, len(many), 7)
    for query in (many[9], many[77], rows_by_chance(1, seed=3)[0]):
        exact = cosines(many, query)
        rows, scores = rank(np.arange(len(many)), exact, k)
        near = nearest_rows(many, query, k, tools=tools)
        assert (near.rows.tolist(), near.scores.tobytes()) == (rows.tolist(), scores.tobytes())
        of_some = row_cosines(many, query[None], tools)[0].best(k, some)
        assert of_some.rows.tolist() == rank(some, exact[some], k)[0].tolist()
        assert row_cosines(many, query[None], tools)[0].least() == float(exact.min())


def test_few_rows_have_no_copy_and_of_many_it_is_made_once(many: np.ndarray) -> None:
    store = CoarseStore()
    assert store.of(many[:COARSE_ABOVE]) is None
    assert store.of(many) is store.of(many)
    assert store.of(many) is not store.of(many.copy())


def test_a_copy_goes_with_its_array() -> None:
    store = CoarseStore()
    for seed in range(6):
        store.of(rows_by_chance(COARSE_ABOVE + 1, 4, seed))
    gc.collect()
    kept = rows_by_chance(COARSE_ABOVE + 1, 4)
    store.of(kept)
    assert len(store._kept) == 1
