"""Kinds of relations and the filter by them, by hand in the small index."""

import numpy as np
import pyarrow as pa

from leanrag_core.queries.schema import Filters, relation_kinds
from leanrag_core.types.graph import RELATION_SCHEMA
from leanrag_core.types.index import Index
from tests.small_index import small_index


def kinds_index() -> Index:
    """Return an index with queen–honey: stores; honey–mite: stores; honey–rape: none; rape–clover: by the sentence;
    mite–seed coat: eats."""
    index = small_index()
    columns = {
        "kind": pa.array(["verb", "stated", "stated", "co-occurrence", "verb"]),
        "keywords": pa.array([["store", "eat"], [" store "], None, ["field"], ["eat"]], pa.list_(pa.string())),
    }
    base = index.layers[0]
    table = base.relations
    for name, column in columns.items():
        table = table.set_column(RELATION_SCHEMA.get_field_index(name), name, column)
    object.__setattr__(base, "relations", table)
    return index


def test_a_stated_relation_is_of_its_first_keyword_and_any_other_of_the_rule_that_read_it() -> None:
    kinds = relation_kinds(kinds_index().layers[0])
    assert (kinds.names, kinds.counts) == (("store", "co-occurrence", "eat"), (2, 1, 1))
    assert kinds.codes.tolist() == [0, 0, -1, 1, 2]


def test_a_layer_without_relations_has_no_kinds() -> None:
    kinds = relation_kinds(small_index().layers[2])
    assert (kinds.names, kinds.codes.tolist()) == ((), [])


def test_a_kind_leaves_its_relations_their_ends_and_what_holds_them() -> None:
    index, filters = kinds_index(), Filters(kinds=frozenset({"eat"}))
    assert filters.active
    assert np.flatnonzero(filters.allows_relations(index, 0)).tolist() == [4]
    assert np.flatnonzero(filters.allows(index, 0)).tolist() == [2, 5]
    # The aggregated relation of bees and fields holds the relations in rows 2 and 4 of the base.
    assert filters.allows_relations(index, 1).tolist() == [True]
    assert filters.allows(index, 1).tolist() == [True, True]

    inside = Filters(kinds=frozenset({"store"}))  # among bees alone
    assert inside.allows_relations(index, 1).tolist() == [False]
    assert inside.allows(index, 1).tolist() == [True, False]
    assert inside.allows(index, 2).tolist() == [True]
