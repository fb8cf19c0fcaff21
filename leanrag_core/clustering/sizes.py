"""Sizes of clusters: none above the cap, none empty, few of one node."""

import numpy as np

from leanrag_core.clustering.capacity import assign_within_capacity
from leanrag_core.clustering.cells import order_along_axis
from leanrag_core.clustering.mixture import Fit, seen_from
from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.clustering.splitting import split_and_joined

_FRINGE, _FRINGE_TIMES = 0.99, 2.0  # share of members inside the fringe; how far beyond it a lone point may be
_MEMBERS = 50_000  # that tell where the fringe is
_NEAR = 16  # clusters that a lone point may join


def capped(points: np.ndarray, fit: Fit, largest: int) -> np.ndarray:
    """Assign the points anew so that no cluster holds more than `largest`; (n,) labels below m.

    points: (n, k) float32. Where a component holds more, the surplus would crowd its neighbours out of theirs. So what
    is too large is cut and the cheapest pairs are joined first, the components are estimated from that, and then each
    point takes its best component with room.
    """
    m = len(fit.mixture.means)
    if np.bincount(fit.labels).max() <= largest:
        return fit.labels
    labels = split_and_joined(fit.labels, fit.mixture.whitened(points), largest, m)
    fit = seen_from(points, labels, int(labels.max()) + 1)
    white = fit.mixture.whitened(points)
    centres = fit.mixture.whitened(fit.mixture.means.astype(np.float32))
    margin = fit.log_joint[:, 0] - fit.log_joint[:, 1] if fit.log_joint.shape[1] > 1 else fit.log_joint[:, 0]

    def nearest_open(rows: np.ndarray, components: np.ndarray) -> np.ndarray:
        """Return for each of these rows the nearest of the components given; (rows,) int."""
        half = 0.5 * np.einsum("ij,ij->i", centres[components], centres[components])
        open_clusters = [
            components[(white[part] @ centres[components].T - half).argmax(axis=1)]
            for part in np.array_split(rows, -(-len(rows) // 512))
        ]
        return np.concatenate(open_clusters)

    return assign_within_capacity(fit.candidates, margin, largest, len(centres), nearest_open)


def joined_singletons(labels: np.ndarray, white: np.ndarray, largest: int | None) -> np.ndarray:
    """Join each lone point to the nearest cluster with room where it would not be an outlier, nearest points first.

    It joins if its squared distance to the cluster's mean is at most twice the 99 % quantile of the members' own.
    labels: (n,) int. white: (n, k) float32, whitened. Returns (n,) labels; a label whose only point has left is not
    used.
    """
    names, clusters = np.unique(labels, return_inverse=True)
    sizes = np.bincount(clusters)
    alone = np.flatnonzero(sizes[clusters] == 1)
    if len(alone) == 0 or len(alone) == len(labels):
        return labels
    means = np.stack([np.bincount(clusters, weights=column) for column in white.T], axis=1) / sizes[:, None]
    means = means.astype(np.float32)
    members = np.flatnonzero(sizes[clusters] > 1)
    members = members[:: -(-len(members) // _MEMBERS)]
    limit = _FRINGE_TIMES * float(np.quantile(_squared(white[members] - means[clusters[members]]), _FRINGE))
    near = nearest_neighbours(means, min(_NEAR, len(names) - 1))[clusters[alone]]
    distances = _squared((white[alone][:, None, :] - means[near]).reshape(-1, white.shape[1])).reshape(near.shape)
    for place in np.argsort(distances[:, 0], kind="stable").tolist():
        row = alone[place]
        if sizes[clusters[row]] > 1:  # another lone point has joined it
            continue
        fits = (sizes[near[place]] > 0) & (distances[place] <= limit)
        if largest is not None:
            fits &= sizes[near[place]] < largest
        if fits.any():
            sizes[clusters[row]] = 0
            clusters[row] = near[place, fits.argmax()]
            sizes[clusters[row]] += 1
    return names[clusters]


def _squared(differences: np.ndarray) -> np.ndarray:
    """Return the squared length of each row, (n,). differences: (n, k)."""
    return np.asarray(np.einsum("ij,ij->i", differences, differences))


def filled(labels: np.ndarray, points: np.ndarray, m: int) -> np.ndarray:
    """Give every one of m components a point: each empty one takes half of the largest cluster.

    The cluster is cut along its longest axis. labels: (n,) int below m. points: (n, k); needs m <= n. Returns (n,)
    labels.
    """
    from heapq import heapify, heappop, heappush

    sizes = np.bincount(labels, minlength=m)
    empty = np.flatnonzero(sizes == 0)
    if len(empty) == 0:
        return labels
    labels = labels.copy()
    order = np.argsort(labels, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    members = {int(c): order[offsets[c] : offsets[c + 1]] for c in np.flatnonzero(sizes > 1)}
    queue = [(-len(rows), c) for c, rows in members.items()]
    heapify(queue)
    for component in empty.tolist():
        _, largest = heappop(queue)
        rows = members[largest]
        rows = rows[order_along_axis(points[rows])]
        half = -(-len(rows) // 2)
        members[largest], members[component] = np.sort(rows[:half]), np.sort(rows[half:])
        labels[members[component]] = component
        for part in (largest, component):
            if len(members[part]) > 1:
                heappush(queue, (-len(members[part]), part))
    return labels
