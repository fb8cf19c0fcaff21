"""Entities of several layers as nodes of one graph, and what joins them, as items and relations of a trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import Message
from leanrag_core.tokens import count_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.layered_communities import LayeredCommunities
from leanrag_core.types.trace import TraceItem, TraceRelation


@dataclass(frozen=True)
class Edge:
    """source, target: nodes. layer, row: of the relation; row None for the link of an entity to its parent."""

    source: int
    target: int
    layer: int
    row: int | None
    prominence: int
    weight: float


def node_items(
    index: Index,
    layered: LayeredCommunities,
    nodes: Sequence[int],
    role: str,
    scores: Mapping[int, float],
    reasons: Mapping[int, Message],
) -> tuple[TraceItem, ...]:
    """Those nodes as items, ranked as they come. scores, reasons: by node."""
    items = []
    for rank, node in enumerate(nodes, start=1):
        number, row = layered.place(node)
        cells = index.layers[number].entity_cells
        items.append(
            TraceItem(
                id=cells["id"][row].as_py(),
                kind="aggregated-entity" if number else "entity",
                name=cells["name"][row].as_py(),
                roles=(role,),
                layer=number,
                row=row,
                score=scores.get(node),
                rank=rank,
                reason=reasons.get(node),
                type=cells["type"][row].as_py(),
                text=cells["description"][row].as_py(),
            )
        )
    return tuple(items)


def edges_inside(index: Index, layered: LayeredCommunities, nodes: Sequence[int], max_tokens: int) -> list[Edge]:
    """What joins those nodes, relations of each layer and links to parents: by the degrees of both ends, then by
    weight; until their texts hold more tokens than the budget."""
    degrees = np.diff(layered.adjacency.indptr)
    places = [layered.place(node) for node in nodes]
    edges = []
    for layer in index.layers[: len(layered.starts) - 1]:
        rows = [row for number, row in places if number == layer.number]
        for relation in layer.relations_inside(rows).tolist():
            source, target = (layered.node(layer.number, end) for end in layer.ends[relation].tolist())
            prominence = int(degrees[source] + degrees[target])
            edges.append(Edge(source, target, layer.number, relation, prominence, float(layer.weights[relation])))
    held = set(nodes)
    for node, (number, row) in zip(nodes, places, strict=True):
        if number + 2 < len(layered.starts):
            parent = layered.node(number + 1, int(index.layers[number].parent[row]))
            if parent in held:
                edges.append(Edge(node, parent, number, None, int(degrees[node] + degrees[parent]), 1.0))
    edges.sort(key=lambda edge: (-edge.prominence, -edge.weight, edge.source, edge.target))
    return _affordable(index, edges, max_tokens)


def _affordable(index: Index, edges: Sequence[Edge], max_tokens: int) -> list[Edge]:
    used = 0
    for place, edge in enumerate(edges, start=1):
        if edge.row is not None:
            counts = index.layers[edge.layer].token_counts.get("relation_tokens")
            cells = index.layers[edge.layer].relation_cells["description"]
            used += count_tokens(cells[edge.row].as_py()) if counts is None else int(counts[edge.row])
        if used > max_tokens:
            return list(edges[:place])
    return list(edges)


def edge_relations(
    index: Index, layered: LayeredCommunities, edges: Sequence[Edge], items: Sequence[TraceItem]
) -> tuple[TraceRelation, ...]:
    """Those edges as relations of a trace, with the role bridge, or tree for links to parents. items: of their ends."""
    item_of = {
        layered.node(item.layer, item.row): item for item in items if item.layer is not None and item.row is not None
    }
    relations = []
    for edge in edges:
        source, target = item_of[edge.source], item_of[edge.target]
        if edge.row is None:
            made, id_, text = "tree", f"tree-{source.id}", f"{source.name} belongs to {target.name}."
        else:
            cells = index.layers[edge.layer].relation_cells
            made, id_, text = (cells[name][edge.row].as_py() for name in ("kind", "id", "description"))
        relations.append(
            TraceRelation(
                id=id_,
                source=source.id,
                target=target.id,
                role="tree" if edge.row is None else "bridge",
                layer=edge.layer,
                made=made,
                strength=edge.weight,
                description=text,
                row=edge.row,
            )
        )
    return tuple(relations)
