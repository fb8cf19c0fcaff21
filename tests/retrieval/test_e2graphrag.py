"""E2GraphRAG, worked out by hand on the small index: honey is joined with mite, rape and clover, rape with clover."""

import pytest

from leanrag_core.indexing.parts.noun_graph import noun_graph
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.strategies.e2graphrag import (
    Config,
    NearPair,
    Strategy,
    by_occurrence,
    named_entities,
    near_pairs,
    tightened,
)
from leanrag_core.types.trace import Trace
from tests.contract.indexes import INDEXES
from tests.retrieval.test_raptor import tree
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import small_index, unit

INDEX = small_index()
GRAPH = noun_graph(INDEX, lambda done, total: None)


def trace(question: str, **options: object) -> Trace:
    query = Query(question, unit([[1, 0.5, 0, 0]])[0])
    config = Config(**options)
    return Strategy(config).retrieve(query, INDEX, with_parts(TOOLS, noun_graph=GRAPH, sequential_tree=tree()))


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Do mites and rape spoil the Honey?", [2, 3, 1]),
        ("What are seed coats?", [5]),
        ("What is the seed-coat of clover?", [5, 4]),
        ("Nothing of this", []),
    ],
)
def test_entities_are_found_by_their_names_in_the_order_of_the_question(question: str, rows: list[int]) -> None:
    assert named_entities(INDEX.layers[0], question) == rows


def test_names_in_a_script_without_blanks_are_found() -> None:
    assert named_entities(INDEXES["Chinese"]().layers[0], "工蜂把蜂蜜给蜂王吗?") == [1, 0]


def test_pairs_are_near_when_a_path_is_short_enough() -> None:
    pairs = near_pairs(GRAPH, [2, 3, 1], most_hops=4)
    assert [(pair.path, pair.chunks) for pair in pairs] == [((2, 1, 3), ()), ((2, 1), (1,)), ((3, 1), (2,))]
    assert [pair.path for pair in near_pairs(GRAPH, [2, 3, 1], most_hops=1)] == [(2, 1), (3, 1)]
    assert near_pairs(GRAPH, [0, 1], most_hops=4) == []  # they share a chunk, but no sentence


def test_the_hop_limit_is_tightened_while_there_are_too_many_chunks() -> None:
    pairs = [NearPair((0, 1), (4,)), NearPair((0, 5, 2), (1, 2)), NearPair((0, 6, 7, 3), (3, 4, 5))]
    assert tightened(pairs, most_hops=4, most_chunks=9).chunks == (1, 2, 3, 4, 5)
    within_two = tightened(pairs, most_hops=4, most_chunks=4)
    assert (within_two.hops, within_two.chunks) == (2, (1, 2, 4))
    within_one = tightened(pairs, most_hops=4, most_chunks=0)
    assert (within_one.hops, within_one.chunks) == (1, (4,))


def test_the_last_candidates_are_kept_where_fewer_hops_leave_none() -> None:
    pairs = [NearPair((0, 5, 2), (1, 2)), NearPair((0, 6, 7, 3), (3, 4, 5)), NearPair((0, 1), ())]
    last = tightened(pairs, most_hops=3, most_chunks=1)
    assert (last.hops, last.chunks) == (2, (1, 2))
    assert tightened(pairs[2:], most_hops=3, most_chunks=1).chunks == ()


def test_a_path_has_four_nodes_at_most() -> None:
    assert Config().most_hops == 3


def test_occurrences_are_counted_by_entity_then_by_sentence() -> None:
    assert by_occurrence(GRAPH, [1, 3], [[0], [1, 2], [3]]).tolist() == [[1, 1], [2, 3], [0, 0]]
    assert by_occurrence(GRAPH, [], [[0]]).tolist() == [[0, 0]]


def test_the_golden_local_retrieval() -> None:
    made = trace("Do mites and rape spoil the honey?")
    assert [item.name for item in made.with_role("entity")] == ["mite", "rape", "honey"]
    # Chunk 1 holds mite and honey, chunk 2 rape and honey: two entities and two sentences each, so by position.
    assert made.ranked_chunks == (1, 2)
    assert [passage.source.items for passage in made.passages if passage.source] == [
        ("id-mite", "id-honey"),
        ("id-rape", "id-honey"),
    ]
    assert [(each.source, each.target, each.strength) for each in made.relations] == [
        ("id-honey", "id-mite", 1.0),
        ("id-honey", "id-rape", 1.0),
    ]
    assert made.with_role("summary") == ()
    assert trace("Do mites and rape spoil the honey?", top_c=1).passages[0].row == 1


def test_without_a_pair_the_nearest_nodes_are_ordered_by_the_entities_in_them() -> None:
    # By cosine: leaf 0 .949, summary 4 .894, summary 6 .671, leaf 1 and summary 5 .447, leaves 2 and 3 nothing.
    made = trace("What are seed coats?", dense=5, top_c=3)
    ranked = sorted(made.items, key=lambda item: (item.kind == "entity", item.rank or 0))
    # Summary 6 is above all chunks and summary 5 above the last two, so both hold the seed coat; the others do not.
    assert [item.id for item in ranked if item.kind == "summary"] == ["summary-6", "summary-5"]
    assert made.passages == ()
    assert made.ranked_chunks == (0, 1, 2, 3)
    assert trace("Nothing of this", dense=5, top_c=2).passages[0].row == 0


def test_the_nearest_nodes_are_ordered_by_occurrences_and_not_by_entities() -> None:
    # They share no chunk. Summary 6 has honey three times and the seed coat; summary 4 has honey twice and is nearer
    # than summary 5, which has each of the two once.
    made = trace("Is honey in seed coats?", dense=7, top_c=4)
    ranked = sorted((item for item in made.items if item.kind == "summary"), key=lambda item: item.rank or 0)
    assert [item.id for item in ranked] == ["summary-6", "summary-4", "summary-5"]


def test_summaries_of_a_lower_rank_do_not_take_the_room_of_a_passage() -> None:
    # 10 tokens of leaf 0, 5 of summary 4 and 5 of summary 6 in the order of their cosines; then the budget is full.
    made = trace("Nothing of this", dense=5, top_c=5, max_tokens=24)
    assert [item.id for item in made.items if item.kind == "summary"] == ["summary-4", "summary-6"]
    assert [passage.row for passage in made.passages] == [0]


def test_a_budget_is_kept() -> None:
    for budget in (0, 20, 60):
        for question in ("Do mites spoil the honey?", "What are seed coats?"):
            assert trace(question, max_tokens=budget).context.tokens <= budget
