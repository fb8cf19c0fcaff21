import numpy as np
import pytest

from leanrag_core.models.embed_task import RecentVectors
from leanrag_core.models.minilm import MiniLM
from tests.sharing import errors_at_once

TEXTS = ["The mill grinds barley.", "The harbour freezes in March.", "Bees cluster in winter.", "A tide turns twice."]


class Counting(MiniLM):
    """The built-in model, which notes what it is asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        return super().embed(texts)


class Inexact(Counting):
    @property
    def exact(self) -> bool:
        return False


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return MiniLM().embed(TEXTS)


def test_only_what_is_new_is_embedded_and_every_bit_is_that_of_the_model(expected: np.ndarray) -> None:
    model, recent = Counting(), RecentVectors(10)
    assert (recent.embed(model, TEXTS[:3]) == expected[:3]).all()
    assert (recent.embed(model, [TEXTS[3], TEXTS[0], TEXTS[3]]) == expected[[3, 0, 3]]).all()
    assert model.asked == TEXTS
    assert recent.embed(model, []).shape == (0, model.dimension)


def test_what_was_used_longest_ago_is_dropped(expected: np.ndarray) -> None:
    model, recent = Counting(), RecentVectors(2)
    for text in (TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[2], TEXTS[1]):
        recent.embed(model, [text])
    assert model.asked == [TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[1]]
    assert (recent.embed(model, TEXTS) == expected).all()  # more at once than are kept


def test_a_model_whose_vectors_depend_on_their_company_is_asked_each_time() -> None:
    model, recent = Inexact(), RecentVectors(10)
    for _ in range(2):
        recent.embed(model, TEXTS[:1])
    assert model.asked == [TEXTS[0], TEXTS[0]]


def test_many_threads_get_the_same(expected: np.ndarray) -> None:
    model, recent = MiniLM(), RecentVectors(3)

    def step(n: int) -> None:
        rows = [n % 4, (n + 1) % 4]
        assert (recent.embed(model, [TEXTS[row] for row in rows]) == expected[rows]).all()

    assert errors_at_once(step, threads=4, steps=20) == []
