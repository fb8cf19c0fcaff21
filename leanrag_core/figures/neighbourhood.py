"""The neighbourhood of a node as vis-network draws it: places, sizes and colours, all decided here; and as one file.

Positions are preset, so that the picture is the same each time and nothing moves. vis-network draws labels on a canvas
and tooltips as text; no text becomes HTML.
"""

import importlib.util
import math
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leanrag_core.figures.html import NOTHING, html, html_file
from leanrag_core.figures.palette import Palette
from leanrag_core.messages.catalog import ENGLISH
from leanrag_core.types.layer_scene import NearNode, Neighbourhood
from leanrag_core.types.visible import visible

_LONGEST_LABEL = 28
_MAX_LABELLED = 31  # the centre and its nearest nodes; the others say their name when they are pointed at
_ON_FIRST_RING = 10
_RING_WIDTH, _RING_HEIGHT = 210.0, 150.0  # px at the natural scale
_FAINT = 0.3  # opacity of relations that do not lead to the centre
# Nothing moves by itself, lines are straight; keyboard and zoom.
_OPTIONS: dict[str, Any] = {
    "autoResize": True,
    "physics": {"enabled": False},
    "layout": {"improvedLayout": False},
    "edges": {"smooth": False, "hoverWidth": 1, "selectionWidth": 1},
    "nodes": {"borderWidth": 1, "font": {"face": "Source Sans, system-ui, sans-serif", "multi": False}},
    "interaction": {"hover": True, "tooltipDelay": 150, "multiselect": False},
}
# A canvas does not wait for a type face.
_DRAW = """
document.fonts.load("15px 'Source Sans'").finally(() =>
  new globalThis.vis.Network(document.getElementById("graph"), values.graph, values.options));"""


@dataclass(frozen=True)
class VisGraph:
    """nodes and edges as vis-network takes them: JSON values, ids are texts."""

    nodes: tuple[dict[str, Any], ...]
    edges: tuple[dict[str, Any], ...]


def vis_graph(near: Neighbourhood, palette: Palette) -> VisGraph:
    """Return the drawing of a neighbourhood: the centre in the colour of a seed, lines as wide as relations are
    strong."""
    places = _places(near)
    strongest = max((relation.strength for relation in near.relations), default=1.0)
    nodes = tuple(
        {
            "id": node.id,
            "label": _label(node, labelled=position < _MAX_LABELLED),
            "title": _about(node),
            "x": round(x, 1),
            "y": round(y, 1),
            "shape": "dot",
            "size": (20, 12, 8)[min(node.hops, 2)],
            "color": _colours(palette, node.hops),
            "font": {
                "color": palette["text"],
                "size": 15 if node.hops == 0 else 13,
                "strokeWidth": 3,
                "strokeColor": palette["bg"],
            },
        }
        for position, (node, (x, y)) in enumerate(zip(near.nodes, places, strict=True))
    )
    edges = tuple(
        {
            "id": relation.id,
            "from": near.nodes[relation.source].id,
            "to": near.nodes[relation.target].id,
            "width": round(1 + 5 * relation.strength / strongest, 2),
            "title": visible(f"{relation.kind or 'relation'}, {_strength(near.layer, relation.strength)}"),
            "dashes": bool(near.layer),
            "color": {
                "color": palette["inter" if near.layer else "base"],
                "highlight": palette["prim"],
                "opacity": 1.0 if 0 in (relation.source, relation.target) else _FAINT,
            },
        }
        for relation in near.relations
    )
    return VisGraph(nodes, edges)


def neighbourhood_page(
    graph: VisGraph, palette: Palette, *, title: str, note: str = "", language: str = ENGLISH
) -> str:
    """Return the graph as an HTML file with vis-network in it. title: of the window; note: shown in a corner."""
    style = (
        f"body{{margin:0;background:{palette['bg']}}}#graph{{height:100vh}}"
        f".note{{position:fixed;left:12px;bottom:8px;margin:0;font:14px system-ui;color:{palette['mute']}}}"
    )
    library = _vis_network()
    return html_file(
        html('<div id="graph"></div>{}', html('<p class="note">{}</p>', note) if note else NOTHING),
        title=title,
        language=language,
        styles=library.with_name("vis-network.css").read_text(encoding="utf-8") + style,
        script=library.read_text(encoding="utf-8") + _DRAW,
        values={"graph": asdict(graph), "options": _OPTIONS},
    )


def _vis_network() -> Path:
    """Return the script that pyvis brings; importing pyvis would load IPython."""
    package = importlib.util.find_spec("pyvis")
    assert package is not None, "pyvis is in requirements.txt"
    return Path(str(package.origin)).parent / "templates/lib/vis-9.1.2/vis-network.min.js"


def _places(near: Neighbourhood) -> list[tuple[float, float]]:
    """Return where each node is drawn: the centre in the middle, the others on rings, nearest first."""
    places, ring = [(0.0, 0.0)], 1
    while len(places) < len(near.nodes):
        on_ring = min(_ON_FIRST_RING * ring, len(near.nodes) - len(places))
        turn = 0.5 if ring % 2 else 0.25
        angles = [2 * math.pi * (n + turn) / on_ring for n in range(on_ring)]
        places += [(_RING_WIDTH * ring * math.cos(angle), _RING_HEIGHT * ring * math.sin(angle)) for angle in angles]
        ring += 1
    return places


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


MAX_NODES, MAX_EDGES = 250, 400  # more relations than that hide the tree
_LONGEST_NAME, _LONGEST_ABOUT = 28, 400
_TOOLTIP_WIDTH = 80  # characters
_MOST_LABELLED = 120
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
    places = _places_of_index(nodes)
    strongest = max((edge.strength for edge in edges), default=1.0) or 1.0
    drawn = tuple(
        {
            "id": node.id,
            "label": _shortened(node.name, _LONGEST_NAME) if place < _MOST_LABELLED else " ",
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


def _places_of_index(nodes: Sequence[DrawnNode]) -> list[tuple[float, float]]:
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
