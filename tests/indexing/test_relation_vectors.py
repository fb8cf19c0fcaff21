"""Vectors of relations: each different text is embedded once, whatever the order and the number of equal ones."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.part_base import PartTools, parts
from leanrag_core.indexing.parts.relation_vectors import relation_texts
from leanrag_core.types.index import Index


def of_letters(text: str) -> list[float]:
    return [text.count(letter) + 1.0 for letter in "aeio"]


def embedded(texts: Sequence[str]) -> np.ndarray:
    rows = np.array([of_letters(text) for text in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_equal_texts_are_embedded_once_and_every_relation_has_its_vector(index: Index, tmp_path: Path) -> None:
    base = index.layers[0]
    twice = base.relations.take(pa.array([4, 0, 1, 2, 3, 0, 4]))
    index = replace(index, layers=(replace(base, relations=twice), *index.layers[1:]))
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return embedded(texts)

    info = parts().named("relation_vectors")
    info.part.build(index, tmp_path, info.config(), PartTools(embed))
    assert len(asked) == len(set(asked)) == 5
    assert [len(text) for text in asked] == sorted(len(text) for text in asked)
    vectors = np.load(tmp_path / "vectors.npy")
    assert vectors.dtype == np.float32
    assert vectors.tolist() == embedded(relation_texts(index)).tolist()
