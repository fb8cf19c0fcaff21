"""The cap by recursive split: what is too large is cut, and as many small clusters are joined again."""

import numpy as np

from leanrag_core.clustering.cells import order_along_axis
from leanrag_core.clustering.neighbours import nearest_neighbours

_MANY = 4  # clusters in one above which it is halved first
_NEAR = 8  # clusters nearest to a cluster, with which it may be joined


def split_and_joined(labels: np.ndarray, points: np.ndarray, largest: int, m: int) -> np.ndarray:
    """Cut clusters above `largest` and join the cheapest pairs until at most m are left.

    labels: (n,) int. points: (n, k) float32, whitened. Returns (n,) int32, numbered without gaps. From a cluster above
    the cap, as many as it may hold are cut off along its longest axis until the rest fits. Then the pairs of clusters
    whose union adds least to the squared distances to the means (Ward) are joined until no more than m are left. Needs
    n <= m x largest / 2.
    """
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    sizes = np.bincount(labels)
    following = len(sizes)
    order, ends = np.argsort(labels, kind="stable"), np.cumsum(sizes)
    for big in np.flatnonzero(sizes > largest):
        parts = _parts(order[ends[big] - sizes[big] : ends[big]], points, largest)
        for part in parts[1:]:
            labels[part] = following
            following += 1
    while (surplus := int(labels.max()) + 1 - m) > 0:
        labels = _joined(labels, points, largest, surplus)
    return labels


def _parts(rows: np.ndarray, points: np.ndarray, largest: int) -> list[np.ndarray]:
    """Cut these rows into whole clusters of the largest size and one with the rest: halves would separate more
    neighbours.

    rows: (r,) rows of points: (n, k). Returns the rows of each part, ascending.
    """
    if len(rows) <= largest:
        return [rows]
    rows = rows[order_along_axis(points[rows])]
    if len(rows) > _MANY * largest:  # one after another would sort them too often
        half = len(rows) // 2 // largest * largest
        return _parts(np.sort(rows[:half]), points, largest) + _parts(np.sort(rows[half:]), points, largest)
    return [np.sort(rows[:largest]), *_parts(np.sort(rows[largest:]), points, largest)]


def _joined(labels: np.ndarray, points: np.ndarray, largest: int, surplus: int) -> np.ndarray:
    """Join clusters in one round: cheapest pairs first, each cluster in one pair at most, no more than `surplus` pairs.

    labels: (n,) int32, every label used. points: (n, k). Returns (n,) int32.
    """
    sizes = np.bincount(labels)
    count = len(sizes)
    sums = np.stack([np.bincount(labels, weights=column, minlength=count) for column in points.T], axis=1)
    means = (sums / sizes[:, None]).astype(np.float32)
    near = nearest_neighbours(means, min(_NEAR, count - 1))
    left, right = np.repeat(np.arange(count), near.shape[1]), near.ravel()
    fits = (left < right) | ~(near[right] == left[:, None]).any(axis=1)
    fits &= sizes[left] + sizes[right] <= largest
    left, right = left[fits], right[fits]
    if len(left) == 0:  # two smallest always fit, the mean size being below half of the cap
        left, right = np.sort(np.argsort(sizes, kind="stable")[:2])[:, None]
    gap = means[left] - means[right]
    cost = sizes[left] * sizes[right] / (sizes[left] + sizes[right]) * np.einsum("ij,ij->i", gap, gap)
    into = np.arange(count)
    free = np.ones(count, dtype=bool)
    for pair in np.argsort(cost, kind="stable").tolist():
        a, b = int(left[pair]), int(right[pair])
        if free[a] and free[b]:
            free[a] = free[b] = False
            into[b] = a
            surplus -= 1
            if surplus == 0:
                break
    return np.unique(into[labels], return_inverse=True)[1].astype(np.int32)
