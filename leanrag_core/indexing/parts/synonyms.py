"""Synonym links: pairs of entities whose vectors nearly agree.

Source: HippoRAG (Gutierrez et al. 2024), section 2.3, synonymy edges between phrases with a cosine of .8 or more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.part_base import PartModels, PartTools, every_file, fingerprint_of
from leanrag_core.messages.message import message
from leanrag_core.types.config import option, validate
from leanrag_core.types.entity_links import EntityLinks
from leanrag_core.types.forecast import Forecast, Range
from leanrag_core.types.index import Index
from leanrag_core.types.part import CHUNKS, ENTITIES, RELATIONS, VECTORS
from leanrag_core.types.progress import Progress

_VERSION = 1
_PAIRS, _COSINES = "pairs.npy", "cosines.npy"
_SECONDS_AN_ENTITY = Range(0.00005, 0.0002, 0.001)


@dataclass(frozen=True)
class Config:
    """Which pairs are linked."""

    cosine: float = option(0.8, low=0.5, high=1.0, paper=0.8, help=message("part.synonyms.option.cosine"))
    neighbours: int = option(32, low=1, high=512, help=message("part.synonyms.option.neighbours"))

    def __post_init__(self) -> None:
        validate(self)


class Part:
    """Pairs (p, 2) of rows of base entities, ascending, and their cosines (p,)."""

    name = "synonyms"
    title = message("part.synonyms.title")
    help = message("part.synonyms.help")
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, CHUNKS, VECTORS)

    def offered(self, index: Index) -> bool:
        """No: it is made when a person asks for it."""
        return False

    def fingerprint(self, index: Index, config: Config, models: PartModels) -> str:
        """Of the graph, its vectors and the options."""
        return fingerprint_of(self, _VERSION, index, config, models)

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Seconds by the number of entities; no model is called."""
        seconds = Range(0.05, 0.3, 1.0) + _SECONDS_AN_ENTITY.scaled(len(index.layers[0]))
        return Forecast(chunks=0, sampled=0, entities=Range(), stages=(), seconds=seconds)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Writes the pairs; the neighbours of an entity are searched exactly up to 8,192 entities, then nearly so."""
        n = len(index.layers[0])
        tools.report(Progress("make", 0, n, "entities"))
        vectors = np.asarray(index.layers[0].vectors)
        k = min(config.neighbours, n - 1)
        pairs, cosines = np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.float32)
        if k > 0:
            neighbours = nearest_neighbours(vectors, k)
            ends = np.stack([np.repeat(np.arange(n, dtype=np.int32), k), neighbours.ravel()], axis=1)
            ends = np.unique(np.sort(ends, axis=1), axis=0)
            near = np.vecdot(vectors[ends[:, 0]], vectors[ends[:, 1]])
            pairs, cosines = ends[near >= config.cosine], near[near >= config.cosine]
        np.save(folder / _PAIRS, pairs)
        np.save(folder / _COSINES, cosines)
        tools.report(Progress("make", n, n, "entities"))

    def lasting_files(self, folder: Path) -> Iterable[str]:
        """All: nothing changes them."""
        return every_file(folder)

    def read(self, folder: Path, index: Index) -> EntityLinks:
        """The links beside the index's own graph. Raises PartDamaged."""
        from scipy.sparse import coo_array

        n = len(index.layers[0])
        pairs, cosines = (np.load(folder / name, allow_pickle=False) for name in (_PAIRS, _COSINES))
        if pairs.shape != (len(cosines), 2) or (pairs.size and not 0 <= pairs.min() <= pairs.max() < n):
            raise PartDamaged("part.synonyms.outside", folder=str(folder))
        rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
        links = coo_array((np.concatenate([cosines, cosines]), (rows, columns)), shape=(n, n)).tocsr()
        return EntityLinks(links, index.layers[0].adjacency, index.entity_chunks)
