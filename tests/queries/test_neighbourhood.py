"""What lies around a node: nearest and strongest first, and what did not fit is counted."""

from leanrag_core.queries.browse import neighbourhood
from leanrag_core.types.graph import Place
from tests.large_index import large_index


def test_the_centre_comes_first_then_its_neighbours_and_relations_are_those_between_them() -> None:
    index = large_index(400, hub=False)
    layer = index.layers[0]
    near = neighbourhood(index, Place(0, 7), max_nodes=300)
    assert near.nodes[0].id == layer.entity(7).id
    assert [node.hops for node in near.nodes] == sorted(node.hops for node in near.nodes)
    direct = {int(row) for relation in layer.relations_of(7) for row in layer.ends[relation]} - {7}
    assert {node.id for node in near.nodes if node.hops == 1} == {layer.entity(row).id for row in direct}
    rows = [layer.row_of[node.id] for node in near.nodes]
    assert [relation.id for relation in near.relations] == [layer.relation(r).id for r in layer.relations_inside(rows)]
    first = near.relations[0]
    stored = layer.relation(layer.relation_row_of[first.id])
    assert (first.strength, first.kind) == (stored.weight, stored.kind)


def test_a_hub_is_cut_to_the_strongest_and_says_how_many_are_left_out() -> None:
    index = large_index(400)
    hub = int(index.layers[0].degrees.argmax())
    whole = neighbourhood(index, Place(0, hub), max_nodes=10_000)
    near = neighbourhood(index, Place(0, hub), max_nodes=30)
    reached = sum(node.hops == 1 for node in whole.nodes)
    assert len(near.nodes) == 30
    assert near.left_out == reached - 29
    assert all(node.hops < 2 for node in near.nodes)
