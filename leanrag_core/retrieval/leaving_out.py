"""A retrieval without something that a person took out: what would stand in its place is taken instead."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.types.index import Index


def chunks_without(index: Index, ranking: np.ndarray, without: frozenset[str]) -> np.ndarray:
    """The ranked rows of chunks whose ids are not among those."""
    if not without:
        return ranking
    import pyarrow.compute as pc

    gone = pc.is_in(index.chunks["id"], value_set=pa.array(sorted(without), pa.string())).to_numpy()
    return np.asarray(ranking[~gone[ranking]])


def seeds_without(seeds: Sequence[Seed], without: frozenset[str], n: int) -> tuple[Seed, ...]:
    """The n best seeds whose ids are not among those, ranked anew. seeds: more by as many as are left out. Raises
    InvalidConfig when none is left."""
    if not without:
        return tuple(seeds[:n])
    kept = [seed for seed in seeds if seed.id not in without][:n]
    if not kept:
        raise InvalidConfig("without.no_seed")
    return tuple(replace(seed, rank=place) for place, seed in enumerate(kept, start=1))
