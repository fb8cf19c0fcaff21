"""A layer as islands: the same nodes in the same places, with and without the relations between them, and the bars of a
histogram of lambda.
"""

from dataclasses import dataclass

import numpy as np

from leanrag_core.types.rows import place_of_each

MOST_NODES = 240
_LINKS_A_NODE, _MOST_LINKS = 0.9, 120  # beside those of the forest; more are a tangle
_WEAK_PULL = 0.15  # of links that are not of the forest, so that hubs do not draw all to one place
_ASPECT = 1.35  # width by height of the picture
_ROUNDS = 50
_CLOSE = 0.78  # of the distance that nodes have when they fill the picture evenly
_BARS = 12  # the last one takes all that is larger
_TAIL = 0.25  # share of the relations that the last bar may take when bars are whole steps


def lambda_bars(strengths: np.ndarray, pairs: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Return first and last lambda of each bar, from 1 on without gaps.

    strengths: (k,) the lambdas that occur, ascending, k at least 1; pairs: (k,) relations of each. Whole steps up to 11
    and "12+", as long as at most a quarter of the relations falls into the last bar; else steps of 2, 5, 10, 20, ...
    that make twelve bars of nine tenths of them.
    """
    largest = int(strengths[-1])
    if largest < _BARS:
        return tuple((value, value) for value in range(1, largest + 1))
    total = int(pairs.sum())
    if pairs[strengths >= _BARS].sum() <= _TAIL * total:
        return (*((value, value) for value in range(1, _BARS)), (_BARS, largest))
    most = int(strengths[np.searchsorted(np.cumsum(pairs), 0.9 * total)])
    width = _step(most / (_BARS - 1))
    lasts = [width * number for number in range(1, _BARS) if width * number < largest]
    return tuple(zip([1, *(last + 1 for last in lasts)], [*lasts, largest], strict=True))


def _step(at_least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50, ... that is not below the number."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= at_least:
                return digit * power
        power *= 10


@dataclass(frozen=True, eq=False)
class IslandsPicture:
    """What is drawn of a layer. rows: (k,) nodes of the layer, ascending; x, y: (k,) float, 0 to 1. links: (l,) rows of
    the relations that are drawn; ends: (l, 2) positions in `rows`."""

    rows: np.ndarray
    x: np.ndarray
    y: np.ndarray
    links: np.ndarray
    ends: np.ndarray


def islands_picture(
    vectors: np.ndarray,
    ends: np.ndarray,
    strengths: np.ndarray,
    labels: np.ndarray,
    forest: np.ndarray,
    *,
    most_nodes: int = MOST_NODES,
) -> IslandsPicture:
    """Return the nodes in the plane, related ones near each other, none upon another; the same input, the same places.

    vectors: (n, d) unit rows; ends: (r, 2); strengths: (r,) lambda; labels: (n,) component of each node, 0 for the
    largest; forest: rows of a maximum spanning forest. A layer of more than most_nodes nodes is sampled: half of them
    at most are islands, the others spread evenly over the largest component. Of the relations between drawn nodes the
    forest's are drawn, the strongest others, and some of all strengths.
    """
    rows = _sampled(labels, most_nodes)
    place = place_of_each(rows, len(labels))
    drawn = np.flatnonzero((place[ends] >= 0).all(axis=1)) if len(ends) else np.zeros(0, dtype=np.int64)
    in_forest = np.isin(drawn, forest)
    others = drawn[~in_forest]
    strongest = others[np.argsort(-strengths[others].astype(np.int64), kind="stable")]
    more = min(_MOST_LINKS, round(_LINKS_A_NODE * len(rows)))
    # Half of them from all strengths, so that joined relations are seen beside the summarised ones.
    chosen = [strongest[: more // 2], _evenly(strongest[more // 2 :], more - more // 2)]
    links = np.sort(np.concatenate([drawn[in_forest], *chosen]).astype(np.int64))
    pairs = place[ends[links]].reshape(-1, 2)
    pull = np.where(np.isin(links, forest), 1.0, _WEAK_PULL)
    points = _places(np.asarray(vectors[rows], dtype=np.float64), pairs, pull)
    return IslandsPicture(rows, points[:, 0], points[:, 1], links, pairs)


def _sampled(labels: np.ndarray, most_nodes: int) -> np.ndarray:
    """Return rows of the nodes that are drawn, ascending. labels: (n,) component of each node. Returns (k,)."""
    if len(labels) <= most_nodes:
        return np.arange(len(labels))
    largest, others = np.flatnonzero(labels == 0), np.flatnonzero(labels > 0)
    n_others = min(len(others), max(most_nodes // 2, most_nodes - len(largest)))
    kept = [_evenly(others, n_others), _evenly(largest, most_nodes - n_others)]
    return np.sort(np.concatenate(kept))


def _evenly(rows: np.ndarray, n: int) -> np.ndarray:
    """Return n of (k,) rows, evenly spread over them."""
    return rows if n >= len(rows) else rows[np.linspace(0, len(rows) - 1, n).round().astype(np.int64)]


def _places(vectors: np.ndarray, pairs: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Return (n, 2) places from 0 to 1: principal axes of the vectors first, then springs along relations against a
    push between all nodes (Fruchterman and Reingold, 1991), then spread evenly. vectors: (n, d). pairs:
    (r, 2) nodes that relations join. pull: (r,), how strong each relation is."""
    n = len(vectors)
    if n == 1:
        return np.full((1, 2), 0.5)
    points = _even(_principal(vectors))
    x, y = points[:, 0] * _ASPECT, points[:, 1].copy()
    ideal = np.sqrt(_ASPECT / n)
    left, right = pairs[:, 0], pairs[:, 1]
    for heat in np.linspace(0.12, 0.01, _ROUNDS):
        across, up = np.subtract.outer(x, x), np.subtract.outer(y, y)
        push = ideal**2 / np.maximum(across**2 + up**2, 1e-8)
        move_x, move_y = (across * push).sum(axis=1), (up * push).sum(axis=1)
        along_x, along_y = x[left] - x[right], y[left] - y[right]
        spring = np.sqrt(along_x**2 + along_y**2) / ideal * pull
        for move, along in ((move_x, along_x), (move_y, along_y)):
            move -= np.bincount(left, weights=along * spring, minlength=n)
            move += np.bincount(right, weights=along * spring, minlength=n)
        length = np.maximum(np.sqrt(move_x**2 + move_y**2), 1e-9)
        step = np.minimum(length, heat) / length
        x, y = np.clip(x + move_x * step, 0, _ASPECT), np.clip(y + move_y * step, 0, 1)
    points = np.stack([x / _ASPECT, y], axis=1)
    return _apart(0.3 * points + 0.7 * _even(points))


def _principal(vectors: np.ndarray) -> np.ndarray:
    """Return (n, 2) the vectors along the two axes in which they differ most."""
    centred = vectors - vectors.mean(axis=0)
    values, axes = np.linalg.eigh(centred @ centred.T)
    return np.asarray(axes[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0)))


def _even(points: np.ndarray) -> np.ndarray:
    """Return the points with their order kept on each axis, evenly spread from 0 to 1. points: (n, 2)."""
    ranks = np.argsort(np.argsort(points, axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray(ranks / max(1, len(points) - 1))


def _apart(points: np.ndarray) -> np.ndarray:
    """Return the points moved until hardly any two are closer than an even spread allows. points: (n, 2)."""
    n = len(points)
    least = _CLOSE * np.sqrt(_ASPECT / n)
    scaled = points * (_ASPECT, 1)
    # Two nodes in the very same place part by their rows.
    by_row = 1e-3 * np.sign(np.subtract.outer(np.arange(n), np.arange(n)))
    for _ in range(_ROUNDS):
        across, up = np.subtract.outer(scaled[:, 0], scaled[:, 0]), np.subtract.outer(scaled[:, 1], scaled[:, 1])
        distance = np.sqrt(across**2 + up**2)
        across = np.where(distance < 1e-9, by_row, across)
        push = np.clip(least - distance, 0, None) / 2 / np.maximum(distance, 1e-3)
        np.fill_diagonal(push, 0)
        if not push.any():
            break
        moves = np.stack([(across * push).sum(axis=1), (up * push).sum(axis=1)], axis=1)
        scaled = np.clip(scaled + moves, 0, (_ASPECT, 1))
    return scaled / (_ASPECT, 1)
