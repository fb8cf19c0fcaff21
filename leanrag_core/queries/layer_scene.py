"""Which nodes and relations a picture of the graph in layers shows around one node.

Few enough to be read: some boxes of each aggregated layer, and the entities of the clusters that are open. Everything
else is counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from leanrag_core.types.graph import Layer, Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import FARTHER, Scene, SceneLimits, SceneLink, SceneNode


@dataclass(frozen=True)
class SceneRequest:
    """hops: 0 to 2. opened: opened nodes, the least recently used first. grown: the cluster of which more is to be
    drawn. allowed, allowed_relations: for each layer a mask of the rows that the filters let through, None where all
    pass.
    """

    focus: Place
    hops: int = 2
    opened: tuple[Place, ...] = ()
    grown: Place | None = None
    pinned: tuple[Place, ...] = ()
    allowed: tuple[np.ndarray | None, ...] = ()
    allowed_relations: tuple[np.ndarray | None, ...] = ()

    def passing(self, layer: int, rows: np.ndarray) -> np.ndarray:
        """Return those of the entities, (k,) int rows, that the filters let through, in their order."""
        return _let_through(self.allowed, layer, rows)

    def passing_relations(self, layer: int, rows: np.ndarray) -> np.ndarray:
        """Return those of the relations, (k,) int rows, that the filters let through, in their order."""
        return _let_through(self.allowed_relations, layer, rows)


def _let_through(masks: Sequence[np.ndarray | None], layer: int, rows: np.ndarray) -> np.ndarray:
    """Return those of the rows, (k,) int, that the layer's mask, (n,) bool, lets through; all where it has none."""
    mask = masks[layer] if layer < len(masks) else None
    return rows if mask is None else rows[mask[rows]]


_MOST_FIRST, _MOST_SECOND = 12, 17  # drawn nodes one and two relations away


@dataclass(frozen=True)
class Reach:
    """first, second: rows one and two relations away that are to be drawn, the strongest first. within_reach: how many
    there are in all."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    within_reach: int


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
    others, strength = layer.ends[relations].ravel(), np.repeat(layer.strengths[relations], 2)
    new = ~known[others]
    others, strength = others[new], strength[new]
    order = np.lexsort((others, -strength))
    nodes, at = np.unique(others[order], return_index=True)
    return request.passing(layer.number, nodes[np.argsort(at)].astype(np.int64))


_OPEN_BY_ITSELF = 2  # clusters that are open at first where the focus is above layer 0
_FOCUS_SHARE = 1.5  # entities of the focus's own cluster, in times those of another
_GROWN_SHARE = 2.5


@dataclass(frozen=True)
class ChosenNode:
    """A node to draw. rank: within its layer, or within its cluster in layer 0; smaller is drawn first."""

    place: Place
    hops: int
    rank: int


@dataclass(frozen=True)
class Chosen:
    """nodes: to draw. open_ids: opened nodes, the least recently used first."""

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
    open_ids = (
        index.layers[place.layer].entity_cells.value("id", place.row)
        for place in request.opened
        if place in drawn and (place.layer > 1 or place.row in clusters)
    )
    return Chosen(tuple(nodes), tuple(open_ids))


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
    focus_clusters: list[int] = []
    near: list[int] = []
    if focus.layer == 0:
        focus_clusters = [int(layer.parent[focus.row])]
        weight = Counter(layer.parent[[*reach.first * 3, *reach.second]].tolist())
        near = sorted(weight, key=lambda cluster: (-weight[cluster], cluster))
    elif focus.layer == 1:
        focus_clusters, near = [focus.row], list(reach.first[:_OPEN_BY_ITSELF])
    else:
        near = _descendants(index, request, focus, 1)[:_OPEN_BY_ITSELF]
    by_hand = [place.row for place in reversed(request.opened) if place.layer == 1]
    pinned = [int(layer.parent[place.row]) for place in request.pinned if place.layer == 0]
    clusters = _distinct([*focus_clusters, *by_hand, *pinned, *near])
    passing = request.passing(1, np.array(clusters, dtype=np.int64)).tolist()
    return [row for row in clusters if row in passing or row in focus_clusters][: limits.clouds]


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
        visible = set(request.passing(0, rows).tolist())
        visible |= {row for row in rows.tolist() if hops.get(Place(0, row)) == 0 or Place(0, row) in request.pinned}

        def order(row: int) -> tuple[int, bool, int, int]:
            place = Place(0, row)
            near = hops.get(place, FARTHER)
            return min(near, 1) if request.focus.layer else near, place not in request.pinned, -int(degrees[row]), row

        ranked = sorted(visible, key=order)
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
    boxes = _distinct([line[number], *below] if number in line else below)
    for row in _wanted_boxes(index, request, reach, line, number):
        if len(boxes) >= most:
            break
        if row not in boxes and len(request.passing(number, np.array([row]))):
            boxes.append(row)
    return boxes[:most]


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
    others = layer.other_ends(relations, row)
    order = np.lexsort((others, -layer.strengths[relations]))
    return _distinct(others[order].tolist())


def _distinct(rows: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(rows))


WIDE = SceneLimits(boxes=5, clouds=5, dots=62)
_MOST_FAINT, _MOST_LIT, _MOST_ARCS = 60, 44, 5  # relations drawn: far from the focus, near it, of an aggregated layer


def layer_scene(index: Index, request: SceneRequest) -> Scene:
    """Return the scene around the focus: its ancestors, what is within its hops, and the clusters that are open."""
    reach = reach_of(index.layers[request.focus.layer], request.focus.row, request)
    chosen = chosen_nodes(index, request, reach, WIDE)
    nodes = _nodes(index, request, chosen.nodes)
    totals = tuple(len(request.passing(layer.number, np.arange(len(layer)))) for layer in index.layers)
    return Scene(nodes, _links(index, request, nodes), totals, chosen.open_ids, reach.within_reach)


def _nodes(index: Index, request: SceneRequest, chosen: Sequence[ChosenNode]) -> tuple[SceneNode, ...]:
    ordered = sorted(chosen, key=lambda node: (-node.place.layer, node.rank, node.place.row))
    position = {node.place: at for at, node in enumerate(ordered)}
    focus_line = {request.focus, *(Place(*above) for above in index.ancestors(request.focus.layer, request.focus.row))}
    nodes: list[SceneNode] = []
    for number in sorted({node.place.layer for node in ordered}, reverse=True):
        layer, group = index.layers[number], [node for node in ordered if node.place.layer == number]
        rows = pa.array([node.place.row for node in group])
        ids, names, types = (layer.entities[column].take(rows).to_pylist() for column in ("id", "name", "type"))
        for node, id_, name, type_ in zip(group, ids, names, types, strict=True):
            above = Place(number + 1, int(layer.parent[node.place.row])) if len(layer.parent) else None
            nodes.append(
                SceneNode(
                    layer=number,
                    row=node.place.row,
                    id=id_,
                    name=name,
                    type=type_ or "",
                    hops=node.hops,
                    parent=position.get(above) if above else None,
                    children=_n_children(index, request, node.place),
                    above_focus=node.place in focus_line,
                    pinned=node.place in request.pinned,
                    rank=node.rank,
                )
            )
    parents = {node.parent for node in nodes}
    return tuple(replace(node, is_open=at in parents) for at, node in enumerate(nodes))


def _n_children(index: Index, request: SceneRequest, place: Place) -> int:
    return len(request.passing(place.layer - 1, index.children_of(place.layer, place.row))) if place.layer else 0


def _links(index: Index, request: SceneRequest, nodes: Sequence[SceneNode]) -> tuple[SceneLink, ...]:
    links: list[SceneLink] = []
    for layer in index.layers:
        position_of = {node.row: position for position, node in enumerate(nodes) if node.layer == layer.number}
        relations = request.passing_relations(layer.number, layer.relations_inside(list(position_of)))
        ends = layer.ends[relations]
        kinds = layer.relations["kind"].take(pa.array(relations)).to_pylist()
        layer_links = [
            _link(layer.number, nodes, position_of[source], position_of[target], float(strength), kind or "")
            for (source, target), strength, kind in zip(ends.tolist(), layer.strengths[relations], kinds, strict=True)
        ]
        layer_links.sort(key=lambda link: (link.hops, -link.strength, link.source, link.target))
        links += _thinned(layer_links, nodes) if layer.number == 0 else _arcs(layer_links, nodes)
    return tuple(links)


def _link(layer: int, nodes: Sequence[SceneNode], source: int, target: int, strength: float, kind: str) -> SceneLink:
    near, far = sorted((nodes[source].hops, nodes[target].hops))
    hops = far if near < 2 and far <= 2 else FARTHER
    return SceneLink(source, target, layer, strength, kind, max(1, hops))


def _thinned(links: Sequence[SceneLink], nodes: Sequence[SceneNode]) -> list[SceneLink]:
    """Keep the relations at the focus, the strongest of those a hop farther, and those far from it within a cluster."""
    lit = [link for link in links if link.hops <= 2]
    faint = [
        link for link in links if link.hops > 2 and nodes[link.source].parent == nodes[link.target].parent is not None
    ]
    return lit[:_MOST_LIT] + faint[:_MOST_FAINT]


def _arcs(links: Iterable[SceneLink], nodes: Sequence[SceneNode]) -> list[SceneLink]:
    """Return the strongest relations of an aggregated layer, those at the focus or its ancestors first."""

    def order(link: SceneLink) -> tuple[bool, float]:
        return not (nodes[link.source].above_focus or nodes[link.target].above_focus), -link.strength

    return sorted(links, key=order)[:_MOST_ARCS]
