"""Nearest neighbours by distance (by cosine, for unit rows): exact for some thousand vectors, inverted lists above."""

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.clustering.inverted_lists import search_cells
from leanrag_core.clustering.largest import half_squares, largest

_EXACT = 8192  # vectors up to which every pair is looked at
_QUERIES = 512


def nearest_neighbours(vectors: np.ndarray, k: int, *, seed: int = 0, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the k rows nearest to each row, itself left out, nearest first; (n, k) int32, or (len(rows), k) with rows.

    vectors: (n, d) float32, k < n. Exact up to 8,192 vectors; above, a row is compared with the vectors of the k-means
    cells nearest to it. rows: (q,) int; the answer is exact, and for these rows alone.
    """
    n = len(vectors)
    if not 0 < k < n:
        raise ValueError(f"{k} neighbours of {n} vectors do not exist")
    if rows is not None:
        return _exact(vectors, k, rows)
    if n <= _EXACT:
        return _exact(vectors, k, np.arange(n))
    neighbours = search_cells(vectors, k, seed=seed)
    missed = np.flatnonzero(neighbours[:, -1] < 0)
    if len(missed):
        neighbours[missed] = _exact(vectors, k, missed)
    return neighbours


def _exact(vectors: np.ndarray, k: int, rows: np.ndarray) -> np.ndarray:
    """Return the k nearest neighbours of these rows among all vectors, (q, k) int32.

    vectors: (n, d) float32. rows: (q,) int.
    """
    n = len(vectors)
    half = half_squares(vectors)

    def nearest_of(block: slice) -> np.ndarray:
        """Return the k nearest neighbours of a block of the rows, (block, k) int32."""
        queries = rows[block]
        scores = vectors[queries] @ vectors.T
        scores -= half
        scores[np.arange(len(queries)), queries] = -np.inf
        return largest(scores, k).astype(np.int32)

    size = max(16, min(_QUERIES, 4_000_000 // n))
    return np.concatenate(list(over_blocks(nearest_of, row_blocks(len(rows), size))))
