"""Entities whose names mean nearly the same, and the graphs that other systems walk on with these links."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def normalised(weights: "csr_array") -> "csr_array":
    """Return the transition matrix of a graph: weights of the edges j -> i in [i, j], each column divided by its
    sum.

    weights: (n, n), not negative; entry [i, j] is the weight from j to i. Columns without an edge stay empty.
    """
    from scipy.sparse import diags_array

    sums = np.asarray(weights.sum(axis=0)).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
    return (weights @ diags_array(inverse)).tocsr()


@dataclass(frozen=True, eq=False)
class EntityLinks:
    """links: (n, n) float32, symmetric, the cosine of each linked pair. statements: (n, n), symmetric, in how many
    chunks a relation between the two is stated; each counts as one triple. mentions: see Index.entity_chunks. The
    transition matrices are made once for all questions."""

    links: "csr_array"
    statements: "csr_array"
    mentions: "csr_array"

    @cached_property
    def over_entities(self) -> "csr_array":
        """(n, n) transition matrix over relations and links (HippoRAG 1)."""
        return normalised((self.statements + self.links).tocsr())

    @cached_property
    def over_passages(self) -> "csr_array":
        """(n + m, n + m) transition matrix over relations, links, and mentions of entities in the m chunks, entities
        first (HippoRAG 2)."""
        from scipy.sparse import block_array

        blocks = [[self.statements + self.links, self.mentions], [self.mentions.T, None]]
        return normalised(block_array(blocks, format="csr"))

    @cached_property
    def over_passages_released(self) -> "csr_array":
        """over_passages as the release of HippoRAG 2 weighs it: it enters relations and links once in each direction
        into an undirected graph, so that they weigh twice, and a link takes the place of a relation."""
        from scipy.sparse import block_array

        linked = self.links.copy()
        linked.data = np.ones_like(linked.data)
        related = self.statements - self.statements * linked
        blocks = [[2 * (related + self.links), self.mentions], [self.mentions.T, None]]
        return normalised(block_array(blocks, format="csr"))
