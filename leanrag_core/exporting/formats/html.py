"""One HTML file with an interactive picture of the hierarchy, which any browser opens without a network.

It holds vis-network itself, so it is half a megabyte and more. Of a large index it draws the upper layers and the
entities with most relations; the page says how many are left out.
"""

from pathlib import Path

import numpy as np

from leanrag_core.figures.neighbourhood import (
    MAX_EDGES,
    MAX_NODES,
    DrawnEdge,
    DrawnNode,
    index_graph,
    neighbourhood_page,
)
from leanrag_core.figures.palette import palette
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index


class Exporter:
    """See exporting.base."""

    name = "html"
    title = message("export.html.title")
    help = message("export.html.help")
    suffix = ".html"
    media_type = "text/html"

    def write(self, index: Index, path: Path) -> int:
        """Return the page, in light colours."""
        chosen = _chosen_rows(index)
        nodes, place_of = _nodes(index, chosen)
        edges = _edges(index, place_of)
        counts = {"n": len(nodes), "total": sum(map(len, index.layers)), "edges": len(edges)}
        colours = palette(dark=False)
        note = sentence(message("export.html.note", **counts))
        page = neighbourhood_page(index_graph(nodes, edges, colours), colours, title=index.manifest.name, note=note)
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
        drawn = [layer.relation(int(row)) for row in rows]
        drawn.sort(key=lambda relation: (-_strength(relation.strength, relation.weight, layer.number), relation.row))
        for relation in drawn[: MAX_EDGES // len(index.layers)]:
            strength = _strength(relation.strength, relation.weight, layer.number)
            ends = place_of[layer.number, relation.source], place_of[layer.number, relation.target]
            edges.append(DrawnEdge(relation.id, *ends, layer.number, strength, relation.description))
    return edges


def _strength(strength: int, weight: float, layer: int) -> float:
    return float(strength) if layer else float(weight)
