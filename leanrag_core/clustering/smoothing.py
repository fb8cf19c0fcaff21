"""Averaging of vectors with their nearest neighbours, which brings forward the clusters of the full space.

A mixture in a few principal components sees only what these hold. Neighbours are found in the full space; the average
of a vector with them keeps what they share (the cluster) and lets what is its own cancel out. Only clustering sees
these averages.
"""

from typing import Any

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, product, row_blocks
from leanrag_core.clustering.reduction import principal_axes

_ONE_SIDED = 0.3  # weight of a neighbour that does not name the row in return; itself and mutual ones weigh 1
_SAMPLE = 8192  # rows whose averages decide the directions
_BLOCK = 16_384
_PAIRS = 50_000  # neighbours whose differences estimate the spread within clusters


def averaging(neighbours: np.ndarray) -> Any:
    """Return the (n, n) sparse float32 matrix, rows summing to one, that averages a row with its neighbours.

    neighbours: (n, k) int32. Mutual neighbours and the row itself weigh 1, one-sided ones in either direction 0.3.
    """
    from scipy import sparse

    n, k = neighbours.shape
    offsets = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 else np.int64)
    ordered = np.sort(neighbours, axis=1).ravel()  # a copy: the caller's stand nearest first, and stay so
    named = sparse.csr_array((np.full(n * k, _ONE_SIDED, dtype=np.float32), ordered, offsets), (n, n))
    weights = named + named.T.tocsr()  # 0.3, or 0.6 where both name each other
    weights.data[weights.data > 1.5 * _ONE_SIDED] = 1.0
    weights = weights + sparse.eye_array(n, dtype=np.float32, format="csr")
    counts = np.diff(weights.indptr)
    totals = np.add.reduceat(weights.data, weights.indptr[:-1])
    weights.data /= np.repeat(totals, counts)
    return weights


def smoothed(vectors: np.ndarray, average: Any, rounds: int, space: int, *, seed: int) -> np.ndarray:
    """Average the vectors `rounds` times and project them on their own `space` directions of largest variance, centred.

    vectors: (n, d) float32. average: (n, n) sparse, from averaging(). Returns (n, k) float32, k <= space. Averaging and
    projection commute: the directions are estimated from the averages of some thousand rows, then all rows are
    projected first and averaged in the small space.
    """
    n = len(vectors)
    rows = np.arange(n) if n <= _SAMPLE else np.sort(np.random.default_rng([seed, n]).choice(n, _SAMPLE, replace=False))
    weights = average[rows] if n > _SAMPLE else average
    for _ in range(rounds - 1):
        weights = weights @ average
    axes = principal_axes(_product(weights, vectors), space, seed=seed)
    points = _projected(vectors, axes)
    for _ in range(rounds):
        points = _product(average, points)
    points -= points.mean(axis=0, dtype=np.float64).astype(np.float32)
    return points


def spread_within(points: np.ndarray, average: Any) -> np.ndarray:
    """Estimate the covariance within clusters as half the mean outer product of differences of mutual neighbours.

    points: (n, k) float32. average: (n, n) sparse, from averaging(). Returns (k, k) float64.
    """
    heaviest = 0.99 * np.repeat(average.diagonal(), np.diff(average.indptr))
    left = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(average.indptr))
    pairs = np.flatnonzero((average.data >= heaviest) & (average.indices > left))
    if len(pairs) == 0:
        pairs = np.flatnonzero(average.indices != left)
    pairs = pairs[:: -(-len(pairs) // _PAIRS)]
    differences = (points[left[pairs]] - points[average.indices[pairs]]).astype(np.float64)
    return np.asarray(differences.T @ differences / (2 * len(differences)))


def _projected(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return vectors @ axes, (n, k) float32, by blocks of rows. vectors: (n, d). axes: (d, k)."""
    points = np.empty((len(vectors), axes.shape[1]), dtype=np.float32)

    def project(rows: slice) -> None:
        points[rows] = product(vectors[rows], axes)

    for _ in over_blocks(project, row_blocks(len(vectors), _BLOCK)):
        pass
    return points


def _product(weights: Any, dense: np.ndarray) -> np.ndarray:
    """Return weights @ dense, (n, k) float32, by blocks of rows. weights: (n, m) sparse. dense: (m, k)."""
    result = np.empty((weights.shape[0], dense.shape[1]), dtype=np.float32)

    def multiply(rows: slice) -> None:
        result[rows] = weights[rows.start : rows.stop] @ dense

    for _ in over_blocks(multiply, row_blocks(weights.shape[0], _BLOCK)):
        pass
    return result
