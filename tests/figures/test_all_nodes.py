"""Tens of thousands of nodes at once: within their bands, parents among them, the strongest relations first."""

import numpy as np
import pytest

from leanrag_core.figures.all_nodes import HEIGHT, MOST_NODES, WIDTH, AllNodes, all_nodes
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from tests.large_index import large_index


@pytest.fixture(scope="module")
def large() -> Index:
    return large_index(8000)


def drawn(index: Index, mask: np.ndarray | None = None) -> AllNodes:
    none = [None] * len(index.layers)
    return all_nodes(index, [mask, *none[1:]], none)


def test_nodes_stay_in_their_bands_and_entities_in_the_cells_of_their_clusters(large: Index) -> None:
    nodes = drawn(large)
    assert nodes.totals == (8000, 400, 20, 1)
    assert len(nodes.rows) == sum(nodes.totals)
    top = len(large.layers) - 1
    upper = nodes.layers[nodes.layers > 0]
    for number in range(1, top + 1):
        y = nodes.places[upper == number, 1]
        assert (y > nodes.bands[top - number]).all()
        assert (y < nodes.bands[top - number + 1]).all()
    assert (nodes.places >= 0).all()
    assert (nodes.places <= [WIDTH, HEIGHT]).all()
    cells = nodes.cells
    assert cells.sizes.tolist() == [20] * 400
    assert (nodes.parents[len(upper) :] == np.repeat(cells.parents, cells.sizes)).all()
    low, high = cells.middles - cells.spans / 2, cells.middles + cells.spans / 2
    assert (low[:, 1] >= nodes.bands[-2]).all()
    assert (high <= [WIDTH, HEIGHT]).all()
    # No cell lies on another: their areas are those of their bounds together.
    assert np.isclose((cells.spans[:, 0] * cells.spans[:, 1]).sum(), np.prod(high.max(axis=0) - low.min(axis=0)))


def test_a_larger_index_is_drawn_in_part() -> None:
    index = large_index(60_000)
    nodes = drawn(index)
    assert len(nodes.rows) == MOST_NODES
    assert nodes.totals[0] == 60_000
    # The entities with fewest relations are left out.
    base = nodes.rows[nodes.layers == 0]
    left_out = np.setdiff1d(np.arange(60_000), base)
    assert index.layers[0].degrees[base].min() >= index.layers[0].degrees[left_out].max()


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
