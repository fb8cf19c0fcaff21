"""An index as one picture: its upper layers and the entities with most relations, on rings around the root.

A picture of some hundred nodes can be read; what is beyond that is left out and counted.
"""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.figures.neighbourhood import VisGraph
from leanrag_core.figures.palette import Palette
from leanrag_core.types.visible import visible

MAX_NODES, MAX_EDGES = 250, 400  # more relations than that hide the tree
_LONGEST_LABEL, _LONGEST_ABOUT = 28, 400
_TOOLTIP_WIDTH = 80  # characters
_MAX_LABELLED = 120
_RING = 260.0  # px between two layers at the natural scale
_LEAST_ARC = 26.0  # px between two nodes of a ring


@dataclass(frozen=True)
class DrawnNode:
    """A node of the picture. above: place of its parent in the list, None for the root. layer: 0 at the base."""

    id: str
    name: str
    about: str
    layer: int
    above: int | None


@dataclass(frozen=True)
class DrawnEdge:
    """A relation of the picture; source and target are places in the list of nodes."""

    id: str
    source: int
    target: int
    layer: int
    strength: float
    about: str


def index_graph(nodes: Sequence[DrawnNode], edges: Sequence[DrawnEdge], palette: Palette) -> VisGraph:
    """Return the picture of these nodes, a parent before its children, and of their relations."""
    places = _places(nodes)
    strongest = max((edge.strength for edge in edges), default=1.0) or 1.0
    drawn = tuple(
        {
            "id": node.id,
            "label": _shortened(node.name, _LONGEST_LABEL) if place < _MAX_LABELLED else " ",
            "title": _tooltip(node.about),
            "x": round(x, 1),
            "y": round(y, 1),
            "shape": "dot",
            "size": min(8 + 7 * node.layer, 30),
            "color": palette["tree" if node.layer else "path"] if node.above is not None else palette["lca"],
            "font": {
                "color": palette["text"],
                "size": 15 + 15 * min(node.layer, 2),
                "strokeWidth": 3,
                "strokeColor": palette["bg"],
            },
        }
        for place, (node, (x, y)) in enumerate(zip(nodes, places, strict=True))
    )
    links = tuple(
        {
            "id": f"parent-{node.id}",
            "from": node.id,
            "to": nodes[node.above].id,
            "width": 1,
            "dashes": True,
            "color": {"color": palette["tree"], "highlight": palette["prim"], "opacity": 0.5},
        }
        for node in nodes
        if node.above is not None
    )
    relations = tuple(
        {
            "id": edge.id,
            "from": nodes[edge.source].id,
            "to": nodes[edge.target].id,
            "width": round(1 + 4 * edge.strength / strongest, 2),
            "title": _tooltip(edge.about),
            "color": {
                "color": palette["inter" if edge.layer else "base"],
                "highlight": palette["prim"],
                "opacity": 0.35,
            },
        }
        for edge in edges
    )
    return VisGraph(drawn, (*links, *relations))


def _places(nodes: Sequence[DrawnNode]) -> list[tuple[float, float]]:
    """Return a ring for each layer; the children of a node share its part of the circle, as many leaves as they
    have."""
    children: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        if node.above is not None:
            children[node.above].append(place)
    leaves = [1] * len(nodes)
    for place in reversed(range(len(nodes))):
        if children[place]:
            leaves[place] = sum(leaves[child] for child in children[place])
    roots = [place for place, node in enumerate(nodes) if node.above is None]
    total = sum(leaves[root] for root in roots) or 1
    ring = max(_RING, _LEAST_ARC * total / (2 * math.pi * max(1, _depth(nodes))))
    places = [(0.0, 0.0)] * len(nodes)
    begins = [0.0] * len(nodes)
    depth = [0] * len(nodes)
    turn = 0.0
    for root in roots:
        begins[root] = turn
        turn += leaves[root]
    for place, node in enumerate(nodes):
        if node.above is not None:
            depth[place] = depth[node.above] + 1
        angle = 2 * math.pi * (begins[place] + leaves[place] / 2) / total
        radius = ring * depth[place] if len(roots) == 1 else ring * (depth[place] + 1)
        places[place] = (radius * math.cos(angle), radius * math.sin(angle))
        next_begin = begins[place]
        for child in children[place]:
            begins[child] = next_begin
            next_begin += leaves[child]
    return places


def _depth(nodes: Sequence[DrawnNode]) -> int:
    return max((node.layer for node in nodes), default=0)


def _tooltip(text: str) -> str:
    """Return the begin of the text in lines, since vis-network breaks none."""
    lines = _shortened(text, _LONGEST_ABOUT).splitlines()
    return "\n".join(textwrap.fill(line, _TOOLTIP_WIDTH) for line in lines)


def _shortened(text: str, limit: int) -> str:
    shown = visible(text)
    return shown if len(shown) <= limit else f"{shown[: limit - 1].rstrip()}…"
