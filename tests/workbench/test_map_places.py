"""The places of a map are computed once for the same vectors, and kept beside the stages of builds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leanrag_core import Workbench
from leanrag_core.types.index import Index
from leanrag_core.workbench import indexes as service


def test_places_are_kept_and_read_again(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Workbench.default(tmp_path).indexes.map_places(index)

    def never(*arguments: object) -> None:
        raise AssertionError("the places are kept")

    monkeypatch.setattr(service, "embedding_places", never)
    again = Workbench.default(tmp_path).indexes.map_places(index)
    assert again.rows.tolist() == first.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert again.places.tolist() == first.places.tolist()


def test_another_index_has_places_of_its_own(index: Index, tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    bench.indexes.map_places(index)
    turned = replace(index.layers[0], vectors=np.ascontiguousarray(index.layers[0].vectors[::-1]))
    other = replace(index, manifest=replace(index.manifest, id="other"), layers=(turned, *index.layers[1:]))
    assert bench.indexes.map_places(other).places.tolist() != bench.indexes.map_places(index).places.tolist()
