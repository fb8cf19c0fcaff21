"""The regions of a cluster of points in the plane: hulls around those that lie densely, without its strays.

One hull around all points of a cluster would span what lies between them, too. So the points that are farthest from
others of their cluster are left out, and what is far from each other has a hull each.
"""

import math

import numpy as np

from leanrag_core.types.graph import component_of_each

KEPT = 0.85  # of the points: those nearest to others of their cluster
_NEIGHBOURS = 3  # the distance to the third says how dense it is around a point
_APART = 1.8  # times the median of these distances: points farther from each other are not of one region
_LEAST = 3  # points of a region


def dense_regions(points: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return hulls around the densest points, the one with most points first; none below three points.

    points: (p, 2). Returns arrays of corners, (k, 2) each; two corners where all points of a region lie on a line.
    """
    if len(points) < _LEAST:
        return ()
    from scipy.spatial import KDTree

    spread = np.asarray(points, dtype=np.float64)
    far = KDTree(spread).query(spread, k=min(_NEIGHBOURS, len(spread) - 1) + 1)[0][:, -1]
    kept = spread[np.argsort(far, kind="stable")[: max(_LEAST, math.ceil(KEPT * len(spread)))]]
    pairs = KDTree(kept).query_pairs(_APART * float(np.median(far)), output_type="ndarray")
    label_of = component_of_each(len(kept), pairs)
    counts = np.bincount(label_of)
    order = [label for label in np.argsort(-counts, kind="stable") if counts[label] >= _LEAST]
    return tuple(_hull(kept[label_of == label]) for label in order)


def _hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull of (p, 2) points, (k, 2); the two ends of points on a line."""
    from scipy.spatial import ConvexHull

    distinct = np.unique(points, axis=0)  # in the order of x, so that the ends of a line come first and last
    if np.linalg.matrix_rank(distinct - distinct.mean(axis=0), tol=1e-6) < 2:
        return distinct[[0, -1]]
    return np.asarray(distinct[ConvexHull(distinct).vertices])
