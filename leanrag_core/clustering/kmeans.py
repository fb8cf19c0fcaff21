"""k-means with several starts, and its cells: regions of space that hold some hundred points each, for search and for
divide and conquer."""

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.system.library_threads import one_blas_thread

_ITERATIONS = 8
_POINTS_A_CELL = 48  # of the sample that the centres are trained on
_BLOCK = 2048


def cells_of(points: np.ndarray, size: int, *, largest: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Give each point a cell of about `size` points and at most `largest`.

    points: (n, k) float32. Returns (n,) int32 cell of each point, 0 ... cells-1, every cell used, and (cells, k)
    centres. A k-means cell that is too large, as duplicates make it, is cut along its longest axis.
    """
    n = len(points)
    count = -(-n // size)
    if count == 1 and n <= largest:
        return np.zeros(n, dtype=np.int32), points.mean(axis=0, keepdims=True)
    cell = nearest_centre(points, trained_centres(points, count, seed)) if count > 1 else np.zeros(n, dtype=np.int32)
    cell = _cut(points, cell, largest)
    sizes = np.bincount(cell)
    order = np.argsort(cell, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    centres = np.stack(
        [points[order[start : start + n_rows]].mean(axis=0) for start, n_rows in zip(starts, sizes, strict=True)]
    )
    return cell, centres


def nearest_centre(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each point, the first of equals; (n,) int32. points: (n, k). centres: (cells, k)."""
    half = 0.5 * np.einsum("ij,ij->i", centres, centres)

    def nearest(rows: slice) -> np.ndarray:
        """Return the nearest centre of each of these rows, (rows,) int32."""
        scores = points[rows] @ centres.T
        scores -= half
        return np.asarray(scores.argmax(axis=1), dtype=np.int32)

    return np.concatenate(list(over_blocks(nearest, row_blocks(len(points), _BLOCK))))


def trained_centres(points: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return the centres of a k-means on a sample of the points, (count, k) float32.

    points: (n, k), n at least `count`.
    """
    n = len(points)
    random = np.random.default_rng([seed, n, count])
    rows = np.sort(random.choice(n, size=min(n, count * _POINTS_A_CELL), replace=False))
    sample = np.ascontiguousarray(points[rows], dtype=np.float32)
    centres = sample[np.sort(random.choice(len(sample), size=count, replace=False))]
    for _ in range(_ITERATIONS):
        cell = nearest_centre(sample, centres)
        sizes = np.bincount(cell, minlength=count)
        sums = np.stack([np.bincount(cell, weights=column, minlength=count) for column in sample.T], axis=1)
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres).astype(np.float32)
    return centres


def _cut(points: np.ndarray, cell: np.ndarray, largest: int) -> np.ndarray:
    """Cut cells above `largest` into equal parts along their longest axis, and number all cells without gaps.

    points: (n, k). cell: (n,) int. Returns (n,) int32.
    """
    _, cell = np.unique(cell, return_inverse=True)
    cell = cell.astype(np.int32)
    sizes = np.bincount(cell)
    next_cell = len(sizes)
    for big in np.flatnonzero(sizes > largest):
        rows = np.flatnonzero(cell == big)
        parts = -(-len(rows) // largest)
        for part in np.array_split(rows[order_along_axis(points[rows])], parts)[1:]:
            cell[part] = next_cell
            next_cell += 1
    return cell


def order_along_axis(points: np.ndarray) -> np.ndarray:
    """Return the rows in order along the direction of largest variance, equals by row; (n,) int64. points: (n, k)."""
    centred = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    place = centred @ axis
    spread = float(np.abs(place).max(initial=0.0))
    # Duplicates may differ in their last bits; what is equal but for rounding keeps the order of its rows.
    return np.argsort(np.round(place / spread, 9) if spread > 0 else place, kind="stable")


def kmeans(points: np.ndarray, count: int, *, seed: int, starts: int = 5) -> np.ndarray:
    """Assign each point to one of at most `count` clusters, (n,) int32: the start of least spread wins.

    points: (n, d) float32. A centre that no point is nearest to is left out, so that there may be fewer clusters than
    `count`. The centres are trained on 48 points each.
    """
    best, least_spread = np.zeros(len(points), dtype=np.int32), np.inf
    count = min(count, len(points))
    with one_blas_thread():
        for start in range(starts if count > 1 else 0):
            centres = trained_centres(points, count, seed + start)
            labels = nearest_centre(points, centres)
            lengths = np.einsum("ij,ij->i", points, points)
            products = np.vecdot(points, centres[labels])
            squares = np.einsum("ij,ij->i", centres, centres)[labels]
            spread = float((lengths - 2 * products + squares).sum(dtype=np.float64))
            if spread < least_spread:
                best, least_spread = labels, spread
    return np.unique(best, return_inverse=True)[1].astype(np.int32)
