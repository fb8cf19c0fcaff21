"""The neighbourhood of a node in its layer, the strongest relations first."""

import numpy as np
import pyarrow as pa

from leanrag_core.types.graph import Layer, Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import NearNode, NearRelation, Neighbourhood

_MOST_HOPS = 2


def neighbourhood(index: Index, place: Place, *, max_nodes: int) -> Neighbourhood:
    """Return the node with what one and two relations lead to: at most max_nodes, the nearest and strongest of them."""
    layer = index.layers[place.layer]
    strength = layer.strengths
    hops_of, left_out = {place.row: 0}, 0
    frontier = [place.row]
    for hop in range(1, _MOST_HOPS + 1):
        reached = _reached(layer, frontier, hops_of, strength)
        room = max_nodes - len(hops_of)
        frontier = reached[:room]
        left_out += len(reached) - len(frontier)
        hops_of |= dict.fromkeys(frontier, hop)
        if left_out:
            break
    rows = list(hops_of)
    cells = layer.entities.select(["id", "name", "type"]).take(pa.array(rows))
    ids, names, types = (cells[column].to_pylist() for column in cells.column_names)
    nodes = tuple(
        NearNode(id_, name, type_ or "", hops_of[row])
        for row, id_, name, type_ in zip(rows, ids, names, types, strict=True)
    )
    position_of = {row: position for position, row in enumerate(rows)}
    inside = layer.relations_inside(rows)
    texts = layer.relations.select(["id", "kind"]).take(pa.array(inside)).to_pydict()
    relations = tuple(
        NearRelation(id_, position_of[source], position_of[target], float(strength[row]), kind or "")
        for id_, kind, row, (source, target) in zip(
            texts["id"], texts["kind"], inside.tolist(), layer.ends[inside].tolist(), strict=True
        )
    )
    return Neighbourhood(layer.number, nodes, relations, left_out)


def _reached(layer: Layer, frontier: list[int], known: dict[int, int], strength: np.ndarray) -> list[int]:
    """Return the nodes that a relation joins with the frontier and that are not known yet, the strongest relation
    first.

    strength: (r,), see Layer.strengths.
    """
    best: dict[int, float] = {}
    for row in frontier:
        relations = layer.relations_of(row)
        for other, value in zip(layer.other_ends(relations, row).tolist(), strength[relations].tolist(), strict=True):
            if other not in known:
                best[other] = max(best.get(other, 0.0), value)
    return sorted(best, key=lambda row: (-best[row], row))
