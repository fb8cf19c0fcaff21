"""The nodes of a picture of the graph in layers, chosen from the base upwards.

Entities are drawn in the clusters of layer 1 that are open; the boxes of each layer are first the parents of what is
drawn below them, then what is near the focus, then the largest.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from leanrag_core.queries.scene_reach import Reach, strengths
from leanrag_core.queries.scene_request import SceneRequest
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import FARTHER, SceneLimits

_OPEN_BY_ITSELF = 2  # clusters that are open at first where the focus is above layer 0
_FOCUS_SHARE = 1.5  # of the entities: the focus's own cluster has so many times those of another
_GROWN_SHARE = 2.5


@dataclass(frozen=True)
class ChosenNode:
    """A node to draw. rank: within its layer, or within its cluster in layer 0; smaller is drawn first."""

    place: Place
    hops: int
    rank: int


@dataclass(frozen=True)
class Chosen:
    """nodes: to draw. open_ids: opened nodes, that used longest ago first."""

    nodes: tuple[ChosenNode, ...]
    open_ids: tuple[str, ...]


def chosen_nodes(index: Index, request: SceneRequest, reach: Reach, limits: SceneLimits) -> Chosen:
    """Choose the nodes to draw: at most limits.boxes of each aggregated layer, limits.dots entities of open
    clusters.
    """
    hops = _hops(index, request.focus, reach)
    top = len(index.layers) - 1
    if top == 0:
        return Chosen((ChosenNode(request.focus, 0, 0),), ())
    line = {request.focus.layer: request.focus.row, **dict(index.ancestors(request.focus.layer, request.focus.row))}
    clusters = _open_clusters(index, request, reach, limits)
    nodes = _entities(index, request, hops, clusters, limits)
    below = clusters
    for number in range(1, top + 1):
        rows = _boxes(index, request, reach, line, number, below, limits.boxes)
        nodes += [
            ChosenNode(Place(number, row), hops.get(Place(number, row), FARTHER), rank) for rank, row in enumerate(rows)
        ]
        below = [int(index.layers[number].parent[row]) for row in rows] if number < top else []
    drawn = {node.place for node in nodes}
    kept = [place for place in request.opened if place in drawn and (place.layer > 1 or place.row in clusters)]
    return Chosen(tuple(nodes), tuple(index.layers[place.layer].entities["id"][place.row].as_py() for place in kept))


def _hops(index: Index, focus: Place, reach: Reach) -> dict[Place, int]:
    """Return the hops of the nodes near the focus: by relations in its layer, by tree links below it."""
    hops = {Place(focus.layer, row): 2 for row in reach.second}
    for steps in (2, 1):
        if focus.layer >= steps:
            rows = np.array([focus.row])
            for layer in range(focus.layer, focus.layer - steps, -1):
                rows = np.concatenate([index.children_of(layer, row) for row in rows])
            hops |= {Place(focus.layer - steps, row): steps for row in rows.tolist()}
    hops |= {Place(focus.layer, row): 1 for row in reach.first}
    return hops | {focus: 0}


def _open_clusters(index: Index, request: SceneRequest, reach: Reach, limits: SceneLimits) -> list[int]:
    """Return the rows of the clusters of layer 1 that are open, the most important first: the focus's own, those opened
    by hand (the latest first), those of pinned entities, then those that hold most of what is near the focus.
    """
    layer, focus = index.layers[0], request.focus
    own: list[int] = []
    near: list[int] = []
    if focus.layer == 0:
        own = [int(layer.parent[focus.row])]
        weight: dict[int, int] = {}
        for rows, value in ((reach.first, 3), (reach.second, 1)):
            for cluster in layer.parent[list(rows)].tolist():
                weight[cluster] = weight.get(cluster, 0) + value
        near = sorted(weight, key=lambda cluster: (-weight[cluster], cluster))
    elif focus.layer == 1:
        own, near = [focus.row], list(reach.first[:_OPEN_BY_ITSELF])
    else:
        near = _descendants(index, request, focus, 1)[:_OPEN_BY_ITSELF]
    by_hand = [place.row for place in reversed(request.opened) if place.layer == 1]
    pinned = [int(layer.parent[place.row]) for place in request.pinned if place.layer == 0]
    clusters = _distinct([*own, *by_hand, *pinned, *near])
    mask = request.allows(1)
    kept = [row for row in clusters if mask is None or mask[row] or row in own]
    return kept[: limits.clouds]


def _descendants(index: Index, request: SceneRequest, place: Place, layer: int) -> list[int]:
    """Return the rows of a lower layer below that node, those with most entities below them first."""
    rows = np.array([place.row])
    for number in range(place.layer, layer, -1):
        rows = np.concatenate([index.children_of(number, row) for row in rows])
    return list(_largest(index, layer, request.passing(layer, rows)).tolist())


def _largest(index: Index, layer: int, rows: np.ndarray) -> np.ndarray:
    """Return the rows, those with most base entities below them first; (k,) int. rows: (k,) of the layer."""
    return rows[np.argsort(-index.leaf_counts[layer][rows], kind="stable")]


def _entities(
    index: Index, request: SceneRequest, hops: dict[Place, int], clusters: list[int], limits: SceneLimits
) -> list[ChosenNode]:
    """Return the entities of the open clusters: what is near the focus or pinned, then those with most relations."""
    shares = [
        _GROWN_SHARE if request.grown == Place(1, row) else _FOCUS_SHARE if at == 0 else 1.0
        for at, row in enumerate(clusters)
    ]
    nodes: list[ChosenNode] = []
    degrees = index.layers[0].degrees
    # A lone open cluster does not fill the picture with all that there is.
    parts = max(sum(shares), 3.0)
    for cluster, share in zip(clusters, shares, strict=True):
        rows = index.children_of(1, cluster)
        shown = set(request.passing(0, rows).tolist())
        shown |= {row for row in rows.tolist() if hops.get(Place(0, row)) == 0 or Place(0, row) in request.pinned}

        def order(row: int) -> tuple[int, bool, int, int]:
            place = Place(0, row)
            near = hops.get(place, FARTHER)
            return min(near, 1) if request.focus.layer else near, place not in request.pinned, -int(degrees[row]), row

        ranked = sorted(shown, key=order)
        must = sum(hops.get(Place(0, row), FARTHER) < FARTHER for row in ranked) if request.focus.layer == 0 else 0
        must = max(must, sum(Place(0, row) in request.pinned for row in ranked))
        room = max(must, int(limits.dots * share / parts))
        nodes += [
            ChosenNode(Place(0, row), hops.get(Place(0, row), FARTHER), rank) for rank, row in enumerate(ranked[:room])
        ]
    return nodes


def _boxes(
    index: Index, request: SceneRequest, reach: Reach, line: dict[int, int], number: int, below: list[int], most: int
) -> list[int]:
    """Return the rows of the boxes of a layer, the most important first."""
    kept = _distinct([*([line[number]] if number in line else []), *below])
    for row in _wanted_boxes(index, request, reach, line, number):
        if len(kept) >= most:
            break
        if row not in kept and _passes(request, number, row):
            kept.append(row)
    return kept[:most]


def _passes(request: SceneRequest, number: int, row: int) -> bool:
    mask = request.allows(number)
    return mask is None or bool(mask[row])


def _wanted_boxes(
    index: Index, request: SceneRequest, reach: Reach, line: dict[int, int], number: int
) -> Iterator[int]:
    """Yield the rows of a layer in the order in which they are wanted; the first that fit are drawn."""
    focus = request.focus
    yield from (place.row for place in request.pinned if place.layer == number)
    if focus.layer == number:
        yield from reach.first
    for place in reversed(request.opened):
        if place.layer == number + 1:
            yield from _descendants(index, request, place, number)
    if focus.layer > number:
        yield from _descendants(index, request, focus, number)
    if number in line:
        yield from _strongest_neighbours(index, request, number, line[number])
    if number + 1 in line:
        yield from _descendants(index, request, Place(number + 1, line[number + 1]), number)
    yield from _largest(index, number, np.arange(len(index.layers[number]))).tolist()


def _strongest_neighbours(index: Index, request: SceneRequest, number: int, row: int) -> list[int]:
    layer = index.layers[number]
    relations = request.passing_relations(number, layer.relations_of(row))
    strength = strengths(layer)[relations]
    ends = layer.ends[relations]
    others = np.where(ends[:, 0] == row, ends[:, 1], ends[:, 0])
    order = np.lexsort((others, -strength))
    return _distinct(others[order].tolist())


def _distinct(rows: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(rows))
