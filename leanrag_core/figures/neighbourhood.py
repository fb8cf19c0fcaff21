"""The neighbourhood of a node as vis-network draws it: places, sizes and colours, all decided here; and any graph of
vis-network as one file.

Positions are preset, so that the picture is the same each time and nothing moves. vis-network draws labels on a canvas
and tooltips as text; no text becomes HTML.
"""

import importlib.util
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from leanrag_core.figures.html import NOTHING, html, html_file
from leanrag_core.figures.palette import Palette
from leanrag_core.messages.catalog import ENGLISH
from leanrag_core.types.layer_scene import NearNode, Neighbourhood
from leanrag_core.types.visible import shortened, visible

_LONGEST_LABEL = 28
_MAX_LABELLED = 31  # the centre and its nearest nodes; the others show their name when a person points at them
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
            "title": _about(node),
            "color": _colours(palette, node.hops),
            "label": named(node.name if position < _MAX_LABELLED else ""),
            **dot(palette, place, size=(20, 12, 8)[min(node.hops, 2)], letters=15 if node.hops == 0 else 13),
        }
        for position, (node, place) in enumerate(zip(near.nodes, places, strict=True))
    )
    edges = []
    for relation in near.relations:
        source, target = (near.nodes[end].id for end in (relation.source, relation.target))
        title = visible(f"{relation.kind or 'relation'}, {_strength(near.layer, relation.strength)}")
        opacity = 1.0 if 0 in (relation.source, relation.target) else _FAINT
        colours = line_colours(palette, "inter" if near.layer else "base", opacity=opacity)
        width = round(1 + 5 * relation.strength / strongest, 2)
        ends = {"id": relation.id, "from": source, "to": target}
        edges.append({**ends, "width": width, "title": title, "dashes": bool(near.layer), "color": colours})
    return VisGraph(nodes, tuple(edges))


def dot(palette: Palette, place: tuple[float, float], *, size: int, letters: float, **more: float) -> dict[str, Any]:
    """Return how a node is drawn: a disc at x and y px, with a name of that many px. more: of the name's font."""
    font = {"color": palette["text"], "size": letters, "strokeWidth": 3, "strokeColor": palette["bg"], **more}
    return {"x": round(place[0], 1), "y": round(place[1], 1), "shape": "dot", "size": size, "font": font}


def line_colours(palette: Palette, colour: str, *, opacity: float) -> dict[str, Any]:
    """Return the colours of a line. colour: a name of the palette."""
    return {"color": palette[colour], "highlight": palette["prim"], "opacity": opacity}


def named(name: str) -> str:
    """Return the name as it is written at a node, cut where it is long."""
    return shortened(visible(name), _LONGEST_LABEL) or " "  # an empty label would show the id


def vis_page(
    graph: VisGraph, palette: Palette, *, title: str, corner: Markup = NOTHING, style: str = "", language: str = ENGLISH
) -> str:
    """Return the graph as an HTML file with vis-network in it. title: of the window; corner, style: what stands in a
    corner of the page, and how."""
    page_style = f"body{{margin:0;background:{palette['bg']}}}#graph{{height:100vh}}"
    library = _vis_network()
    return html_file(
        html('<div id="graph"></div>{}', corner),
        title=title,
        language=language,
        styles=library.with_name("vis-network.css").read_text(encoding="utf-8") + page_style + style,
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


def _about(node: NearNode) -> str:
    return visible(f"{node.name}, {node.type}" if node.type not in ("", "unknown", "aggregated") else node.name)


def _strength(layer: int, strength: float) -> str:
    return f"λ {strength:,.0f}" if layer else f"weight {strength:g}"


def _colours(palette: Palette, hops: int) -> dict[str, Any]:
    fill = palette[("seed", "path", "tree")[min(hops, 2)]]
    picked = {"background": palette["prim"], "border": palette["text"]}
    return {"background": fill, "border": palette["bg"], "highlight": picked, "hover": picked}
