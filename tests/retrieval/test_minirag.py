"""MiniRAG on the small index (tests/small_index.py): queen - honey - mite - seed coat, honey - rape - clover."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.strategies.minirag import mapped_question, merged_scores, own_types
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.scripted_tools import Scripted
from tests.small_index import unit

QUEEN, MITE = unit([[1, 0, 0, 0], [0, 1, 0, 0]])
NAMES = unit([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 1, 0.2], [0, 0, 0, 1]])
RELATIONS = unit([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
MAPPED = json.dumps({"answer_types": ["Pest", "planet"], "entities": ["queen"]})
QUESTION = "What harms the queen?"


@pytest.fixture
def typed(index: Index) -> Index:
    """Return the index, where the mite is a pest."""
    base = index.layers[0]
    types = pa.array(["concept", "concept", "Pest", "plant", "plant", "concept"])
    entities = base.entities.set_column(base.entities.schema.get_field_index("type"), "type", types)
    return replace(index, layers=(replace(base, entities=entities), *index.layers[1:]))


def scripted(*replies: str) -> Scripted:
    vectors = {"queen": QUEEN, "mite": MITE, QUESTION: QUEEN, "moon": -QUEEN - MITE}
    return Scripted(vectors, replies or None, {"name_vectors": NAMES, "relation_vectors": RELATIONS})


def retrieve(index: Index, *replies: str, **options: int) -> Trace:
    return strategy("minirag", options).retrieve(Query(QUESTION, QUEEN), index, scripted(*replies).tools)


def scores(trace: Trace) -> dict[int, float]:
    return {passage.row: passage.score for passage in trace.passages if passage.row is not None}


def test_the_score_of_a_chunk_is_that_of_the_start_doubled_and_ten_times_where_its_best_chunk_is_near(
    typed: Index,
) -> None:
    trace = retrieve(typed, MAPPED)
    # One name near to "queen": cosine 1. Its paths end at the mite, which may answer, and at the rape.
    assert [item.name for item in trace.items if item.roles == ("entity",)] == ["queen"]
    # Chunks of the paths by 3 (mite, and the vote on queen - honey) and 2 (rape): chunk 0 has queen and honey in both,
    # 1 honey in both and the mite, 2 honey in both and the rape. Only chunk 0 has a cosine to the question.
    assert list(trace.ranked_chunks) == [0, 1, 2]
    assert scores(trace) == {0: 20.0, 1: 20.0, 2: 20.0}


def test_types_of_the_answer_decide_which_chunk_an_entity_brings(typed: Index) -> None:
    plants = json.dumps({"answer_types": ["plant"], "entities": ["queen"]})
    # Honey is in 0, 1 and 2 alike, and the queen in 0: the end of the better path decides about the second chunk.
    assert list(retrieve(typed, MAPPED, chunks_each=2).ranked_chunks) == [0, 1]
    assert list(retrieve(typed, plants, chunks_each=2).ranked_chunks) == [0, 2]


def test_the_best_paths_are_drawn_and_lit(typed: Index) -> None:
    trace = retrieve(typed, MAPPED)
    [paths] = [step for step in trace.steps if step.name == "paths"]
    assert [trace.item(id_).name for id_ in paths.items if id_ != "answer-types"] == ["queen", "honey", "mite"]
    on_path = [each.id for each in trace.relations if each.role == "on-path"]
    assert on_path == ["rel-0-1-verb", "rel-1-2-verb"]
    assert set(on_path) <= set(paths.relations)
    assert paths.caption.values["n"] == 2  # queen - honey - mite, queen - honey - rape
    assert [part.name for part in trace.context.sections] == ["entities", "chunks"]  # paths are drawn, not told


def test_an_entity_without_a_relation_brings_its_own_chunks_and_only_the_nearest_fifth_stays(typed: Index) -> None:
    base = typed.layers[0]
    alone = replace(typed, layers=(replace(base, relations=base.relations.slice(0, 0)), *typed.layers[1:]))
    reply = json.dumps({"answer_types": [], "entities": ["queen", "mite"]})
    parts = {"name_vectors": NAMES, "relation_vectors": RELATIONS[:0]}
    tools = Scripted({"queen": QUEEN, "mite": MITE}, [reply], parts).tools
    trace = strategy("minirag", {}).retrieve(Query(QUESTION, QUEEN), alone, tools)
    assert list(trace.ranked_chunks) == [0]  # of queen and mite, both with cosine 1, the first one


def test_where_no_name_of_the_graph_is_near_the_chunks_near_to_the_question_come(typed: Index) -> None:
    trace = retrieve(typed, json.dumps({"answer_types": [], "entities": ["moon"]}))
    assert list(trace.ranked_chunks) == [0, 1, 2, 3]
    assert trace.passages[0].reason is not None
    assert trace.passages[0].reason.code == "passage.near"


def test_scores_are_summed_over_the_names_and_entities_that_are_no_start_are_passed_over() -> None:
    lists = [{5: 0.9, 7: 0.8, 6: 0.5}, {6: 0.4}]
    chunks_of = {7: [1, 2], 6: [2, 3]}  # 5 has no relation, and was left out
    # 7 comes first: .8 x 2, and x 10 since its best chunk 1 is near; 6: .5, and for the second name .4 x 2.
    assert merged_scores(lists, chunks_of, {1, 3}) == {1: 16.0, 2: 17.3, 3: 1.3}


def test_types_that_the_graph_does_not_have_are_dropped_and_the_model_sees_those_that_it_has(typed: Index) -> None:
    tools = scripted(MAPPED)
    mapped = mapped_question(QUESTION, typed.layers[0], tools.tools)
    assert (mapped.entities, mapped.types, mapped.note) == (("queen",), ("pest",), None)
    assert "- concept: honey; queen\n- plant: rape; clover\n- pest: mite\n" in tools.asked[0]


def test_a_reply_that_cannot_be_used_is_asked_for_again_and_then_the_question_itself_serves(typed: Index) -> None:
    tools = scripted('{"answer_types": "pest", "entities": []}', "{}")
    mapped = mapped_question("Which pests harm the queen?", typed.layers[0], tools.tools)
    assert (mapped.entities, mapped.types) == (("pests harm", "queen"), ("pest",))
    assert mapped.note is not None
    assert len(tools.asked) == 2


def test_a_question_without_a_name_or_phrase_is_searched_for_itself(typed: Index) -> None:
    assert mapped_question("Why?", typed.layers[0], scripted().tools).entities == ("Why?",)


@pytest.mark.parametrize(
    ("question", "types"),
    [
        ("Who patented the hive?", ("person",)),
        ("Which plants flower, and where?", ("plant", "location")),
        ("When did a person come?", ("event", "person")),
        ("谁发明了蜂箱?", ("person",)),
        ("What is known of honey?", ()),
    ],
)
def test_types_of_the_answer_are_read_from_the_question(question: str, types: tuple[str, ...]) -> None:
    assert own_types(question, ["person", "plant", "location", "event"]) == types


def test_no_more_chunks_than_wanted_and_the_ranking_goes_on(typed: Index) -> None:
    trace = retrieve(typed, MAPPED, top_c=1)
    assert (len(trace.passages), len(trace.ranked_chunks)) == (1, 3)
    assert np.isclose(sum(section.tokens for section in trace.context.sections), trace.context.tokens)
