import hashlib
import sys

import numpy as np
import pytest

from leanrag_core.errors import ModelUnavailable
from leanrag_core.models import minilm, windowed_embedding
from leanrag_core.models.minilm import FLOATS, FloatSession, Int8Session, MiniLM, model_file
from leanrag_core.models.minilm_graph import EARLIER_REVISION
from leanrag_core.models.windowed_embedding import batches

pytestmark = pytest.mark.slow

TEXTS = [
    "Bees dance.",
    "The waggle dance tells foragers where a source of nectar lies.",
    "",
    "Matrix factorisation learns a vector for every user and every item. " * 30,
    "A borrower shall deliver a compliance certificate.",
    "蜂は踊る。",
]
MANY = [f"Hive {row} stands by the {'old ' * (row % 40)}mill and gave {row * 7} jars of honey." for row in range(60)]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM(threads=1)


@pytest.fixture(scope="module")
def together() -> np.ndarray:
    """Return the vectors of all texts, embedded at once by the model as it is."""
    embed = MiniLM.embed.__wrapped__  # type: ignore[attr-defined]
    return np.asarray(embed(MiniLM(threads=1), TEXTS + MANY))


@pytest.fixture(scope="module")
def floats() -> MiniLM:
    return MiniLM(threads=1, form=FLOATS)


def test_the_same_text_gives_the_same_bytes_alone_or_in_any_batch(model: MiniLM, together: np.ndarray) -> None:
    texts = TEXTS + MANY
    turned = model.embed(texts[::-1])[::-1]
    alone = np.concatenate([model.embed([text]) for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(together, turned)


def test_with_floats_a_text_gives_nearly_the_same_vector_alone_or_in_any_batch(floats: MiniLM) -> None:
    alone = np.concatenate([floats.embed([text]) for text in TEXTS])
    assert np.abs(floats.embed(TEXTS) - alone).max() < 1e-6


def test_a_text_gives_the_same_bytes_on_every_processor(together: np.ndarray) -> None:
    digest = hashlib.sha256(together.tobytes()).hexdigest()
    assert digest[:16] == "9cafa5b183fd66e8"  # by AVX2 with fused products, and by SSE4 without them


def test_whole_numbers_stay_near_floats(together: np.ndarray, floats: MiniLM) -> None:
    cosines = (together * floats.embed(TEXTS + MANY)).sum(axis=1)
    assert cosines.min() > 0.995
    assert cosines.mean() > 0.998


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


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_the_bytes(together: np.ndarray, threads: int) -> None:
    assert np.array_equal(together, MiniLM(threads=threads).embed(TEXTS + MANY))


def test_a_batch_shared_by_threads_has_the_same_bytes() -> None:
    batch = MiniLM(threads=1).windows(["One hive.", "Two bees.", "Six jars."]).pieces
    assert np.array_equal(Int8Session(model_file(), threads=2).vectors(batch), Int8Session(model_file()).vectors(batch))


def test_no_texts_give_no_rows(model: MiniLM) -> None:
    assert model.embed([]).shape == (0, 384)


def test_equal_texts_are_embedded_once(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = model.embed(MANY[:3])
    seen: list[int] = []

    class Counting:
        def vectors(self, batch: list[list[int]]) -> np.ndarray:
            seen.append(len(batch))
            return session.vectors(batch)

    session = model._session
    monkeypatch.setitem(model.__dict__, "_session", Counting())
    vectors = model.embed([MANY[0], MANY[1], MANY[0], MANY[2], MANY[1], MANY[0]])
    assert sum(seen) == 3
    assert np.array_equal(vectors, expected[[0, 1, 0, 2, 1, 0]])


def test_batches_hold_rows_of_one_length_within_their_limit_shortest_first() -> None:
    assert batches([5, 2, 9, 2, 4], 10) == [[1, 3], [4], [0], [2]]
    assert batches([3, 3, 3, 3], 9) == [[0, 1, 2], [3]]
    assert batches([40], 10) == [[0]]
    assert batches([]) == []


def test_a_processor_that_cuts_sums_gets_the_same_bytes_on_the_careful_path(
    together: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windowed_embedding, "_sums_are_exact", lambda: False)
    careful = MiniLM(threads=1)
    assert np.array_equal(careful.embed(MANY), together[len(TEXTS) :])


def test_the_forms_have_different_fingerprints_and_those_of_older_indexes_stay(model: MiniLM, floats: MiniLM) -> None:
    assert floats.fingerprint == "all-MiniLM-L6-v2:20a8733fdbd3ac8e"
    assert MiniLM(form=EARLIER_REVISION).fingerprint == "all-MiniLM-L6-v2:5fed82a1cb8a4b57"
    assert model.fingerprint == "all-MiniLM-L6-v2:8a305dc6635032c5"


def test_other_weights_than_the_packages_are_run_as_their_file_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "WEIGHTS", "of another file")
    other = MiniLM(threads=1)
    assert other.form == FLOATS
    assert isinstance(other._session, FloatSession)
    assert other.fingerprint == "all-MiniLM-L6-v2:20a8733fdbd3ac8e"


def test_a_package_that_is_not_installed_is_reported_with_the_command_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModelUnavailable, match=r"onnx.*pip install -r requirements\.txt"):
        MiniLM().embed(["bees"])
