"""Vectors of the base relations: keywords, names of both ends and description in one text.

Source: LightRAG, section 3.1 (a relation has several keys, among them themes), as its release embeds them.
"""

from pathlib import Path

import numpy as np

from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.storage.tables import mapped_vectors
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import ENTITIES, RELATIONS, VECTORS

_VECTORS = "vectors.npy"
_BATCH = 512  # texts


Config = Options


class Part(PartBase):
    """(r, d) float32 unit rows, a row for each base relation."""

    name = "relation_vectors"
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, VECTORS)
    seconds = Range(0.05, 0.5, 2.0)
    seconds_a_relation = Range(0.001, 0.004, 0.02)

    def build(self, index: Index, folder: Path, config: Options, tools: PartTools) -> None:
        """Embed each different text once; texts of like length go together."""
        texts = relation_texts(index)
        unique = sorted(dict.fromkeys(texts), key=len)  # equally long ones in the relations' order
        place_of = {text: place for place, text in enumerate(unique)}
        of_unique = np.zeros((len(unique), index.layers[0].vectors.shape[1]), dtype=np.float32)
        tools.report(Progress("make", 0, len(unique), "relations"))
        for start in range(0, len(unique), _BATCH):
            some = unique[start : start + _BATCH]
            of_unique[start : start + len(some)] = tools.embed(some)
            tools.report(Progress("make", start + len(some), len(unique), "relations"))
        np.save(folder / _VECTORS, of_unique[[place_of[text] for text in texts]])

    def read(self, folder: Path, index: Index) -> np.ndarray:
        """Return the vectors of the relations, (r, d) float32, mapped from the disk. Raises IndexDamaged for another
        shape.
        """
        base = index.layers[0]
        return mapped_vectors(folder / _VECTORS, base.relations.num_rows, int(base.vectors.shape[1]))


def relation_texts(index: Index) -> list[str]:
    """Return the text of each base relation that is embedded."""
    base = index.layers[0]
    names = base.entities["name"].to_pylist()
    columns = (base.relations["keywords"].to_pylist(), base.relations["description"].to_pylist())
    return [
        "\n".join(filter(None, (", ".join(keywords or ()), f"{names[source]}, {names[target]}", description)))
        for (source, target), keywords, description in zip(base.ends.tolist(), *columns, strict=True)
    ]
