from dataclasses import replace

import pyarrow as pa
import pytest

from leanrag_core.figures.browse import (
    Found,
    Place,
    children,
    chunks_of_relation,
    find_entities,
    leaf_counts,
    locate,
    nearest_names,
    neighbours,
    unfold,
)
from leanrag_core.types.graph import RELATION_SCHEMA
from leanrag_core.types.index import Index


def names(found: Found) -> list[str]:
    return [row.name for row in found.rows]


def test_an_id_is_located_in_its_layer(index: Index) -> None:
    assert locate(index, "id-mite") == Place(0, 2)
    assert locate(index, "id-fields") == Place(1, 1)
    assert locate(index, "id-farm") == Place(2, 0)


@pytest.mark.parametrize("nonsense", ["", "nothing", "<script>", "../../x", "id-mite "])
def test_an_id_that_is_not_there_has_no_place(index: Index, nonsense: str) -> None:
    assert locate(index, nonsense) is None


def test_leaves_are_counted_up_to_the_root(index: Index) -> None:
    assert [counts.tolist() for counts in leaf_counts(index)] == [[1] * 6, [3, 3], [6]]


def test_every_entity_is_listed_the_aggregated_ones_first(index: Index) -> None:
    found = find_entities(index, "")
    # within layer 0: honey has 3 relations, mite and rape 2, the others 1
    assert names(found) == ["farm", "bees", "fields", "honey", "mite", "rape", "queen", "clover", "seed coat"]
    assert found.total == 9
    honey = found.rows[3]
    assert (honey.id, honey.layer, honey.row, honey.below, honey.relations, honey.chunks) == ("id-honey", 0, 1, 1, 3, 3)
    assert (found.rows[1].below, found.rows[1].relations) == (3, 1)


def test_a_search_finds_the_text_anywhere_in_any_case(index: Index) -> None:
    assert names(find_entities(index, "EE")) == ["bees", "queen", "seed coat"]
    assert names(find_entities(index, "  Seed ")) == ["seed coat"]


def test_names_that_begin_with_the_text_come_first(index: Index) -> None:
    assert names(find_entities(index, "r")) == ["farm", "rape", "clover"]
    assert names(find_entities(index, "e", layer=0)) == ["honey", "mite", "rape", "queen", "clover", "seed coat"]


def test_a_search_can_be_kept_to_one_layer(index: Index) -> None:
    assert names(find_entities(index, "", layer=1)) == ["bees", "fields"]
    assert find_entities(index, "bees", layer=0) == Found((), 0)


def test_a_limit_cuts_the_rows_and_not_the_total(index: Index) -> None:
    found = find_entities(index, "e", limit=2)
    assert names(found) == ["bees", "fields"]
    assert found.total == 8


@pytest.mark.parametrize("text", [".*", "[", "(", "%", "_", "\\", "<b>"])
def test_signs_of_patterns_in_a_search_stand_for_themselves(index: Index, text: str) -> None:
    assert find_entities(index, text) == Found((), 0)


def test_a_misspelt_name_has_near_ones(index: Index) -> None:
    assert nearest_names(index, "hony")[0] == "honey"
    assert nearest_names(index, "CLOVR") == ["clover"]
    assert nearest_names(index, "zzzzzz") == []


def test_neighbours_are_the_other_ends_the_heaviest_relation_first(index: Index) -> None:
    assert [one.name for one in neighbours(index, Place(0, 1))] == ["queen", "mite", "rape"]
    assert [(one.id, one.relation.strength) for one in neighbours(index, Place(1, 1))] == [("id-bees", 2)]
    assert neighbours(index, Place(2, 0)) == []


def test_an_aggregated_relation_unfolds_into_those_it_stands_for(index: Index) -> None:
    members = unfold(index, index.layers[1].relation(0))
    assert [(one.source, one.target) for one in members] == [("honey", "rape"), ("mite", "seed coat")]
    assert (members[0].source_id, members[0].target_id) == ("id-honey", "id-rape")
    assert unfold(index, index.layers[0].relation(0)) == []


def test_a_relation_rests_on_the_chunks_of_its_members(index: Index) -> None:
    base = index.layers[0]
    chunks = {2: [2], 4: [0, 3]}
    rows = [{**row, "chunks": chunks.get(n, [])} for n, row in enumerate(base.relations.to_pylist())]
    changed = replace(base, relations=pa.Table.from_pylist(rows, schema=RELATION_SCHEMA))
    made = replace(index, layers=(changed, *index.layers[1:]))
    assert chunks_of_relation(made, made.layers[1].relation(0)) == [0, 2, 3]
    assert chunks_of_relation(made, made.layers[0].relation(4)) == [0, 3]


def test_children_come_with_most_below_them_first_and_a_leaf_has_none(index: Index) -> None:
    assert [(one.name, one.relations) for one in children(index, Place(1, 0))] == [
        ("honey", 3),
        ("mite", 2),
        ("queen", 1),
    ]
    assert [one.name for one in children(index, Place(2, 0))] == ["bees", "fields"]
    assert children(index, Place(0, 0)) == []
