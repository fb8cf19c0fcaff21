"""Nodes and relations of a retrieval (eq. 8-10), ready to be drawn."""

from leanrag_core.retrieval.lca import Subtree
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Seed, TraceNode, TraceRelation


def retrieved_nodes(index: Index, subtree: Subtree, seeds: tuple[Seed, ...]) -> tuple[TraceNode, ...]:
    """V_ret: every node on the paths with its role; seeds first by rank, then upward by layer and row."""
    rank_of = {(seed.layer, seed.row): seed.rank for seed in seeds}
    tables = [layer.entity_cells for layer in index.layers]
    id_of = {node: tables[node[0]]["id"][node[1]].as_py() for node in subtree.nodes}
    nodes = []
    for node in subtree.nodes:
        layer, row = node
        role = "seed" if node in rank_of else "lca" if node == subtree.top else "path"
        nodes.append(
            TraceNode(
                id=id_of[node],
                name=tables[layer]["name"][row].as_py(),
                layer=layer,
                row=row,
                role=role,
                type=tables[layer]["type"][row].as_py(),
                description=tables[layer]["description"][row].as_py(),
                parent_id=id_of.get(subtree.parent[node]) if node in subtree.parent else None,
                rank=rank_of.get(node),
            )
        )
    return tuple(sorted(nodes, key=lambda node: (node.rank or len(seeds) + 1, node.layer, node.row)))


def tree_links(nodes: tuple[TraceNode, ...]) -> tuple[TraceRelation, ...]:
    """Parent-child links of V_ret."""
    name_of = {node.id: node.name for node in nodes}
    return tuple(
        TraceRelation(
            id=f"tree-{node.id}",
            source=node.id,
            target=node.parent_id,
            layer=node.layer,
            kind="tree",
            made="tree",
            strength=1.0,
            description=f"{node.name} belongs to {name_of[node.parent_id]}.",
        )
        for node in nodes
        if node.parent_id is not None
    )


def relations_among(index: Index, nodes: tuple[TraceNode, ...], *, inter_cluster: bool) -> tuple[TraceRelation, ...]:
    """Relations of R0 between seeds, and aggregated relations between nodes of V_ret in one layer.

    Sorted: base relations by weight, then inter-cluster ones by layer from the top and lambda, strongest first.
    """
    rows_in: dict[int, dict[int, str]] = {}
    for node in nodes:
        rows_in.setdefault(node.layer, {})[node.row] = node.id
    found = []
    for number, ids in sorted(rows_in.items()):
        if number > 0 and not inter_cluster:
            continue
        found += _inside(index, number, ids)
    return tuple(sorted(found, key=lambda one: (one.layer > 0, -one.layer, -one.strength, one.id)))


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
                kind="inter-cluster" if number else "base",
                made=table["kind"][row].as_py(),
                strength=float(table[strength][row].as_py()),
                description=table["description"][row].as_py(),
                row=row,
            )
        )
    return made


def nodes_by_layer(nodes: tuple[TraceNode, ...]) -> dict[int, list[TraceNode]]:
    """Nodes of each layer, from layer 0 up."""
    layers: dict[int, list[TraceNode]] = {}
    for node in sorted(nodes, key=lambda one: one.layer):
        layers.setdefault(node.layer, []).append(node)
    return layers
