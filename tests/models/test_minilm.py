import numpy as np
import pytest

from leanrag_core.models.minilm import MiniLM

TEXTS = [
    "Bees dance.",
    "The waggle dance tells foragers where a source of nectar lies.",
    "",
    "Matrix factorisation learns a vector for every user and every item. " * 30,
    "A borrower shall deliver a compliance certificate.",
    "蜂は踊る。",
]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM(threads=1)


def test_the_same_text_gives_the_same_vector_alone_or_in_any_batch(model: MiniLM) -> None:
    together = model.embed(TEXTS)
    turned = model.embed(TEXTS[::-1])[::-1]
    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-6
    assert np.abs(together - turned).max() < 1e-6


def test_rows_are_unit_vectors_of_the_stated_dimension(model: MiniLM) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.shape == (6, model.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_nearness_follows_meaning(model: MiniLM) -> None:
    bees, mining, law = model.embed(["How do bees talk?", TEXTS[1], TEXTS[4]])
    assert bees @ mining > bees @ law + 0.2


def test_the_end_of_a_long_text_counts(model: MiniLM) -> None:
    start = "Recommender systems learn from ratings. " * 60
    plain, ended, target = model.embed([start, start + "Bees make honey in the hive. " * 60, "Honey bees in a hive"])
    assert ended @ target > plain @ target + 0.2


def test_threads_do_not_change_the_bytes() -> None:
    assert np.array_equal(MiniLM(threads=1).embed(TEXTS), MiniLM(threads=2).embed(TEXTS))


def test_no_texts_give_no_rows(model: MiniLM) -> None:
    assert model.embed([]).shape == (0, 384)
