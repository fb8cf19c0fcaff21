"""Rows of boxes of the graph in layers: in the order of the tree, parents above their children, never overlapping."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.types.layer_scene import SceneNode

_GAP = 12.0  # px between two boxes
_WIDEST, _WIDEST_LONE = 156.0, 206.0


@dataclass(frozen=True)
class Row:
    """nodes: positions in the scene, from left to right. left, right: px of the room for their boxes."""

    nodes: Sequence[int]
    left: float
    right: float


@dataclass(frozen=True)
class BoxPlace:
    """The middle and the width of a box, px."""

    node: int
    x: float
    width: float


def tree_order(nodes: Sequence[SceneNode], drawn: Sequence[int]) -> dict[int, list[int]]:
    """For each aggregated layer its drawn nodes from left to right: siblings together, what leads to the focus in the
    middle of them, the others by turns at its left and right."""
    rows: dict[int, list[int]] = {}
    for layer in sorted({nodes[at].layer for at in drawn if nodes[at].layer > 0}, reverse=True):
        above = {at: place for place, at in enumerate(rows.get(layer + 1, ()))}
        families: dict[int | None, list[int]] = {}
        for at in drawn:
            if nodes[at].layer == layer:
                parent = nodes[at].parent
                families.setdefault(parent if parent in above else None, []).append(at)
        ordered = sorted(families, key=lambda parent: len(above) if parent is None else above[parent])
        rows[layer] = [at for parent in ordered for at in _middle_out(nodes, families[parent])]
    return rows


def row_places(nodes: Sequence[SceneNode], row: Row, x_of: Mapping[int, float]) -> list[BoxPlace]:
    """The places of a row's boxes, each as near as there is room to the mean of its children, which have places."""
    n = len(row.nodes)
    if not n:
        return []
    slot = (row.right - row.left) / n
    width = min(slot - _GAP, _WIDEST_LONE if n == 1 else _WIDEST)
    wanted = []
    for place, at in enumerate(row.nodes):
        children = [x for child, x in x_of.items() if nodes[child].parent == at]
        wanted.append(float(np.mean(children)) if children else row.left + (place + 0.5) * slot)
    half = width / 2
    middles = apart(np.array(wanted), width + _GAP, row.left + half, row.right - half)
    return [BoxPlace(at, x, width) for at, x in zip(row.nodes, middles.tolist(), strict=True)]


def apart(wanted: np.ndarray, step: float, low: float, high: float) -> np.ndarray:
    """(n,) places in the given order, at least `step` apart and within the bounds, with the least sum of squared
    distances from those wanted."""
    from scipy.optimize import isotonic_regression  # a fifth of a second to import

    shift = step * np.arange(len(wanted))
    fitted = isotonic_regression(wanted - shift).x.clip(low, max(low, high - shift[-1]))
    return np.asarray(fitted + shift)


def _middle_out(nodes: Sequence[SceneNode], family: Sequence[int]) -> list[int]:
    ranked = sorted(family, key=lambda at: (not nodes[at].above_focus, nodes[at].rank, at))
    return [*reversed(ranked[1::2]), *ranked[0::2]]
