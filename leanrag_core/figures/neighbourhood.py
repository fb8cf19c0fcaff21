"""The neighbourhood of a node as vis-network draws it: places, sizes and colours, all decided here.

Positions are preset, so that the picture is the same each time and nothing moves. vis-network draws labels on a canvas
and tooltips as text; no text becomes HTML.
"""

from dataclasses import dataclass
from typing import Any

from leanrag_core.figures.palette import Palette
from leanrag_core.types.neighbourhood import NearNode, Neighbourhood
from leanrag_core.types.visible import visible

_LONGEST_LABEL = 28
_LABELLED = 120  # nodes of the smaller figures, which all have a label; in larger ones the centre's own neighbours do
_SIDE = 900.0  # of the drawing, in its own units


@dataclass(frozen=True)
class VisGraph:
    """nodes and edges as vis-network takes them: JSON values, ids are texts."""

    nodes: tuple[dict[str, Any], ...]
    edges: tuple[dict[str, Any], ...]


def vis_graph(near: Neighbourhood, palette: Palette) -> VisGraph:
    """The drawing of a neighbourhood: the centre in the colour of a seed, lines as wide as relations are strong."""
    places = _places(near)
    strongest = max((relation.strength for relation in near.relations), default=1.0)
    nodes = tuple(
        {
            "id": node.id,
            "label": _label(node, labelled=len(near.nodes) <= _LABELLED or node.hops <= 1),
            "title": _about(node),
            "x": round(x, 1),
            "y": round(y, 1),
            "shape": "dot",
            "size": (20, 12, 8)[min(node.hops, 2)],
            "color": _colours(palette, node.hops),
            "font": {"color": palette["text"], "size": 15 if node.hops == 0 else 13, "strokeWidth": 0},
        }
        for node, (x, y) in zip(near.nodes, places, strict=True)
    )
    edges = tuple(
        {
            "id": relation.id,
            "from": near.nodes[relation.source].id,
            "to": near.nodes[relation.target].id,
            "width": round(1 + 5 * relation.strength / strongest, 2),
            "title": visible(f"{relation.kind or 'relation'}, {_strength(near.layer, relation.strength)}"),
            "dashes": bool(near.layer),
            "color": {"color": palette["inter" if near.layer else "base"], "highlight": palette["prim"]},
        }
        for relation in near.relations
    )
    return VisGraph(nodes, edges)


def vis_options() -> dict[str, Any]:
    """Options of vis-network: nothing moves by itself, straight lines, keyboard and zoom."""
    return {
        "autoResize": True,
        "physics": {"enabled": False},
        "layout": {"improvedLayout": False},
        "edges": {"smooth": False, "hoverWidth": 1, "selectionWidth": 1},
        "nodes": {"borderWidth": 1, "font": {"face": "Source Sans, system-ui, sans-serif", "multi": False}},
        "interaction": {"hover": True, "tooltipDelay": 150, "multiselect": False},
    }


def _places(near: Neighbourhood) -> list[tuple[float, float]]:
    """Where each node stands, by the spring layout of networkx with a fixed seed."""
    import networkx as nx

    if len(near.nodes) == 1:
        return [(0.0, 0.0)]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(near.nodes)))
    graph.add_edges_from((relation.source, relation.target) for relation in near.relations)
    layout = nx.spring_layout(graph, seed=0, iterations=80, k=2.2 / len(near.nodes) ** 0.5)
    side = _SIDE * max(1.0, (len(near.nodes) / 60) ** 0.5)
    return [(float(layout[n][0]) * side * 0.6, float(layout[n][1]) * side * 0.4) for n in range(len(near.nodes))]


def _label(node: NearNode, *, labelled: bool) -> str:
    if not labelled:
        return " "  # an empty label would show the id
    name = visible(node.name)
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1].rstrip()}…"


def _about(node: NearNode) -> str:
    return visible(f"{node.name}, {node.type}" if node.type not in ("", "unknown", "aggregated") else node.name)


def _strength(layer: int, strength: float) -> str:
    return f"λ {strength:,.0f}" if layer else f"weight {strength:g}"


def _colours(palette: Palette, hops: int) -> dict[str, Any]:
    fill = palette[("seed", "path", "tree")[min(hops, 2)]]
    return {
        "background": fill,
        "border": palette["bg"],
        "highlight": {"background": palette["prim"], "border": palette["text"]},
        "hover": {"background": palette["prim"], "border": palette["text"]},
    }
