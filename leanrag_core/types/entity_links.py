"""Entities that mean nearly the same, and the graphs that other systems walk on with these links."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from leanrag_core.transition import normalised

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

IDENTITY = 0.9  # cosine from which FastGraphRAG links two entities as the same


@dataclass(frozen=True, eq=False)
class EntityLinks:
    """links: (n, n) float32, symmetric, the cosine of each linked pair. adjacency, mentions: see Layer.adjacency and
    Index.entity_chunks. The transition matrices are made once for all questions."""

    links: "csr_array"
    adjacency: "csr_array"
    mentions: "csr_array"

    @cached_property
    def over_entities(self) -> "csr_array":
        """(n, n) transition matrix over relations and links (HippoRAG 1)."""
        return normalised((self.adjacency + self.links).tocsr())

    @cached_property
    def over_near_duplicates(self) -> "csr_array":
        """(n, n) transition matrix over relations and links of near duplicates, these with weight 1 (FastGraphRAG)."""
        same = self.links.copy()
        same.data = (same.data >= IDENTITY).astype(same.data.dtype)
        same.eliminate_zeros()
        return normalised((self.adjacency + same).tocsr())

    @cached_property
    def over_passages(self) -> "csr_array":
        """(n + m, n + m) transition matrix over relations, links, and mentions of entities in the m chunks, entities
        first (HippoRAG 2)."""
        from scipy.sparse import block_array

        blocks = [[self.adjacency + self.links, self.mentions], [self.mentions.T, None]]
        return normalised(block_array(blocks, format="csr"))
