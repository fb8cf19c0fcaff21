from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.checking.check import check_index
from leanrag_core.checking.entities import of_the_index
from leanrag_core.checking.problem import Subject
from leanrag_core.checking.relations import made_of
from leanrag_core.checking.tree import subtree_problems
from leanrag_core.retrieval.lca import Subtree, lca_subtree
from leanrag_core.storage.layout import read_index
from leanrag_core.types.build_report import DroppedItem
from leanrag_core.types.graph import Layer
from leanrag_core.types.manifest import BY_MODEL, HEURISTIC, IMPORTED, REFERENCE_GRAPH
from tests.small_index import EMPTY_REPORT, recorded, small_index
from tests.storage.test_layout import write_format_1


@pytest.fixture
def index():
    """Return the small index, its one aggregated relation being what eq. 5 makes of its members."""
    made = small_index()
    relations = with_column(made.layers[1].relations, "weight", [2.0])
    return with_layer(made, 1, relations=with_column(relations, "description", ["1 meets 3. 2 meets 5."]))


def failed(index):
    return {result.name for result in check_index(index) if not result.ok}


def with_layer(index, number, **changes):
    layer = index.layers[number]
    columns = {name: getattr(layer, name) for name in ("entities", "relations", "number", "vectors", "parent")}
    changed = Layer(**{**columns, **changes})
    return replace(index, layers=(*index.layers[:number], changed, *index.layers[number + 1 :]))


def with_column(table, name, values):
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type))


def parents(*rows):
    return np.array(rows, dtype=np.int32)


def test_a_sound_index_passes_every_check(index):
    assert failed(index) == set()
    assert all(result.detail for result in check_index(index))


def test_a_parent_that_is_not_there_is_found(index):
    assert "one parent" in failed(with_layer(index, 0, parent=parents(0, 0, 0, 1, 1, 7)))


def test_a_parent_without_children_is_found(index):
    assert "one parent" in failed(with_layer(index, 0, parent=parents(0, 0, 0, 0, 0, 0)))


def test_two_tops_are_found(index):
    assert "one root" in failed(replace(index, layers=index.layers[:2]))


def test_a_cluster_above_the_cap_is_found(index):
    tight = replace(index.manifest, config=recorded(cluster_size=2, size_cap=True))
    uneven = with_layer(replace(index, manifest=tight), 0, parent=parents(0, 0, 0, 0, 0, 1))
    [sizes] = [result for result in check_index(uneven) if result.name == "cluster sizes"]
    assert not sizes.ok
    assert "holds 5 nodes, above the cap of 4" in sizes.detail


def test_more_clusters_than_m_are_found(index):
    wide = replace(index.manifest, config=recorded(cluster_size=6))
    assert failed(replace(index, manifest=wide)) == {"cluster sizes"}


def test_a_wrong_lambda_is_found(index):
    relations = with_column(index.layers[1].relations, "strength", [3])
    assert failed(with_layer(index, 1, relations=relations)) == {"connectivity"}


def test_a_relation_that_aggregates_another_pair_is_found(index):
    relations = with_column(index.layers[1].relations, "members", [[2, 3]])  # 3 joins rape and clover
    assert failed(with_layer(index, 1, relations=relations)) == {"unfolding", "weights", "relation texts"}


def test_a_member_that_is_not_there_is_found(index):
    relations = with_column(index.layers[1].relations, "members", [[2, 99]])
    assert "unfolding" in failed(with_layer(index, 1, relations=relations))


def test_a_chunk_missing_from_a_parent_is_found(index):
    entities = with_column(index.layers[1].entities, "chunks", [[0, 1], [2, 3]])
    assert "chunks of entities" in failed(with_layer(index, 1, entities=entities))


@pytest.mark.parametrize("value", [0.0, np.nan, 2.0])
def test_a_vector_that_is_not_of_length_one_is_found(index, value):
    vectors = np.array(index.layers[0].vectors)
    vectors[2] = value
    assert failed(with_layer(index, 0, vectors=vectors)) == {"unit vectors"}


def test_a_relation_twice_or_turned_round_is_found(index):
    relations = index.layers[0].relations
    twice = with_column(relations, "target", [1, 2, 3, 4, 5])
    turned = with_column(with_column(twice, "source", [1, 1, 1, 3, 2]), "target", [0, 2, 2, 4, 5])
    [ends] = [
        result for result in check_index(with_layer(index, 0, relations=turned)) if result.name == "relation ends"
    ]
    assert "source does not come before" in ends.detail
    assert "joins the same entities" in ends.detail


def test_an_id_twice_is_found(index):
    entities = with_column(index.layers[0].entities, "id", ["a", "a", "b", "c", "d", "e"])
    assert failed(with_layer(index, 0, entities=entities)) == {"ids"}


def test_a_chunk_outside_its_document_or_miscounted_is_found(index):
    assert "chunk spans" in failed(replace(index, chunks=with_column(index.chunks, "end", [45, 995, 35, 69])))
    assert "chunk spans" in failed(replace(index, chunks=with_column(index.chunks, "tokens", [1, 1, 1, 1])))


def test_a_report_that_lists_more_than_it_counts_is_found(index):
    listed = replace(EMPTY_REPORT, drops={"parse": 0}, dropped={"parse": (DroppedItem("a", "b"),)})
    assert failed(replace(index, report=listed)) == {"build report"}


def test_damage_that_stops_a_check_is_a_failed_check_and_no_crash(index):
    broken = with_layer(index, 1, relations=index.layers[1].relations.drop_columns(["members"]))
    assert {"connectivity", "unfolding"} <= failed(broken)


def subtree(index, seeds):
    return list(subtree_problems(PARENTS, seeds, lca_subtree(PARENTS, [(0, seed) for seed in seeds])))


PARENTS = [parents(0, 0, 0, 1, 1, 1), parents(0, 0), parents()]


def test_siblings_meet_in_their_parent_and_strangers_in_the_root(index):
    assert [layer.parent.tolist() for layer in index.layers] == [parent.tolist() for parent in PARENTS]
    assert subtree(index, [0, 1]) == []
    assert subtree(index, [0, 3, 5]) == []
    assert subtree(index, [4]) == []


@pytest.mark.parametrize(
    ("nodes", "top", "parent", "expected_text"),
    [
        ([(0, 0), (0, 1), (1, 0), (2, 0)], (2, 0), {(0, 0): (1, 0), (0, 1): (1, 0), (1, 0): (2, 0)}, "takes 4 nodes"),
        (
            [(0, 0), (0, 1), (0, 2), (1, 0)],
            (1, 0),
            {(0, 0): (1, 0), (0, 1): (1, 0), (0, 2): (1, 0)},
            "takes 4 nodes, the union over pairs of seeds has 3",
        ),
        ([(0, 0), (0, 1), (1, 0)], (1, 0), {(0, 0): (1, 0), (0, 1): (1, 1)}, "other parents"),
        ([(0, 0), (0, 1)], (1, 0), {}, "2 tops"),
    ],
)
def test_a_subtree_of_the_retrieval_that_is_not_the_smallest_is_reported(nodes, top, parent, expected_text):
    assert expected_text in " ".join(subtree_problems(PARENTS, [0, 1], Subtree((top,), tuple(nodes), parent)))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("2 meets 5. 1 meets 3.", True),
        ("1 meets 3.", True),
        ("1 meets 3. 2 meets", True),
        ("1 meets 3. 2 meets 6.", False),
        ("1 meets 3. Indeed. 2 meets 5.", False),
        ("", False),
    ],
)
def test_a_concatenated_description_is_made_of_its_members(text, whole):
    assert made_of(text, {"1 meets 3.", "2 meets 5."}) == whole


def test_a_concatenated_description_that_lost_a_member_though_all_fit_is_found(index):
    relations = with_column(index.layers[1].relations, "description", ["1 meets 3."])
    short = with_layer(index, 1, relations=relations)
    assert failed(short) == set(), "it may have been cut"
    roomy = replace(
        index.manifest, config=recorded(cluster_size=3, size_cap=True, model="builtin", concatenation_tokens=100)
    )
    assert failed(replace(short, manifest=roomy)) == {"relation texts"}


@pytest.mark.parametrize(
    ("kind", "models"),
    [
        (HEURISTIC, {"none"}),
        (REFERENCE_GRAPH, {"none"}),
        (BY_MODEL, {"gpt 1"}),
        (IMPORTED, {"none", "gpt 1"}),
    ],
)
def test_the_kind_of_a_graph_follows_from_its_language_model(index, kind, models):
    fits = set()
    for model in ("none", "gpt 1"):
        manifest = replace(index.manifest, kind=kind, language_model=model, extractor="of a build")
        problems = of_the_index(Subject(replace(index, manifest=manifest)))
        if not any("which language_model contradicts" in str(problem) for problem in problems):
            fits.add(model)
    assert fits == models


def test_an_index_of_format_1_is_checked_under_the_names_of_its_files(index, tmp_path):
    write_format_1(tmp_path, index)
    assert failed(read_index(tmp_path)) == set()
    [stored] = [result for result in check_index(read_index(tmp_path)) if result.name == "stored places"]
    assert "format 1" in stored.detail
    lighter = with_column(index.layers[1].relations, "weight", [0.5])
    write_format_1(tmp_path, with_layer(index, 1, relations=lighter))
    [weights] = [result for result in check_index(read_index(tmp_path)) if not result.ok]
    assert weights.problems[0].file == "relations-1.parquet"
