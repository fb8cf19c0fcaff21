"""The whole hierarchy as vis-network draws it: a ring for each layer around the root, and the names that have room."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from leanrag_core.figures.drawing import boxes_overlap, text_width
from leanrag_core.figures.html import html, joined
from leanrag_core.figures.neighbourhood import VisGraph, dot, line_colours, named
from leanrag_core.figures.palette import Palette
from leanrag_core.types.visible import shortened, visible

MAX_NODES, MAX_EDGES = 250, 400  # more relations than that hide the tree
_LONGEST_ABOUT = 400
_TOOLTIP_WIDTH = 80  # characters
_RING = 260.0  # px between two layers at the natural scale
_LEAST_ARC = 26.0  # px between two nodes of a ring
_INNER = 0.6  # power of a ring's share of the rings: below 1, names on inner rings have more room
_READABLE = 900.0  # px from the root to the rim of a picture whose names are read at first sight
_LINE = 1.25  # height of a line of a name, in its size


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
    """Return the picture of these nodes, a parent before its children, and of their relations.

    Names are given in that order, below a node or above it, where they cover no name and no node above the base; the
    others appear when a person points at their node.
    """
    places = _places_of_index(nodes)
    strongest = max((edge.strength for edge in edges), default=1.0) or 1.0
    letters = _letters(nodes, places)
    raised = _names_with_room(nodes, places, letters)
    drawn = tuple(
        {
            "id": node.id,
            "title": _tooltip(node.about),
            "color": palette.layer(node.layer),
            "label": named(node.name if place in raised else ""),
            **dot(palette, places[place], size=_size(node), letters=letters[place], vadjust=raised.get(place, 0)),
        }
        for place, node in enumerate(nodes)
    )
    to_parents = {"width": 1, "dashes": True, "color": line_colours(palette, "tree", opacity=0.5)}
    links = tuple(
        {"id": f"parent-{node.id}", "from": node.id, "to": nodes[node.above].id, **to_parents}
        for node in nodes
        if node.above is not None
    )
    relations = []
    for edge in edges:
        ends = {"id": edge.id, "from": nodes[edge.source].id, "to": nodes[edge.target].id}
        width = round(1 + 4 * edge.strength / strongest, 2)
        colours = line_colours(palette, "inter" if edge.layer else "base", opacity=0.35)
        relations.append({**ends, "width": width, "title": _tooltip(edge.about), "color": colours})
    return VisGraph(drawn, (*links, *relations))


def layer_legend(words: Sequence[str], lines: Sequence[tuple[str, str, str]], palette: Palette) -> Markup:
    """Return the key of the colours as a list. words: the label of each layer, from the base; lines: colours of the
    palette, line or dashes, and their labels."""
    dots = [(palette.layer(number), "dot", text) for number, text in enumerate(words)]
    kinds = [(palette[colour], shape, text) for colour, shape, text in lines]
    rows = [
        html('<li><i class="{}" style="--c:{}"></i>{}</li>', shape, colour, text)
        for colour, shape, text in (*reversed(dots), *kinds)
    ]
    return html('<ul class="key">{}</ul>', joined(rows))


def _size(node: DrawnNode) -> int:
    return min(8 + 7 * node.layer, 30)


def _letters(nodes: Sequence[DrawnNode], places: Sequence[tuple[float, float]]) -> list[float]:
    """Return the size of each name in px, in a wide picture larger, since the whole of it is shown at first."""
    wide = max(1.0, max((abs(x) for x, _ in places), default=0.0) / _READABLE)
    return [round(wide * (15 + 10 * min(node.layer, 2)), 1) for node in nodes]


def _names_with_room(
    nodes: Sequence[DrawnNode], places: Sequence[tuple[float, float]], letters: Sequence[float]
) -> dict[int, float]:
    """Return by the place of each node whose name is drawn how far it is moved from below the node, in px."""
    used_boxes = [
        _box(x, y, 2 * _size(node), 2 * _size(node)) for node, (x, y) in zip(nodes, places, strict=True) if node.layer
    ]
    raised: dict[int, float] = {}
    for place, (node, (x, y)) in enumerate(zip(nodes, places, strict=True)):
        height = _LINE * letters[place]
        width = text_width(named(node.name), letters[place])
        below = y + _size(node) + height / 2
        for moved in (0.0, -2 * _size(node) - height - _LINE * 2):
            box = _box(x, below + moved, width, height)
            if not any(boxes_overlap(box, other) for other in used_boxes):
                used_boxes.append(box)
                raised[place] = round(moved, 1)
                break
    return raised


def _box(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _places_of_index(nodes: Sequence[DrawnNode]) -> list[tuple[float, float]]:
    """Return a ring for each layer, wider apart inside; the children of a node share its part of the circle, as many
    leaves as they have. A node above the base without children is large and takes the room of several."""
    children: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        if node.above is not None:
            children[node.above].append(place)
    leaves = [1 + node.layer for node in nodes]
    for place in reversed(range(len(nodes))):
        if children[place]:
            leaves[place] = sum(leaves[child] for child in children[place])
    roots = [place for place, node in enumerate(nodes) if node.above is None]
    total = sum(leaves[root] for root in roots) or 1
    deepest = max([1, *(node.layer for node in nodes)]) + (len(roots) > 1)
    outermost = max(_RING * deepest, _LEAST_ARC * total / (2 * math.pi))
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
        ring = depth[place] + (len(roots) > 1)
        radius = outermost * (ring / deepest) ** _INNER
        places[place] = (radius * math.cos(angle), radius * math.sin(angle))
        next_begin = begins[place]
        for child in children[place]:
            begins[child] = next_begin
            next_begin += leaves[child]
    return places


def _tooltip(text: str) -> str:
    """Return the begin of the text in lines, since vis-network breaks none."""
    lines = shortened(visible(text), _LONGEST_ABOUT).splitlines()
    return "\n".join(textwrap.fill(line, _TOOLTIP_WIDTH) for line in lines)
