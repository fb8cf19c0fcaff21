"""Sizes of clusters: none above the cap, none empty, few of one node."""

from collections.abc import Callable

import numpy as np

from leanrag_core.clustering.kmeans import order_along_axis
from leanrag_core.clustering.mixture import Fit, fit_of_partition
from leanrag_core.clustering.neighbours import nearest_neighbours

_MANY = 4  # clusters in one above which it is halved first
_JOINED_AMONG = 8  # clusters nearest to a cluster, with which it may be joined


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


def cluster_means(labels: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the mean of each cluster, (m, k) float32. labels: (n,) int, every label used. points: (n, k)."""
    sums = np.stack([np.bincount(labels, weights=column) for column in points.T], axis=1)
    return np.asarray((sums / np.bincount(labels)[:, None]).astype(np.float32))


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
    means = cluster_means(labels, points)
    near = nearest_neighbours(means, min(_JOINED_AMONG, count - 1))
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


_ROUNDS = 32  # in which points without a candidate ask the nearest component with room
_COMPARED = 100_000_000  # points times components that such a round may compare
NearestOpen = Callable[[np.ndarray, np.ndarray], np.ndarray]


def assign_within_capacity(
    candidates: np.ndarray, margin: np.ndarray, capacity: int, m: int, nearest_open: NearestOpen
) -> np.ndarray:
    """Give each point its best component that still has room, surest points first.

    candidates: (n, c) components of each point, best first. margin: (n,) log posterior of the best over the second
    best; points choose in falling order of it, ties by row. Points whose candidates are all full are grouped by their
    best candidate and form clusters of their own in empty components; what is left over after that goes to
    nearest_open(rows, components), the nearest of the components with room. Returns (n,) int32 labels below m, none
    used more than `capacity` times. Needs n <= m x capacity.
    """
    turn = np.empty(len(margin), dtype=np.int64)
    turn[np.argsort(-margin, kind="stable")] = np.arange(len(margin))
    n_refusals = np.zeros(len(margin), dtype=np.int64)  # candidates that refused the point
    labels = candidates[:, 0].astype(np.int32)
    # Every point asks its best component; a component keeps the surest and refuses the rest, who ask their next. As all
    # components prefer the same points, this ends where choosing one after the other would.
    refused = _surplus(labels, turn, capacity, m)
    while len(refused):
        n_refusals[refused] += 1
        out = n_refusals[refused] >= candidates.shape[1]
        labels[refused[out]] = -1
        asking = refused[~out]
        labels[asking] = candidates[asking, n_refusals[asking]]
        refused = _surplus(labels, turn, capacity, m)
    unplaced = np.flatnonzero(labels < 0)
    if len(unplaced):
        _fill_empty(labels, unplaced, candidates[:, 0], turn, capacity, m)
        _fill_open(labels, turn, capacity, m, nearest_open)
    return labels


def _surplus(labels: np.ndarray, turn: np.ndarray, capacity: int, m: int) -> np.ndarray:
    """Return the rows beyond the first `capacity` of their component, in order of turns, as int64.

    labels: (n,) int32, -1 for a point without a component. turn: (n,) int64, when each point chooses.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=m)
    if sizes.max(initial=0) <= capacity:
        return np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero((labels >= 0) & (sizes[labels] > capacity))
    rows = rows[np.lexsort((turn[rows], labels[rows]))]
    return rows[_place_in_run(labels[rows]) >= capacity]


def _place_in_run(values: np.ndarray) -> np.ndarray:
    """Return how many equal values stand before each one; values: (n,), sorted; the result is (n,) int64."""
    first = np.concatenate([[True], values[1:] != values[:-1]])
    starts = np.flatnonzero(first)
    return np.asarray(np.arange(len(values)) - starts[np.cumsum(first) - 1])


def _fill_empty(
    labels: np.ndarray, unplaced: np.ndarray, best: np.ndarray, turn: np.ndarray, capacity: int, m: int
) -> None:
    """Put the points left over into components that hold nothing; changes labels in place.

    The points are grouped by their best component, at most `capacity` in a group, and the largest groups go first.
    labels: (n,) int32, -1 where left over. unplaced: rows of those. best: (n,) best component. turn: (n,) int64.
    """
    empty = np.flatnonzero(np.bincount(labels[labels >= 0], minlength=m) == 0)
    rows = unplaced[np.lexsort((turn[unplaced], best[unplaced]))]
    wish = best[rows]
    body = np.cumsum(np.concatenate([[0], (_place_in_run(wish)[1:] % capacity == 0).astype(np.int64)]))
    largest_first = np.argsort(-np.bincount(body), kind="stable")[: len(empty)]
    home = np.full(int(body[-1]) + 1, -1, dtype=np.int32)
    home[largest_first] = empty[: len(largest_first)]
    labels[rows] = home[body]


def _fill_open(labels: np.ndarray, turn: np.ndarray, capacity: int, m: int, nearest_open: NearestOpen) -> None:
    """Give the points left over to the nearest component with room; changes labels in place.

    labels: (n,) int32, -1 where left over. turn: (n,) int64, the order in which points choose.
    """
    for _ in range(_ROUNDS):
        unplaced = np.flatnonzero(labels < 0)
        room = capacity - np.bincount(labels[labels >= 0], minlength=m)
        if len(unplaced) * np.count_nonzero(room) > _COMPARED:
            break
        if len(unplaced) == 0:
            return
        nearest = nearest_open(unplaced, np.flatnonzero(room > 0))
        order = np.lexsort((turn[unplaced], nearest))
        unplaced, nearest = unplaced[order], nearest[order]
        fits = _place_in_run(nearest) < room[nearest]
        labels[unplaced[fits]] = nearest[fits]
    unplaced = np.flatnonzero(labels < 0)  # only many duplicates are left; any component with room will do
    room = capacity - np.bincount(labels[labels >= 0], minlength=m)
    labels[unplaced] = np.repeat(np.arange(m, dtype=labels.dtype), room)[: len(unplaced)]


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
    fit = fit_of_partition(points, labels, int(labels.max()) + 1)
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
    means = cluster_means(clusters, white)
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
