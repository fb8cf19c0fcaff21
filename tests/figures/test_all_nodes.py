"""Thousands of nodes at once: within their bands, parents among them, the strongest relations first."""

import numpy as np
import pytest

from leanrag_core.figures.layer_graph import HEIGHT, MOST_NODES, WIDTH, AllNodes, all_nodes
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from tests.large_index import large_index


@pytest.fixture(scope="module")
def large() -> Index:
    return large_index(8000)


def drawn(index: Index, mask: np.ndarray | None = None) -> AllNodes:
    none = [None] * len(index.layers)
    return all_nodes(index, [mask, *none[1:]], none)


def test_five_thousand_nodes_stay_in_their_bands(large: Index) -> None:
    nodes = drawn(large)
    assert len(nodes.rows) == MOST_NODES
    assert nodes.totals == (8000, 400, 20, 1)
    top = len(large.layers) - 1
    for number in range(top + 1):
        y = nodes.places[nodes.layers == number, 1]
        assert (y > nodes.bands[top - number]).all()
        assert (y < nodes.bands[top - number + 1]).all()
    assert (nodes.places >= 0).all()
    assert (nodes.places <= [WIDTH, HEIGHT]).all()


def test_parents_are_the_drawn_nodes_above(large: Index) -> None:
    nodes = drawn(large)
    below = np.flatnonzero(nodes.layers < 3)
    assert (nodes.parents[below] >= 0).all()
    for at in below[:: len(below) // 50]:
        place, above = nodes.place(int(at)), nodes.place(int(nodes.parents[at]))
        assert above == Place(place.layer + 1, int(large.layers[place.layer].parent[place.row]))
    assert nodes.position(nodes.place(77)) == 77
    assert nodes.position(Place(0, 10**6)) is None


def test_relations_join_drawn_entities_that_pass(large: Index) -> None:
    mask = np.arange(8000) % 2 == 0
    nodes = drawn(large, mask)
    assert (nodes.rows[nodes.layers == 0] % 2 == 0).all()
    assert nodes.totals[0] == 4000
    assert len(nodes.relations)
    assert (nodes.layers[nodes.relations] == 0).all()


def test_a_single_entity_is_drawn() -> None:
    assert len(drawn(large_index(1)).rows) == 1
