"""Nodes and relations of a retrieval (eq. 8-10), ready to be drawn."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.lca import Subtree
from leanrag_core.types.index import Index
from leanrag_core.types.trace import TraceItem, TraceRelation

_ON_PATH, _IS_LCA = message("leanrag.reason.path"), message("leanrag.reason.lca")
_NEIGHBOUR = message("leanrag.reason.neighbour")
MAX_NEIGHBOURING = 50  # relations of a layer that leave the paths: a context holds hardly more
# (whether it is a seed, whether it is the lowest common ancestor) -> roles; a single seed is its own ancestor.
_ROLES = {
    (True, True): ("seed", "lca"),
    (True, False): ("seed",),
    (False, True): ("lca",),
    (False, False): ("path",),
}


def retrieved_nodes(index: Index, subtree: Subtree, seeds: tuple[Seed, ...]) -> tuple[TraceItem, ...]:
    """Return V_ret: every node on the paths with its role; seeds first by rank, then upward by layer and row."""
    seed_at = {(seed.layer, seed.row): seed for seed in seeds}
    tables = [layer.entity_cells for layer in index.layers]
    id_of = {node: tables[node[0]].value("id", node[1]) for node in subtree.nodes}
    nodes = []
    for node in subtree.nodes:
        layer, row = node
        seed = seed_at.get(node)
        is_top = node in subtree.tops
        roles = _ROLES[seed is not None, is_top]
        if seed is not None:
            reason = message("leanrag.reason.seed", rank=seed.rank, score=seed.score)
        else:
            reason = _IS_LCA if is_top else _ON_PATH
        nodes.append(
            TraceItem(
                id=id_of[node],
                kind="aggregated-entity" if layer else "entity",
                name=tables[layer].value("name", row),
                roles=roles,
                layer=layer,
                row=row,
                score=seed.score if seed else None,
                rank=seed.rank if seed else None,
                reason=reason,
                parent=id_of.get(subtree.parent[node]) if node in subtree.parent else None,
                type=tables[layer].value("type", row),
                text=tables[layer].value("description", row),
            )
        )
    return tuple(sorted(nodes, key=lambda node: (node.rank or len(seeds) + 1, node.layer, node.row)))


def tree_links(nodes: tuple[TraceItem, ...]) -> tuple[TraceRelation, ...]:
    """Return parent-child links of V_ret."""
    name_of = {node.id: node.name for node in nodes}
    return tuple(
        TraceRelation(
            id=f"tree-{node.id}",
            source=node.id,
            target=node.parent,
            layer=node.layer,
            role="tree",
            made="tree",
            strength=1.0,
            description=f"{node.name} belongs to {name_of[node.parent]}.",
        )
        for node in nodes
        if node.parent is not None
    )


@dataclass(frozen=True)
class Related:
    """relations: sorted, see relations_among(). neighbours: nodes outside of the paths at an end of one of them."""

    relations: tuple[TraceRelation, ...]
    neighbours: tuple[TraceItem, ...] = ()


def relations_among(
    index: Index, nodes: tuple[TraceItem, ...], *, inter_cluster: bool, base: bool = True, ends: str = "both"
) -> Related:
    """Return relations of R0 between seeds, and aggregated relations between nodes of V_ret in one layer.

    Sorted: base relations by weight, then inter-cluster ones by layer from the top and lambda, strongest first.
    base: whether relations of R0 are taken. ends: both, or any, with which an aggregated relation needs one end alone
    on the paths; of those that leave the paths the strongest MAX_NEIGHBOURING of a layer are taken.
    """
    related: list[TraceRelation] = []
    neighbours: list[TraceItem] = []
    for number, row in nodes_by_layer(nodes).items():
        if not (inter_cluster if number else base):
            continue
        layer = index.layers[number]
        ids = {node.row: node.id for node in row if node.row is not None}
        rows = layer.relations_inside(list(ids))
        if number and ends == "any":
            leaving = _leaving(index, number, list(ids), rows)
            beside = sorted({int(end) for end in layer.ends[leaving].ravel()} - set(ids))
            neighbours += [_neighbour(index, number, place) for place in beside]
            ids |= {node.row: node.id for node in neighbours if node.layer == number and node.row is not None}
            rows = np.concatenate([rows, leaving])
        related += _relations(index, number, rows, ids)
    related.sort(key=_base_first)
    return Related(tuple(related), tuple(neighbours))


def _leaving(index: Index, number: int, nodes: list[int], inside: np.ndarray) -> np.ndarray:
    """Return rows of the strongest relations of those nodes with others, strongest first. inside: (k,) rows of the
    relations among those nodes."""
    layer = index.layers[number]
    every = np.unique(np.concatenate([layer.relations_of(row) for row in nodes]))
    leaving = np.setdiff1d(every, inside)
    strength = [layer.relation_cells.value("strength", row) for row in leaving.tolist()]
    return leaving[np.argsort(-np.array(strength, dtype=np.int64), kind="stable")[:MAX_NEIGHBOURING]]


def _neighbour(index: Index, number: int, row: int) -> TraceItem:
    table = index.layers[number].entity_cells
    return TraceItem(
        id=table.value("id", row),
        kind="aggregated-entity",
        name=table.value("name", row),
        roles=("neighbour",),
        layer=number,
        row=row,
        reason=_NEIGHBOUR,
        type=table.value("type", row),
        text=table.value("description", row),
    )


def _base_first(relation: TraceRelation) -> tuple[bool, int, float, str]:
    layer = relation.layer or 0
    return layer > 0, -layer, -relation.strength, relation.id


def _relations(index: Index, number: int, rows: np.ndarray, ids: dict[int, str]) -> list[TraceRelation]:
    """Return those relations of the layer, between the entities of those ids by row. rows: (k,)."""
    layer = index.layers[number]
    table, strength = layer.relation_cells, "strength" if number else "weight"
    relations = []
    for row in rows.tolist():
        source, target = layer.ends[row].tolist()
        relations.append(
            TraceRelation(
                id=table.value("id", row),
                source=ids[source],
                target=ids[target],
                layer=number,
                role="inter-cluster" if number else "base",
                made=table.value("kind", row),
                strength=float(table.value(strength, row)),
                description=table.value("description", row),
                row=row,
            )
        )
    return relations


def nodes_by_layer(nodes: tuple[TraceItem, ...]) -> dict[int, list[TraceItem]]:
    """Return nodes of each layer, from layer 0 up; those outside of the layers are left out."""
    layers: dict[int, list[TraceItem]] = {}
    for node in nodes:
        if node.layer is not None:
            layers.setdefault(node.layer, []).append(node)
    return {number: layers[number] for number in sorted(layers)}
