"""Vectors of names: a row for each entity, of its name alone."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import IndexDamaged
from leanrag_core.indexing.part_base import PartTools, parts
from leanrag_core.types.index import Index
from tests.small_index import NAMES, unit


def test_each_entity_has_the_vector_of_its_name_and_another_shape_is_refused(index: Index, tmp_path: Path) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return unit([[len(text), 1, 0, 0] for text in texts])

    info = parts().named("name_vectors")
    info.part.build(index, tmp_path, info.config(), PartTools(embed))
    assert asked == list(NAMES)
    assert info.part.read(tmp_path, index).tolist() == unit([[len(name), 1, 0, 0] for name in NAMES]).tolist()
    np.save(tmp_path / "vectors.npy", np.ones((2, 4), dtype=np.float32))
    with pytest.raises(IndexDamaged):
        info.part.read(tmp_path, index)
