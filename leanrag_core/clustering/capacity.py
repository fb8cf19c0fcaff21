"""Assignment of points to components under a cap on how many each may hold."""

from collections.abc import Callable

import numpy as np

_ROUNDS = 32  # in which points without a candidate ask the nearest component with room
_COMPARED = 100_000_000  # points times components that such a round may compare
NearestOpen = Callable[[np.ndarray, np.ndarray], np.ndarray]


def assign_within_capacity(
    candidates: np.ndarray, margin: np.ndarray, capacity: int, m: int, nearest_open: NearestOpen
) -> np.ndarray:
    """Give each point its best component that still has room, surest points first.

    candidates: (n, c) components of each point, best first. margin: (n,) log posterior of the best over the second
    best; points choose in falling order of it, ties by row. Points whose candidates are all full form clusters of
    their own in components that hold nothing, best candidate by best candidate; what is left over after that goes to
    nearest_open(rows, components), the nearest of the components with room. Returns (n,) int32 labels below m, none
    used more than `capacity` times. Needs n <= m x capacity.
    """
    turn = np.empty(len(margin), dtype=np.int64)
    turn[np.argsort(-margin, kind="stable")] = np.arange(len(margin))
    tried = np.zeros(len(margin), dtype=np.int64)  # candidates that refused the point
    labels = candidates[:, 0].astype(np.int32)
    # Every point asks its best component; a component keeps the surest and refuses the rest, who ask their next. As all
    # components prefer the same points, this ends where choosing one after the other would.
    refused = _surplus(labels, turn, capacity, m)
    while len(refused):
        tried[refused] += 1
        out = tried[refused] >= candidates.shape[1]
        labels[refused[out]] = -1
        asking = refused[~out]
        labels[asking] = candidates[asking, tried[asking]]
        refused = _surplus(labels, turn, capacity, m)
    left = np.flatnonzero(labels < 0)
    if len(left):
        _fill_empty(labels, left, candidates[:, 0], turn, capacity, m)
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
    labels: np.ndarray, left: np.ndarray, best: np.ndarray, turn: np.ndarray, capacity: int, m: int
) -> None:
    """Put the points left over into components that hold nothing; changes labels in place.

    The points are grouped by their best component, at most `capacity` in a group, and the largest groups go first.
    labels: (n,) int32, -1 where left over. left: rows of those. best: (n,) best component. turn: (n,) int64.
    """
    empty = np.flatnonzero(np.bincount(labels[labels >= 0], minlength=m) == 0)
    rows = left[np.lexsort((turn[left], best[left]))]
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
        left = np.flatnonzero(labels < 0)
        room = capacity - np.bincount(labels[labels >= 0], minlength=m)
        if len(left) * np.count_nonzero(room) > _COMPARED:
            break
        if len(left) == 0:
            return
        wanted = nearest_open(left, np.flatnonzero(room > 0))
        order = np.lexsort((turn[left], wanted))
        left, wanted = left[order], wanted[order]
        fits = _place_in_run(wanted) < room[wanted]
        labels[left[fits]] = wanted[fits]
    left = np.flatnonzero(labels < 0)  # hordes of duplicates; any room is as good as another
    room = capacity - np.bincount(labels[labels >= 0], minlength=m)
    labels[left] = np.repeat(np.arange(m, dtype=labels.dtype), room)[: len(left)]
