"""Synonym links: pairs of entities whose names nearly agree.

Source: HippoRAG (Gutierrez et al. 2024), section 2.3, synonymy edges between phrases with a cosine of .8 or more.
What is embedded is the name alone: descriptions make entities of one topic alike that are no synonyms.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.messages.message import message
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Range
from leanrag_core.types.graph import symmetric
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS, ENTITIES, RELATIONS, VECTORS
from leanrag_core.types.walks import EntityLinks

_PAIRS_AT_ONCE = 8192  # whose vectors are read
_PAIRS, _COSINES = "pairs.npy", "cosines.npy"
_DECIMALS = 5  # of a cosine; the next ones are not the same on every processor


@dataclass(frozen=True)
class Config(Options):
    """Which pairs are linked."""

    cosine: float = option(0.8, low=0.5, high=1.0, paper=0.8, help=message("part.synonyms.option.cosine"))
    neighbours: int = option(100, low=1, high=512, help=message("part.synonyms.option.neighbours"))


def cosines_of_pairs(vectors: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the cosine of each pair of rows, (p,) float32, block by block: 100,000 entities have millions of pairs,
    whose vectors would take tens of gigabytes. vectors: (n, d). ends: (p, 2) int rows."""
    cosines = np.empty(len(ends), dtype=np.float32)
    for start in range(0, len(ends), _PAIRS_AT_ONCE):
        block = slice(start, start + _PAIRS_AT_ONCE)
        # In numpy's own fixed order: BLAS adds up in another one on another processor.
        cosines[block] = np.einsum("ij,ij->i", vectors[ends[block, 0]], vectors[ends[block, 1]])
    return cosines


class Part(PartBase):
    """Pairs (p, 2) of rows of base entities, ascending, and their cosines (p,), on the built-in model's scale."""

    name = "synonyms"
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, CHUNKS, VECTORS)
    version = 2
    seconds_an_entity = Range(0.0005, 0.003, 0.02)  # to embed its name

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the pairs; the neighbours of a name are searched exactly up to 8,192 entities, then nearly so."""
        base = index.layers[0]
        n = len(base)
        tools.report(Progress("make", 0, n, "entities"))
        vectors = tools.embed_all(base.entities["name"].to_pylist(), base.vectors.shape[1])
        k = min(config.neighbours, n - 1)
        pairs, cosines = np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.float32)
        if k > 0:
            neighbours = nearest_neighbours(vectors, k)
            ends = np.stack([np.repeat(np.arange(n, dtype=np.int32), k), neighbours.ravel()], axis=1)
            keys = np.unique(ends.min(axis=1).astype(np.int64) * n + ends.max(axis=1))
            ends = np.stack([keys // n, keys % n], axis=1).astype(np.int32)
            near = index.passage_scale.plain(cosines_of_pairs(vectors, ends).round(_DECIMALS))
            pairs, cosines = ends[near >= config.cosine], near[near >= config.cosine]
        np.save(folder / _PAIRS, pairs)
        np.save(folder / _COSINES, cosines)
        tools.report(Progress("make", n, n, "entities"))

    def read(self, folder: Path, index: Index) -> EntityLinks:
        """Return the links beside the index's own graph. Raises PartDamaged."""
        base = index.layers[0]
        pairs, cosines = (np.load(folder / name, allow_pickle=False) for name in (_PAIRS, _COSINES))
        if pairs.shape != (len(cosines), 2) or (pairs.size and not 0 <= pairs.min() <= pairs.max() < len(base)):
            raise PartDamaged("part.synonyms.outside", folder=str(folder))
        stated = np.maximum(1.0, np.asarray(index.relation_chunks.sum(axis=1)).ravel())
        return EntityLinks(
            symmetric(pairs, cosines, len(base)), symmetric(base.ends, stated, len(base)), index.entity_chunks
        )
