"""Entities that mean nearly the same, and the graphs that other systems walk on with these links."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from leanrag_core.transition import normalised

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

IDENTITY = 0.8  # cosine from which FastGraphRAG links two entities as the same: its score, (1 + cosine) / 2, is .9
_NEAREST = 2  # entities that it compares each with


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
        """(n, n) transition matrix over relations and links of near duplicates, all with weight 1 (FastGraphRAG).

        An entity is linked with those of its two nearest that come after it and are not related to it.
        """
        from scipy.sparse import coo_array

        links, related = self.links.tocoo(), self.adjacency.copy()
        related.data = np.ones_like(related.data)
        order = np.lexsort((links.col, -links.data, links.row))
        rows, columns, cosines = links.row[order], links.col[order], links.data[order]
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        kept = (cosines >= IDENTITY) & (place < _NEAREST) & (columns > rows)
        ends = (np.concatenate([rows[kept], columns[kept]]), np.concatenate([columns[kept], rows[kept]]))
        same = coo_array((np.ones(len(ends[0]), dtype=related.data.dtype), ends), shape=related.shape).tocsr()
        same = same - same * related
        return normalised((related + same).tocsr())

    @cached_property
    def over_passages(self) -> "csr_array":
        """(n + m, n + m) transition matrix over relations, links, and mentions of entities in the m chunks, entities
        first (HippoRAG 2)."""
        from scipy.sparse import block_array

        blocks = [[self.adjacency + self.links, self.mentions], [self.mentions.T, None]]
        return normalised(block_array(blocks, format="csr"))

    @cached_property
    def over_passages_released(self) -> "csr_array":
        """over_passages as the release of HippoRAG 2 weighs it: it enters relations and links once in each direction
        into an undirected graph, so that they weigh twice, and a link takes the place of a relation."""
        from scipy.sparse import block_array

        linked = self.links.copy()
        linked.data = np.ones_like(linked.data)
        related = self.adjacency - self.adjacency * linked
        blocks = [[2 * (related + self.links), self.mentions], [self.mentions.T, None]]
        return normalised(block_array(blocks, format="csr"))
