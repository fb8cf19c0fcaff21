from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.indexing.stages.kept import KeptVectors
from leanrag_core.storage.stages import StageStore

TABLE = {"ant": [1.0, -0.0, np.float32(1e-41)], "bee": [0.0, 1.0, 0.0], "cow": [0.1, 0.2, 0.3]}


class Embedding:
    """Looks texts up, and counts which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        return np.array([TABLE[text] for text in texts], dtype=np.float32)


def vectors(store: StageStore, embed: Embedding, lists: Iterable[list[str]], model: str = "m") -> list[Any]:
    return list(KeptVectors(map, store, model=model, dimension=3)(embed, lists))


def test_a_text_is_embedded_once_whatever_texts_come_with_it(tmp_path: Path) -> None:
    store, first, second = StageStore(tmp_path), Embedding(), Embedding()
    computed = vectors(store, first, [["ant", "bee"]])
    taken = vectors(store, second, [["cow"], ["bee", "ant", "cow"]])
    assert first.asked == ["ant", "bee"]
    assert second.asked == ["cow"]
    assert taken[1].tobytes() == np.concatenate([computed[0][[1, 0]], taken[0]]).tobytes(), "equal in every bit"


def test_another_model_takes_nothing_from_the_first(tmp_path: Path) -> None:
    store, second = StageStore(tmp_path), Embedding()
    vectors(store, Embedding(), [["ant"]])
    vectors(store, second, [["ant"]], model="m2")
    assert second.asked == ["ant"]


def test_a_vector_of_another_length_is_computed_again(tmp_path: Path) -> None:
    store, embed = StageStore(tmp_path), Embedding()
    kept = KeptVectors(map, store, model="m", dimension=3)
    store.put("embeddings", kept._key("ant"), b"\0" * 8)
    [rows] = kept(embed, [["ant"]])
    assert rows.tobytes() == np.array([TABLE["ant"]], dtype=np.float32).tobytes()
