from dataclasses import replace

import pyarrow as pa
import pytest

from leanrag_core.queries.browse import children, chunks_of_relation, locate, neighbours, unfold
from leanrag_core.types.graph import RELATION_SCHEMA, Place
from leanrag_core.types.index import Index
from tests.large_index import large_index


def test_an_id_is_located_in_its_layer(index: Index) -> None:
    assert locate(index, "id-mite") == Place(0, 2)
    assert locate(index, "id-fields") == Place(1, 1)
    assert locate(index, "id-farm") == Place(2, 0)


@pytest.mark.parametrize("nonsense", ["", "nothing", "<script>", "../../x", "id-mite "])
def test_an_id_that_is_not_there_has_no_place(index: Index, nonsense: str) -> None:
    assert locate(index, nonsense) is None


def test_leaves_are_counted_up_to_the_root(index: Index) -> None:
    assert [counts.tolist() for counts in index.leaf_counts] == [[1] * 6, [3, 3], [6]]


def test_neighbours_are_the_other_ends_the_heaviest_relation_first(index: Index) -> None:
    assert [neighbour.name for neighbour in neighbours(index, Place(0, 1))] == ["queen", "mite", "rape"]
    assert [(neighbour.id, neighbour.relation.strength) for neighbour in neighbours(index, Place(1, 1))] == [
        ("id-bees", 2)
    ]
    assert neighbours(index, Place(2, 0)) == []


def test_an_aggregated_relation_unfolds_into_those_it_aggregates(index: Index) -> None:
    members = unfold(index, index.layers[1].relation(0))
    assert [(member.source, member.target) for member in members] == [("honey", "rape"), ("mite", "seed coat")]
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
    assert [(child.name, child.relations) for child in children(index, Place(1, 0))] == [
        ("honey", 3),
        ("mite", 2),
        ("queen", 1),
    ]
    assert [child.name for child in children(index, Place(2, 0))] == ["bees", "fields"]
    assert children(index, Place(0, 0)) == []


def test_of_a_hub_the_strongest_relations_are_the_first_of_all_of_them() -> None:
    large = large_index(2000)
    hub = Place(0, 0)
    assert large.layers[0].degrees[0] == 999 + 2  # every second entity, and the two beside it
    every = neighbours(large, hub)
    assert len(every) == 1001
    assert every == sorted(every, key=lambda row: (-row.relation.weight, row.name, row.id))
    assert neighbours(large, hub, 50) == every[:50]


def test_a_limit_cuts_children_and_members_after_they_are_sorted() -> None:
    large = large_index(2000)
    root = Place(len(large.layers) - 1, 0)
    assert [row.row for row in children(large, root, 3)] == [row.row for row in children(large, root)][:3]
    layer = large.layers[1]
    [row] = [row for row in layer.relations_of(0) if 1 in layer.ends[row]]
    relation = layer.relation(int(row))
    assert len(relation.members) > 5
    assert unfold(large, relation, 5) == unfold(large, relation)[:5]
