"""What one and two relations lead to from a node, the strongest first, with arrays alone: a hub has thousands."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.queries.scene_request import SceneRequest
from leanrag_core.types.graph import Layer

_MOST_FIRST, _MOST_SECOND = 12, 17  # drawn nodes one and two relations away


@dataclass(frozen=True)
class Reach:
    """first, second: rows one and two relations away that are to be drawn, the strongest first. within_reach: how many
    there are in all."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    within_reach: int


def strengths(layer: Layer) -> np.ndarray:
    """Return lambda of each relation, or its weight in layer 0; (r,)."""
    return layer.weights if layer.number == 0 else np.asarray(layer.relations["strength"].to_numpy())


def reach_of(layer: Layer, row: int, request: SceneRequest) -> Reach:
    """Return the nodes of the layer that one and two relations join with that row, as far as the filters let them
    through.
    """
    if not request.hops:
        return Reach((), (), 0)
    known = np.zeros(len(layer), dtype=bool)
    known[row] = True
    first = _reached(layer, np.array([row]), known, request)
    known[first] = True
    second = np.zeros(0, dtype=np.int64)
    if request.hops > 1:
        second = _reached(layer, first[:_MOST_FIRST], known, request)
    return Reach(tuple(first[:_MOST_FIRST].tolist()), tuple(second[:_MOST_SECOND].tolist()), len(first) + len(second))


def _reached(layer: Layer, rows: np.ndarray, known: np.ndarray, request: SceneRequest) -> np.ndarray:
    """Return the rows joined with those rows and not known yet, (k,), the strongest relation first, then the smaller
    row.
    """
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    relations = np.unique(np.concatenate([layer.relations_of(row) for row in rows]))
    relations = request.passing_relations(layer.number, relations)
    others, strength = layer.ends[relations].ravel(), np.repeat(strengths(layer)[relations], 2)
    new = ~known[others]
    others, strength = others[new], strength[new]
    order = np.lexsort((others, -strength))
    nodes, at = np.unique(others[order], return_index=True)
    return request.passing(layer.number, nodes[np.argsort(at)].astype(np.int64))
