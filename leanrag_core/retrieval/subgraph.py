"""Nodes and relations of a retrieval (eq. 8-10), ready to be drawn."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.lca import Subtree
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.trace import TraceItem, TraceRelation

_ON_PATH, _IS_LCA = message("leanrag.reason.path"), message("leanrag.reason.lca")
_NEIGHBOUR = message("leanrag.reason.neighbour")
MAX_NEIGHBOURING = 50  # relations of a layer that leave the paths: a context holds hardly more
# (whether it is a seed, whether it is the lowest common ancestor) -> roles; a single seed is its own ancestor.
_ROLES = {(True, True): ("seed", "lca"), (True, False): ("seed",), (False, True): ("lca",), (False, False): ("path",)}


def node_item(
    layer: Layer,
    row: int,
    roles: tuple[str, ...],
    *,
    score: float | None = None,
    rank: int | None = None,
    reason: Message | None = None,
    parent: str | None = None,
) -> TraceItem:
    """Return the entity in that row of the layer as an item."""
    cells = layer.entity_cells
    return TraceItem(
        id=cells.value("id", row),
        kind="aggregated-entity" if layer.number else "entity",
        name=cells.value("name", row),
        roles=roles,
        layer=layer.number,
        row=row,
        score=score,
        rank=rank,
        reason=reason,
        parent=parent,
        type=cells.value("type", row),
        text=cells.value("description", row),
    )


def relation_item(
    layer: Layer, row: int, role: str, *, score: float | None = None, reason: Message | None = None
) -> TraceRelation:
    """Return the relation in that row of the layer as a relation of a trace, whose items its ends have to be."""
    cells = layer.relation_cells
    source, target = (layer.entity_cells.value("id", end) for end in layer.ends[row].tolist())
    return TraceRelation(
        id=cells.value("id", row),
        source=source,
        target=target,
        role=role,
        layer=layer.number,
        made=cells.value("kind", row),
        strength=float(cells.value("strength" if layer.number else "weight", row)),
        description=cells.value("description", row),
        row=row,
        score=score,
        reason=reason,
    )


def retrieved_nodes(index: Index, subtree: Subtree, seeds: tuple[Seed, ...]) -> tuple[TraceItem, ...]:
    """Return V_ret: every node on the paths with its role; seeds first by rank, then upward by layer and row."""
    seed_at = {(seed.layer, seed.row): seed for seed in seeds}
    id_of = {(layer, row): index.layers[layer].entity_cells.value("id", row) for layer, row in subtree.nodes}
    nodes = []
    for node in subtree.nodes:
        layer, row = node
        seed = seed_at.get(node)
        is_top = node in subtree.tops
        if seed is not None:
            reason = message("leanrag.reason.seed", rank=seed.rank, score=seed.score)
        else:
            reason = _IS_LCA if is_top else _ON_PATH
        nodes.append(
            node_item(
                index.layers[layer],
                row,
                _ROLES[seed is not None, is_top],
                score=seed.score if seed else None,
                rank=seed.rank if seed else None,
                reason=reason,
                parent=id_of.get(subtree.parent[node]) if node in subtree.parent else None,
            )
        )
    return tuple(sorted(nodes, key=lambda node: (node.rank or len(seeds) + 1, node.layer, node.row)))


def tree_links(nodes: tuple[TraceItem, ...]) -> tuple[TraceRelation, ...]:
    """Return parent-child links of V_ret."""
    name_of = {node.id: node.name for node in nodes}
    return tuple(tree_link(node, node.parent, name_of[node.parent]) for node in nodes if node.parent is not None)


def tree_link(node: TraceItem, parent: str, parent_name: str) -> TraceRelation:
    """Return the link of a node to its parent. parent: its id."""
    description = f"{node.name} belongs to {parent_name}."
    return TraceRelation(f"tree-{node.id}", node.id, parent, "tree", node.layer, "tree", 1.0, description)


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
        on_paths = [node.row for node in row if node.row is not None]
        rows = layer.relations_inside(on_paths)
        if number and ends == "any":
            leaving = _leaving(layer, on_paths, rows)
            beside = sorted({int(end) for end in layer.ends[leaving].ravel()} - set(on_paths))
            neighbours += [node_item(layer, place, ("neighbour",), reason=_NEIGHBOUR) for place in beside]
            rows = np.concatenate([rows, leaving])
        related += [relation_item(layer, each, "inter-cluster" if number else "base") for each in rows.tolist()]
    related.sort(key=_base_first)
    return Related(tuple(related), tuple(neighbours))


def _leaving(layer: Layer, nodes: list[int], inside: np.ndarray) -> np.ndarray:
    """Return rows of the strongest relations of those nodes with others, strongest first. inside: (k,) rows of the
    relations among those nodes."""
    every = np.unique(np.concatenate([layer.relations_of(row) for row in nodes]))
    leaving = np.setdiff1d(every, inside)
    strength = [layer.relation_cells.value("strength", row) for row in leaving.tolist()]
    return leaving[np.argsort(-np.array(strength, dtype=np.int64), kind="stable")[:MAX_NEIGHBOURING]]


def _base_first(relation: TraceRelation) -> tuple[bool, int, float, str]:
    layer = relation.layer or 0
    return layer > 0, -layer, -relation.strength, relation.id


def nodes_by_layer(nodes: tuple[TraceItem, ...]) -> dict[int, list[TraceItem]]:
    """Return nodes of each layer, from layer 0 up; those outside of the layers are left out."""
    layers: dict[int, list[TraceItem]] = {}
    for node in nodes:
        if node.layer is not None:
            layers.setdefault(node.layer, []).append(node)
    return {number: layers[number] for number in sorted(layers)}
