"""Filters as masks, on an index made by arithmetic: 400 entities, 20 clusters, a root."""

import numpy as np
import pytest

from leanrag_core.queries.schema import Filters, in_largest_component, type_counts
from leanrag_core.types.index import Index
from tests.large_index import large_index


@pytest.fixture(scope="module")
def index() -> Index:
    return large_index(400)


def test_without_a_filter_everything_passes(index: Index) -> None:
    assert not Filters().active
    for layer in index.layers:
        assert Filters().allows(index, layer.number).all()
        assert Filters().allows_relations(index, layer.number).all()


def test_an_aggregated_entity_passes_with_one_entity_of_the_type_below_it(index: Index) -> None:
    name, count = type_counts(index)[0]
    mask = Filters(types=frozenset({name})).allows(index, 0)
    assert mask.sum() == count
    assert [index.layers[0].entities["type"][int(row)].as_py() for row in np.flatnonzero(mask)] == [name] * count
    above = Filters(types=frozenset({name})).allows(index, 1)
    assert set(np.flatnonzero(above)) == set(index.layers[0].parent[mask])


def test_layers_that_are_not_chosen_have_nothing(index: Index) -> None:
    filters = Filters(layers=frozenset({1}))
    assert [filters.allows(index, number).any() for number in range(3)] == [False, True, False]
    assert not filters.allows_relations(index, 0).any()


def test_a_strength_leaves_the_ends_of_relations_that_are_as_strong(index: Index) -> None:
    layer = index.layers[1]
    least = int(layer.strengths.max())
    filters = Filters(least_strength=least)
    passing = np.flatnonzero(filters.allows_relations(index, 1))
    assert len(passing)
    assert all(layer.relation(int(row)).strength >= least for row in passing)
    assert set(np.flatnonzero(filters.allows(index, 1))) == set(layer.ends[passing].ravel())
    assert filters.allows(index, 2).all(), "the only entity of a layer has no relation"


def test_what_a_rule_wrote_is_all_of_an_index_without_a_model(index: Index) -> None:
    assert Filters(made_by="rule").allows(index, 1).all()
    assert not Filters(made_by="model").allows(index, 1).any()
    assert not Filters(made_by="model").allows_relations(index, 1).any()


def test_islands_are_what_the_largest_component_leaves(index: Index) -> None:
    main = Filters(connected="main").allows(index, 0)
    assert (main == in_largest_component(index.layers[0])).all()
    assert (main ^ Filters(connected="island").allows(index, 0)).all()
