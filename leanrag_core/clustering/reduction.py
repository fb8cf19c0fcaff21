"""Principal components: where the mixture is fitted."""

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks

_RELATIVE_FLOOR = 1e-9  # of the largest variance; directions below it are rounding noise
_SAMPLE = 50_000  # rows from which directions are estimated
_BLOCK = 4096


def principal_axes(vectors: np.ndarray, n_components: int, *, seed: int = 0) -> np.ndarray:
    """Return the directions of largest variance as columns, (d, k) float32 with 1 <= k <= n_components.

    vectors: (n, d). The sign of each direction is fixed by its largest coordinate. k falls below n_components when the
    rows have no more variance; rows that are all equal give the first axis. Estimated from 50,000 rows at most.
    """
    n, d = vectors.shape
    if n > _SAMPLE:
        rows = np.sort(np.random.default_rng([seed, n]).choice(n, size=_SAMPLE, replace=False))
        vectors = vectors[rows]
    mean = vectors.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(second_moment(vectors, mean))
    variances, axes = variances[::-1][:n_components], axes[:, ::-1][:, :n_components]
    kept = variances > max(float(variances[0]) * _RELATIVE_FLOOR, len(vectors) * 1e-10)
    if not kept.any():
        return np.eye(d, 1, dtype=np.float32)
    axes = axes[:, kept]
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(axes, dtype=np.float32)


def second_moment(points: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the sum of outer products of rows less the mean, (k, k) float64, added over fixed blocks in order.

    points: (n, k). mean: (k,).
    """
    shift = mean.astype(points.dtype)

    def product(rows: slice) -> np.ndarray:
        """Return the sum of outer products of these rows, (k, k) float64."""
        block = (points[rows] - shift).astype(np.float64)
        return np.asarray(block.T @ block)

    total = np.zeros((points.shape[1], points.shape[1]))
    for part in over_blocks(product, row_blocks(len(points), _BLOCK)):
        total += part
    return total
