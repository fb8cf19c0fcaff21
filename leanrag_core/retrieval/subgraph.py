"""Nodes and relations of a retrieval (eq. 8-10), ready to be drawn."""

from leanrag_core.messages.message import message
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.lca import Subtree
from leanrag_core.types.index import Index
from leanrag_core.types.trace import TraceItem, TraceRelation

_ON_PATH, _IS_LCA = message("leanrag.reason.path"), message("leanrag.reason.lca")
# (whether it is a seed, whether it is the lowest common ancestor) -> roles; a single seed is its own ancestor.
_ROLES = {
    (True, True): ("seed", "lca"),
    (True, False): ("seed",),
    (False, True): ("lca",),
    (False, False): ("path",),
}


def retrieved_nodes(index: Index, subtree: Subtree, seeds: tuple[Seed, ...]) -> tuple[TraceItem, ...]:
    """V_ret: every node on the paths with its role; seeds first by rank, then upward by layer and row."""
    seed_at = {(seed.layer, seed.row): seed for seed in seeds}
    tables = [layer.entity_cells for layer in index.layers]
    id_of = {node: tables[node[0]]["id"][node[1]].as_py() for node in subtree.nodes}
    nodes = []
    for node in subtree.nodes:
        layer, row = node
        seed = seed_at.get(node)
        roles = _ROLES[seed is not None, node == subtree.top]
        if seed is not None:
            reason = message("leanrag.reason.seed", rank=seed.rank, score=seed.score)
        else:
            reason = _IS_LCA if node == subtree.top else _ON_PATH
        nodes.append(
            TraceItem(
                id=id_of[node],
                kind="aggregated-entity" if layer else "entity",
                name=tables[layer]["name"][row].as_py(),
                roles=roles,
                layer=layer,
                row=row,
                score=seed.score if seed else None,
                rank=seed.rank if seed else None,
                reason=reason,
                parent=id_of.get(subtree.parent[node]) if node in subtree.parent else None,
                type=tables[layer]["type"][row].as_py(),
                text=tables[layer]["description"][row].as_py(),
            )
        )
    return tuple(sorted(nodes, key=lambda node: (node.rank or len(seeds) + 1, node.layer, node.row)))


def tree_links(nodes: tuple[TraceItem, ...]) -> tuple[TraceRelation, ...]:
    """Parent-child links of V_ret."""
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


def relations_among(index: Index, nodes: tuple[TraceItem, ...], *, inter_cluster: bool) -> tuple[TraceRelation, ...]:
    """Relations of R0 between seeds, and aggregated relations between nodes of V_ret in one layer.

    Sorted: base relations by weight, then inter-cluster ones by layer from the top and lambda, strongest first.
    """
    related: list[TraceRelation] = []
    for number, row in nodes_by_layer(nodes).items():
        if inter_cluster or number == 0:
            related += _inside(index, number, {node.row: node.id for node in row if node.row is not None})
    related.sort(key=_base_first)
    return tuple(related)


def _base_first(relation: TraceRelation) -> tuple[bool, int, float, str]:
    layer = relation.layer or 0
    return layer > 0, -layer, -relation.strength, relation.id


def _inside(index: Index, number: int, ids: dict[int, str]) -> list[TraceRelation]:
    layer = index.layers[number]
    table, strength = layer.relation_cells, "strength" if number else "weight"
    made = []
    for row in layer.relations_inside(list(ids)).tolist():
        source, target = layer.ends[row].tolist()
        made.append(
            TraceRelation(
                id=table["id"][row].as_py(),
                source=ids[source],
                target=ids[target],
                layer=number,
                role="inter-cluster" if number else "base",
                made=table["kind"][row].as_py(),
                strength=float(table[strength][row].as_py()),
                description=table["description"][row].as_py(),
                row=row,
            )
        )
    return made


def nodes_by_layer(nodes: tuple[TraceItem, ...]) -> dict[int, list[TraceItem]]:
    """Nodes of each layer, from layer 0 up; those outside of the layers are left out."""
    layers: dict[int, list[TraceItem]] = {}
    for node in nodes:
        if node.layer is not None:
            layers.setdefault(node.layer, []).append(node)
    return {number: layers[number] for number in sorted(layers)}
