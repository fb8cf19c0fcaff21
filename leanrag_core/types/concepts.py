"""Communities of a graph of concepts, with the chunks that their concepts occur in, as the index part holds them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from leanrag_core.types.rows import Lists, numbers

CONCEPT_COMMUNITY_SCHEMA = pa.schema(
    [
        ("level", pa.int32()),  # 0 for the roots
        ("parent", pa.int32()),  # row in this table, -1 for a root
        ("concepts", pa.list_(pa.int32())),  # rows of base entities, ascending
        ("chunks", pa.list_(pa.int32())),  # that one of them occurs in, ascending
    ]
)


@dataclass(frozen=True, eq=False)
class ConceptCommunities:
    """table: of CONCEPT_COMMUNITY_SCHEMA, m rows by level. Chunks without a concept that is in a community are in a
    last one, a root without concepts, so that each chunk is in one at least. size: entities and chunks of the index."""

    table: pa.Table
    size: tuple[int, int]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConceptCommunities) and self.size == other.size and self.table.equals(other.table)

    @cached_property
    def level(self) -> np.ndarray:
        """The level of each community, (m,) int32."""
        return numbers(self.table["level"])

    @cached_property
    def parent(self) -> np.ndarray:
        """The row of each community's parent, -1 for a root; (m,) int32."""
        return numbers(self.table["parent"])

    @cached_property
    def concepts(self) -> Lists:
        """The concepts of each community."""
        return Lists(self.table["concepts"])

    @cached_property
    def chunks(self) -> Lists:
        """The chunks of each community."""
        return Lists(self.table["chunks"])

    @cached_property
    def finest(self) -> np.ndarray:
        """The smallest community of each entity, -1 for one that is in none; (n_entities,) int32."""
        finest = np.full(self.size[0], -1, dtype=np.int32)
        sizes = np.diff(self.concepts.offsets)
        rows = np.repeat(np.arange(len(self), dtype=np.int32), sizes)
        # A community stands behind the one that it is a part of, and of several values the largest stays.
        np.maximum.at(finest, self.concepts.values[self.concepts.offsets[0] : self.concepts.offsets[-1]], rows)
        return finest
