"""Local fits: the order in which the points of one group merge, by the classification likelihood of the mixture.

For components of one covariance, the merge that costs the least likelihood is the one that adds least to the squared
distances to the means in whitened space: Ward's criterion. The merges of all groups are cut at one height, such that
exactly m components remain; they start expectation maximisation far nearer to its goal than k-means does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.clustering.kmeans import cells_of
from leanrag_core.clustering.sizes import split_and_joined
from leanrag_core.system.library_threads import one_blas_thread
from leanrag_core.types.settings import Apply

_GROUP = 1000  # points of a group
_LARGEST = 2500
_BATCH = 4000  # points of a batch: some 100 ms of work


@dataclass(frozen=True, eq=False)
class Merges:
    """The merges of one group of g points, cheapest first.

    pairs: (g-1, 2) int32, points 0 ... g-1, and g+i for what merge i made. heights: (g-1,) float64, rising.
    """

    pairs: np.ndarray
    heights: np.ndarray


def merges_of(batch: Sequence[np.ndarray]) -> list[Merges]:
    """Compute the merges of each group of whitened points, (g, k) float32 each; a pure function of the batch."""
    from scipy.cluster.hierarchy import linkage

    merges = []
    with one_blas_thread():
        for group in batch:
            if len(group) < 2:
                merges.append(Merges(np.zeros((0, 2), dtype=np.int32), np.zeros(0)))
                continue
            steps = linkage(_condensed_distances(group), method="ward")
            merges.append(Merges(steps[:, :2].astype(np.int32), steps[:, 2].copy()))
    return merges


def started(points: np.ndarray, white: np.ndarray, m: int, *, seed: int, apply: Apply) -> np.ndarray:
    """Return the component of each point from which expectation maximisation starts; (n,) int32, each of 0 ... m-1
    used.

    points: (n, k), which decide the groups. white: (n, k) float32, whitened, in which Ward's criterion is computed.
    """
    n = len(points)
    group = np.zeros(n, dtype=np.int32)
    if n > _LARGEST:
        group, _ = cells_of(points, max(_GROUP, -(-2 * n // m)), largest=_LARGEST, seed=seed)
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    batches = _batched(members)
    merges_by_batch = apply(merges_of, ([white[rows] for rows in batch] for batch in batches))
    merges = [merge for batch in merges_by_batch for merge in batch]
    labels = _cut_at_one_height(members, merges, n, m)
    return labels if len(members) <= m else split_and_joined(labels, white, n, m)


def _condensed_distances(group: np.ndarray) -> np.ndarray:
    """Return the distances of all pairs of g points, (g (g - 1) / 2,) float64, in SciPy's condensed order. group: (g,
    k).
    """
    points = group.astype(np.float64)
    points -= points.mean(axis=0)
    squares = np.einsum("ij,ij->i", points, points)
    products = points @ points.T
    products *= -2
    products += squares
    products += squares[:, None]
    upper = np.maximum(products[np.triu_indices(len(points), 1)], 0.0)
    return np.sqrt(upper, out=upper)


def _batched(members: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Put the groups into batches of about 4,000 points. members: the rows of each group, (g,) int64."""
    batches: list[list[np.ndarray]] = [[]]
    n_rows = 0
    for rows in members:
        if batches[-1] and n_rows + len(rows) > _BATCH:
            batches.append([])
            n_rows = 0
        batches[-1].append(rows)
        n_rows += len(rows)
    return batches


def _cut_at_one_height(members: list[np.ndarray], merges: list[Merges], n: int, m: int) -> np.ndarray:
    """Return labels after the n - m cheapest merges of all groups, (n,) int32; each group keeps one component at least.

    members: the rows of each group. merges: those of each group, in the same order.
    """
    m = max(m, len(members))
    heights = np.concatenate([merge.heights for merge in merges])
    of_group = np.repeat(np.arange(len(merges)), [len(merge.heights) for merge in merges])
    cheapest = np.argsort(heights, kind="stable")[: n - m]
    done = np.bincount(of_group[cheapest], minlength=len(merges))
    labels = np.empty(n, dtype=np.int32)
    used = 0
    for rows, merge, count in zip(members, merges, done, strict=True):
        local = _after(merge.pairs[:count], len(rows))
        labels[rows] = used + local
        used += int(local.max()) + 1
    return labels


def _after(pairs: np.ndarray, n_points: int) -> np.ndarray:
    """Return the labels 0, 1, ... of points once these merges are done, (n_points,) int64. pairs: (merges, 2) int32."""
    above = np.arange(n_points + len(pairs))
    above[pairs.ravel()] = np.repeat(np.arange(n_points, len(above)), 2)
    while True:
        higher = above[above]
        if np.array_equal(higher, above):
            break
        above = higher
    return np.unique(above[:n_points], return_inverse=True)[1]
