"""k-means with several starts."""

import numpy as np

from leanrag_core.clustering.blocks import one_blas_thread
from leanrag_core.clustering.cells import nearest_centre, trained_centres


def kmeans(points: np.ndarray, count: int, *, seed: int, starts: int = 5) -> np.ndarray:
    """Assign each point to one of at most `count` clusters, (n,) int32: the start of least spread wins.

    points: (n, d) float32. A centre that no point is nearest to is left out, so that there may be fewer clusters than
    `count`. The centres are trained on 48 points each.
    """
    best, least = np.zeros(len(points), dtype=np.int32), np.inf
    count = min(count, len(points))
    with one_blas_thread():
        for start in range(starts if count > 1 else 0):
            centres = trained_centres(points, count, seed + start)
            labels = nearest_centre(points, centres)
            lengths = np.einsum("ij,ij->i", points, points)
            products = np.vecdot(points, centres[labels])
            squares = np.einsum("ij,ij->i", centres, centres)[labels]
            spread = float((lengths - 2 * products + squares).sum(dtype=np.float64))
            if spread < least:
                best, least = labels, spread
    return np.unique(best, return_inverse=True)[1].astype(np.int32)
