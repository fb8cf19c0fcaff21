"""Entities joined by the sentences that hold them both, as E2GraphRAG has them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from leanrag_core.types.rows import numbers

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

PAIR_SCHEMA = pa.schema([("source", pa.int32()), ("target", pa.int32()), ("sentences", pa.int32())])  # source < target
OCCURRENCE_SCHEMA = pa.schema([("entity", pa.int32()), ("chunk", pa.int32()), ("sentences", pa.int32())])


@dataclass(frozen=True, eq=False)
class NounGraph:
    """pairs: of PAIR_SCHEMA, entities that share sentences, and how many. occurrences: of OCCURRENCE_SCHEMA, in how
    many sentences of a chunk an entity occurs, 1 where the chunk names it in other words. size: entities and chunks."""

    pairs: pa.Table
    occurrences: pa.Table
    size: tuple[int, int]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NounGraph)
            and self.size == other.size
            and self.pairs.equals(other.pairs)
            and self.occurrences.equals(other.occurrences)
        )

    @cached_property
    def adjacency(self) -> "csr_array":
        """(n_entities, n_entities) float32, symmetric: sentences that hold both."""
        from scipy.sparse import coo_array

        source, target, weight = (numbers(self.pairs[name]) for name in PAIR_SCHEMA.names)
        ends = np.concatenate([source, target]), np.concatenate([target, source])
        both = np.concatenate([weight, weight]).astype(np.float32)
        return coo_array((both, ends), shape=(self.size[0], self.size[0])).tocsr()

    @cached_property
    def counts(self) -> "csr_array":
        """(n_entities, n_chunks) float32: sentences of the chunk that hold the entity."""
        from scipy.sparse import coo_array

        entity, chunk, count = (numbers(self.occurrences[name]) for name in OCCURRENCE_SCHEMA.names)
        return coo_array((count.astype(np.float32), (entity, chunk)), shape=self.size).tocsr()
