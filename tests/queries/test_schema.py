"""The schema of an index: types and pairs of types, counted by hand in the small index."""

import numpy as np
import pyarrow as pa

from leanrag_core.queries.schema import Schema, SchemaPair, SchemaType, schema_of
from leanrag_core.types.graph import RELATION_SCHEMA
from leanrag_core.types.index import Index
from tests.small_index import small_index


def typed_index(keywords: bool = True) -> Index:
    """Return an index with the types queen, mite: animal; honey, seed coat: thing; rape, clover: plant."""
    index = small_index()
    base = index.layers[0]
    types = pa.array(["animal", "thing", "animal", "plant", "plant", "thing"])
    object.__setattr__(base, "entities", base.entities.set_column(2, "type", types))
    if keywords:
        words = pa.array([["store", "eat"], ["spoil"], ["give"], [], ["spoil", "eat"]], pa.list_(pa.string()))
        at = RELATION_SCHEMA.get_field_index("keywords")
        object.__setattr__(base, "relations", base.relations.set_column(at, "keywords", words))
    return index


def test_types_and_pairs_are_counted_without_a_direction() -> None:
    assert schema_of(typed_index()) == Schema(
        types=(SchemaType("animal", 2), SchemaType("plant", 2), SchemaType("thing", 2)),
        pairs=(
            SchemaPair("animal", "thing", 3, (("spoil", 2), ("store", 1)), 2),
            SchemaPair("plant", "plant", 1, (("verb", 1),), 1),
            SchemaPair("plant", "thing", 1, (("give", 1),), 1),
        ),
    )


def test_pairs_need_no_kinds() -> None:
    index = typed_index(keywords=False)
    base = index.layers[0]
    at = RELATION_SCHEMA.get_field_index("kind")
    stated = base.relations.set_column(at, "kind", pa.array(["stated"] * 5))
    object.__setattr__(base, "relations", stated)
    pairs = schema_of(index).pairs
    assert [(pair.first, pair.second, pair.count, pair.kinds) for pair in pairs] == [
        ("animal", "thing", 3, ()),
        ("plant", "plant", 1, ()),
        ("plant", "thing", 1, ()),
    ]


def test_relations_outside_of_the_mask_do_not_count() -> None:
    strong = np.array([True, False, False, True, False])
    pairs = schema_of(typed_index(), strong).pairs
    assert [(pair.first, pair.second, pair.count) for pair in pairs] == [("animal", "thing", 1), ("plant", "plant", 1)]
