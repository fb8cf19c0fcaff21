"""Vectors of the names of the base entities, without their descriptions.

Source: MiniRAG (Fan et al. 2025), whose release searches entities by their names alone.
"""

from pathlib import Path

import numpy as np

from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.storage.tables import mapped_vectors
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import ENTITIES, VECTORS

_VECTORS = "vectors.npy"


Config = Options


class Part(PartBase):
    """(n, d) float32 unit rows, a row for each base entity."""

    name = "name_vectors"
    needs: tuple[str, ...] = (ENTITIES, VECTORS)
    seconds_an_entity = Range(0.0005, 0.003, 0.02)  # to embed its name

    def build(self, index: Index, folder: Path, config: Options, tools: PartTools) -> None:
        """Embed each name."""
        base = index.layers[0]
        vectors = tools.embed_all(base.entities["name"].to_pylist(), int(base.vectors.shape[1]))
        np.save(folder / _VECTORS, vectors, allow_pickle=False)

    def read(self, folder: Path, index: Index) -> np.ndarray:
        """Return the vectors of the names, (n, d) float32, mapped from the disk. Raises IndexDamaged for another
        shape.
        """
        base = index.layers[0]
        return mapped_vectors(folder / _VECTORS, len(base), int(base.vectors.shape[1]))
