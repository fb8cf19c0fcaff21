"""The operator of a random walk between entities and the passages that mention them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

ARRAYS = ("data", "indices", "indptr")  # of a sparse matrix


@dataclass(frozen=True, eq=False)
class WalkOperator:
    """Probabilities of a step.

    to_chunks: (n_chunks, n_entities) float64, from an entity (column) to each chunk that mentions it alike.
    to_entities: (n_entities, n_chunks), from a chunk to each of its entities alike.
    """

    to_chunks: "csr_array"
    to_entities: "csr_array"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WalkOperator) and all(
            np.array_equal(getattr(own, name), getattr(others, name))
            for own, others in ((self.to_chunks, other.to_chunks), (self.to_entities, other.to_entities))
            for name in ARRAYS
        )


def walk_operator(mentions: "csr_array") -> WalkOperator:
    """Return the walk operator of those mentions. mentions: (n_entities, n_chunks), see Index.entity_chunks."""
    return WalkOperator(_share_of_columns(mentions.T.tocsr()), _share_of_columns(mentions))


def _share_of_columns(matrix: "csr_array") -> "csr_array":
    """Return the matrix (n, m) with the entries of each column replaced by one over their number."""
    from scipy.sparse import csr_array

    ends = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return csr_array((1.0 / ends[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape)
