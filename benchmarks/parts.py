"""Making a part of a synthetic index, which needs no model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part
from leanrag_core.storage.layout import read_index
from leanrag_core.types.manifest import PartRecord


def _no_model(texts: Sequence[str]) -> np.ndarray:
    raise RuntimeError("a synthetic index has no embedding model")


def make_search_index(directory: Path) -> PartRecord:
    """The index in the directory has a search index; returns its record."""
    info = parts().named("chroma")
    return build_part(read_index(directory), info, info.config(), PartModels(), PartTools(_no_model))


def make_offered(directory: Path) -> None:
    """The index in the directory has the search index that a build of its size makes."""
    if parts().named("chroma").part.offered(read_index(directory)):
        make_search_index(directory)
