"""A layer as islands: the same nodes in the same places, with and without the relations between them."""

from dataclasses import dataclass

import numpy as np

MOST_NODES = 240
_LINKS_A_NODE, _MOST_LINKS = 0.9, 120  # beside those of the forest; more are a tangle
_WEAK_PULL = 0.15  # of links that are not of the forest, so that hubs do not draw all to one place
_ASPECT = 1.35  # width by height of the picture
_ROUNDS = 90
_CLOSE = 0.78  # of the distance that nodes have when they fill the picture evenly


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
    """The nodes in the plane, related ones near each other, none upon another; the same input, the same places.

    vectors: (n, d) unit rows; ends: (r, 2); strengths: (r,) lambda; labels: (n,) component of each node, 0 for the
    largest; forest: rows of a maximum spanning forest. A layer of more than most_nodes nodes is sampled: half of them
    at most are islands, the others spread evenly over the largest component. Of the relations between drawn nodes the
    forest's are drawn, the strongest others, and some of all strengths.
    """
    rows = _sampled(labels, most_nodes)
    place = np.full(len(labels), -1)
    place[rows] = np.arange(len(rows))
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
    """Rows of the nodes that are drawn, ascending."""
    if len(labels) <= most_nodes:
        return np.arange(len(labels))
    largest, others = np.flatnonzero(labels == 0), np.flatnonzero(labels > 0)
    n_others = min(len(others), max(most_nodes // 2, most_nodes - len(largest)))
    kept = [_evenly(others, n_others), _evenly(largest, most_nodes - n_others)]
    return np.sort(np.concatenate(kept))


def _evenly(rows: np.ndarray, n: int) -> np.ndarray:
    return rows if n >= len(rows) else rows[np.linspace(0, len(rows) - 1, n).round().astype(np.int64)]


def _places(vectors: np.ndarray, pairs: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """(n, 2) places from 0 to 1: principal axes of the vectors first, then springs along relations against a push
    between all nodes (Fruchterman and Reingold, 1991), then spread evenly."""
    n = len(vectors)
    if n == 1:
        return np.full((1, 2), 0.5)
    centred = vectors - vectors.mean(axis=0)
    left, scale, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((n, 2))
    points[:, : min(2, left.shape[1])] = (left * scale)[:, :2]
    points = _even(points)
    ideal = np.sqrt(_ASPECT / n)
    points[:, 0] *= _ASPECT
    for heat in np.linspace(0.1, 0.01, _ROUNDS):
        apart = points[:, None] - points[None]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-4)
        move = (apart * (ideal**2 / distance**2)[:, :, None]).sum(axis=1)
        if len(pairs):
            along = points[pairs[:, 0]] - points[pairs[:, 1]]
            spring = along * np.sqrt((along**2).sum(axis=1, keepdims=True)) / ideal * pull[:, None]
            np.subtract.at(move, pairs[:, 0], spring)
            np.add.at(move, pairs[:, 1], spring)
        length = np.maximum(np.sqrt((move**2).sum(axis=1, keepdims=True)), 1e-9)
        points = np.clip(points + move / length * np.minimum(length, heat), 0, (_ASPECT, 1))
    points[:, 0] /= _ASPECT
    return _apart(0.3 * points + 0.7 * _even(points))


def _even(points: np.ndarray) -> np.ndarray:
    """The points with their order kept on each axis, evenly spread from 0 to 1."""
    ranks = np.argsort(np.argsort(points, axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray(ranks / max(1, len(points) - 1))


def _apart(points: np.ndarray) -> np.ndarray:
    """The points moved until hardly any two are closer than an even spread allows."""
    n = len(points)
    least = _CLOSE * np.sqrt(_ASPECT / n)
    scaled = points * (_ASPECT, 1)
    for _ in range(60):
        apart = scaled[:, None] - scaled[None]
        distance = np.sqrt((apart**2).sum(axis=2)) + np.eye(n)
        # Two nodes in the very same place part by their rows.
        apart = np.where(
            (distance < 1e-9)[:, :, None],
            np.sign(np.subtract.outer(np.arange(n), np.arange(n)))[:, :, None] * 1e-3,
            apart,
        )
        distance = np.maximum(distance, 1e-3)
        push = np.clip((least - distance) / 2, 0, None) / distance
        scaled = np.clip(scaled + (apart * push[:, :, None]).sum(axis=1), 0, (_ASPECT, 1))
    return scaled / (_ASPECT, 1)
