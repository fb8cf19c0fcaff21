"""Links of near duplicates: the graph over which FastGraphRAG walks.

Source: fast-graphrag 0.0.5, `_services/_state_manager.py` (`upsert`): an entity is joined with those of its two nearest
that score .9 or more, come after it, and are not related to it.
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
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import ENTITIES, RELATIONS, VECTORS
from leanrag_core.types.walks import Transition, normalised

_PAIRS = "pairs.npy"
_NEAREST = 2  # entities that each is compared with
_ROWS_AT_ONCE = 4096  # whose neighbours' vectors are read
_LOOKED_AT = 8  # neighbours that are looked at; equally near ones are taken by row
_DECIMALS = 5  # of a cosine; the next ones are not the same on every processor


@dataclass(frozen=True)
class Config(Options):
    """Which pairs are linked. cosine: .8 is a similarity of .9, which the release calls (1 + cosine) / 2."""

    cosine: float = option(0.8, low=0.5, high=1.0, help=message("part.near_duplicates.option.cosine"))


class Part(PartBase):
    """Pairs (p, 2) of rows of base entities, ascending."""

    name = "near_duplicates"
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, VECTORS)
    seconds_an_entity = Range(0.00005, 0.0002, 0.001)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the pairs; the neighbours of an entity are searched exactly up to 8,192 entities, then nearly so."""
        n = len(index.layers[0])
        tools.report(Progress("make", 0, n, "entities"))
        np.save(folder / _PAIRS, near_duplicates(index.layers[0], index.passage_scale.own_of(config.cosine)))
        tools.report(Progress("make", n, n, "entities"))

    def read(self, folder: Path, index: Index) -> Transition:
        """Return the steps, (n, n), over relations and these links, all with weight 1. Raises
        PartDamaged.
        """
        from scipy.sparse import coo_array

        base = index.layers[0]
        pairs = np.load(folder / _PAIRS, allow_pickle=False)
        if pairs.shape != (len(pairs), 2) or (pairs.size and not 0 <= pairs.min() <= pairs.max() < len(base)):
            raise PartDamaged("part.near_duplicates.outside", folder=str(folder))
        ends = np.concatenate([base.ends, base.ends[:, ::-1], pairs, pairs[:, ::-1]])
        joined = coo_array((np.ones(len(ends), dtype=np.float32), ends.T), shape=(len(base), len(base))).tocsr()
        joined.data = np.ones_like(joined.data)
        return Transition(normalised(joined))


def near_duplicates(layer: Layer, cosine: float) -> np.ndarray:
    """Pair each entity with those of its two nearest that are near enough, come later and are not related; (p, 2)
    int32.
    """
    vectors = np.asarray(layer.vectors)
    n = len(vectors)
    if n < 2:
        return np.zeros((0, 2), dtype=np.int32)
    neighbours = nearest_neighbours(vectors, min(_LOOKED_AT, n - 1))
    scores = np.empty(neighbours.shape, dtype=np.float32)
    for start in range(0, n, _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        scores[block] = np.vecdot(vectors[block, None], vectors[neighbours[block]]).round(_DECIMALS)
    nearest = np.lexsort((neighbours, -scores), axis=1)[:, :_NEAREST]
    rows = np.repeat(np.arange(n, dtype=np.int32), nearest.shape[1])
    columns = np.take_along_axis(neighbours, nearest, axis=1).ravel()
    kept = (np.take_along_axis(scores, nearest, axis=1).ravel() >= cosine) & (columns > rows)
    pairs = np.stack([rows[kept], columns[kept]], axis=1)
    related = np.sort(layer.ends, axis=1).astype(np.int64) @ [n, 1]
    return pairs[~np.isin(pairs.astype(np.int64) @ [n, 1], related)]
