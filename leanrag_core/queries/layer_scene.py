"""Which nodes and relations a picture of the graph in layers shows around one node.

Few enough to be read: some boxes of each aggregated layer, and the entities of the clusters that are open. Everything
else is counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from leanrag_core.queries.scene_nodes import ChosenNode, chosen_nodes
from leanrag_core.queries.scene_reach import reach_of, strengths
from leanrag_core.queries.scene_request import SceneRequest
from leanrag_core.types.graph import Layer, Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import FARTHER, Scene, SceneLimits, SceneLink, SceneNode

WIDE = SceneLimits(boxes=5, clouds=5, dots=62)
_MOST_FAINT, _MOST_LIT, _MOST_ARCS = 60, 44, 5  # relations drawn: far from the focus, near it, of an aggregated layer


def layer_scene(index: Index, request: SceneRequest, limits: SceneLimits = WIDE) -> Scene:
    """Return the scene around the focus: its ancestors, what is within its hops, and the clusters that are open."""
    reach = reach_of(index.layers[request.focus.layer], request.focus.row, request)
    chosen = chosen_nodes(index, request, reach, limits)
    nodes = _nodes(index, request, chosen.nodes)
    totals = tuple(_n_allowed(request, layer) for layer in index.layers)
    return Scene(nodes, _links(index, request, nodes), totals, chosen.open_ids, reach.within_reach)


def _n_allowed(request: SceneRequest, layer: Layer) -> int:
    mask = request.allows(layer.number)
    return len(layer) if mask is None else int(mask.sum())


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
        at = {node.row: position for position, node in enumerate(nodes) if node.layer == layer.number}
        relations = request.passing_relations(layer.number, layer.relations_inside(list(at)))
        ends = layer.ends[relations]
        kinds = layer.relations["kind"].take(pa.array(relations)).to_pylist()
        drawn = [
            _link(layer.number, nodes, at[source], at[target], float(strength), kind or "")
            for (source, target), strength, kind in zip(ends.tolist(), strengths(layer)[relations], kinds, strict=True)
        ]
        drawn.sort(key=lambda link: (link.hops, -link.strength, link.source, link.target))
        links += _thinned(drawn, nodes) if layer.number == 0 else _arcs(drawn, nodes)
    return tuple(links)


def _link(layer: int, nodes: Sequence[SceneNode], source: int, target: int, strength: float, kind: str) -> SceneLink:
    near, far = sorted((nodes[source].hops, nodes[target].hops))
    hops = far if near < 2 and far <= 2 else FARTHER
    return SceneLink(source, target, layer, strength, kind, max(1, hops))


def _thinned(links: Iterable[SceneLink], nodes: Sequence[SceneNode]) -> list[SceneLink]:
    """Keep the relations at the focus, the strongest of those a hop farther, and those far from it within a cluster."""
    links = list(links)
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
