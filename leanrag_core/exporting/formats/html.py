"""One HTML file with an interactive picture of the hierarchy, which any browser opens without a network.

It holds vis-network itself, so it is half a megabyte and more. Of a large index it draws the upper layers and the
entities with most relations; the page says how many are left out.
"""

from pathlib import Path

import numpy as np

from leanrag_core.figures.html import html
from leanrag_core.figures.index_picture import MAX_EDGES, MAX_NODES, DrawnEdge, DrawnNode, index_graph, layer_legend
from leanrag_core.figures.neighbourhood import vis_page
from leanrag_core.figures.palette import palette
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_LINES = (
    ("base", "line", "export.html.base"),
    ("inter", "line", "export.html.inter"),
    ("tree", "dashes", "export.html.member"),
)
_STYLE = """
.corner { position: fixed; left: 12px; bottom: 8px; max-width: 320px; font: 14px system-ui; color: #4a4a4a;
  background: #ffffffd9; pointer-events: none }
.corner p { margin: 6px 0 0 }
.key { list-style: none; margin: 0; padding: 0 }
.key i { display: inline-block; width: 12px; margin-right: 8px; vertical-align: middle; background: var(--c) }
.key .dot { height: 12px; border-radius: 50% }
.key .line { height: 3px }
.key .dashes { border-top: 2px dashed var(--c); background: none }
"""


class Exporter:
    """See exporting.base."""

    name = "html"
    title = message("export.html.title")
    help = message("export.html.help")
    suffix = ".html"
    media_type = "text/html"

    def write(self, index: Index, path: Path) -> int:
        """Write the page, in light colours."""
        chosen = _chosen_rows(index)
        nodes, place_of = _nodes(index, chosen)
        edges = _edges(index, place_of)
        counts = {"n": len(nodes), "total": sum(map(len, index.layers)), "edges": len(edges)}
        colours = palette(dark=False)
        note = sentence(message("export.html.note", **counts))
        layers = [
            sentence(message("export.html.layer", layer=layer.number, n=len(rows), of=len(layer)))
            for layer, rows in zip(index.layers, chosen, strict=True)
        ]
        lines = [(colour, shape, sentence(message(code))) for colour, shape, code in _LINES]
        corner = html('<div class="corner">{}<p>{}</p></div>', layer_legend(layers, lines, colours), note)
        graph = index_graph(nodes, edges, colours)
        page = vis_page(graph, colours, title=index.manifest.name, corner=corner, style=_STYLE)
        path.write_text(page, encoding="utf-8")
        return 0


def _chosen_rows(index: Index) -> list[np.ndarray]:
    """Return rows of each layer that are drawn: from the top down, in a layer those with most relations, and their
    parents. Each is (k,) int, ascending."""
    room = MAX_NODES
    chosen: list[np.ndarray] = [np.zeros(0, dtype=np.int64) for _ in index.layers]
    for layer in reversed(index.layers):
        rows = np.arange(len(layer))
        if layer.number + 1 < len(index.layers):
            rows = rows[np.isin(layer.parent, chosen[layer.number + 1])]
        best = rows[np.argsort(-layer.degrees[rows], kind="stable")[:room]]
        chosen[layer.number] = np.sort(best)
        room -= len(best)
    return chosen


def _nodes(index: Index, chosen: list[np.ndarray]) -> tuple[list[DrawnNode], dict[tuple[int, int], int]]:
    """Return the drawn nodes, and the place of each by layer and row. chosen: (k,) rows of each layer."""
    nodes: list[DrawnNode] = []
    place_of: dict[tuple[int, int], int] = {}
    for layer in reversed(index.layers):
        for row in chosen[layer.number].tolist():
            entity = layer.entity(row)
            above = place_of[layer.number + 1, int(layer.parent[row])] if len(layer.parent) else None
            about = f"{entity.name} ({entity.type})\n{entity.description}" if entity.type else entity.description
            place_of[layer.number, row] = len(nodes)
            nodes.append(DrawnNode(entity.id, entity.name, about, layer.number, above))
    return nodes, place_of


def _edges(index: Index, place_of: dict[tuple[int, int], int]) -> list[DrawnEdge]:
    """Return the relations between drawn nodes, the strongest of each layer first."""
    edges: list[DrawnEdge] = []
    for layer in reversed(index.layers):
        rows = layer.relations_inside([row for number, row in place_of if number == layer.number])
        strongest = rows[np.argsort(-layer.strengths[rows], kind="stable")[: MAX_EDGES // len(index.layers)]]
        for row in strongest.tolist():
            relation, strength = layer.relation(row), float(layer.strengths[row])
            ends = place_of[layer.number, relation.source], place_of[layer.number, relation.target]
            edges.append(DrawnEdge(relation.id, *ends, layer.number, strength, relation.description))
    return edges
