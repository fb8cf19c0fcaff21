"""Strategies that walk on the graph, on the small index (tests/small_index.py): masses by dense linear algebra."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.strategies.hipporag2 import entity_weights, nearest_facts
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.walks import EntityLinks, Transition, normalised
from tests.retrieval.scripted_tools import Scripted
from tests.retrieval.tools import TOOLS
from tests.small_index import unit

QUEEN, MITES = unit([[1, 0, 0, 0], [0, 1, 0, 0]])
RELATION_VECTORS = unit([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
QUESTION = "What harms the queen?"
NAMED = json.dumps({"named": ["queen"], "generic": []})
# Chunks that state a relation: queen - honey 4, honey - mite 1, honey - rape 1, rape - clover 2, mite - seed coat 1.
STATED = np.zeros((6, 6))
for _source, _target, _times in ((0, 1, 4), (1, 2, 1), (1, 3, 1), (3, 4, 2), (2, 5, 1)):
    STATED[_source, _target] = STATED[_target, _source] = _times
MENTIONS = np.zeros((6, 4))
for _entity, _chunks in enumerate(([0], [0, 1, 2], [1], [2], [2], [3])):
    MENTIONS[_entity, _chunks] = 1


@pytest.fixture
def stated(index: Index) -> Index:
    """Return the small index, its relations stated in chunks 0, 1, 2, 2 and 3."""
    base = index.layers[0]
    place = base.relations.schema.get_field_index("chunks")
    chunks = pa.array([[0], [1], [2], [2], [3]], pa.list_(pa.int32()))
    base = replace(base, relations=base.relations.set_column(place, "chunks", chunks))
    return replace(index, layers=(base, *index.layers[1:]))


def parts(index: Index) -> dict[str, Any]:
    none = csr_array((6, 6), dtype=np.float32)
    return {
        "synonyms": EntityLinks(none, csr_array(STATED, dtype=np.float32), index.entity_chunks),
        "near_duplicates": Transition(normalised(csr_array(np.sign(STATED), dtype=np.float32))),
        "relation_vectors": RELATION_VECTORS,
    }


def stationary(weights: np.ndarray, restart: np.ndarray, damping: float) -> np.ndarray:
    """Return the mass of the walk, by solving its linear system."""
    n = len(weights)
    transition = weights / weights.sum(axis=0)
    return np.asarray(np.linalg.solve(np.eye(n) - damping * transition, (1 - damping) * restart / restart.sum()))


def rows(trace: Trace) -> list[int | None]:
    return [passage.row for passage in trace.passages]


def ranked(scores: np.ndarray) -> list[int]:
    return [int(row) for row in np.argsort(-scores.round(6), kind="stable") if scores[row] > 0]


def test_hipporag_walks_from_the_named_entity_and_scores_chunks_by_their_entities(index: Index) -> None:
    scripted = Scripted({"queen": QUEEN}, [NAMED], parts(index))
    trace = strategy("hipporag", {"top_c": 3, "damping": 0.5}).retrieve(Query(QUESTION, QUEEN), index, scripted.tools)
    mass = stationary(STATED, np.array([1.0, 0, 0, 0, 0, 0]), 0.5)
    scores = MENTIONS.T @ mass
    assert list(trace.ranked_chunks) == ranked(scores)
    assert [passage.score for passage in trace.passages] == pytest.approx(sorted(scores, reverse=True)[:3], abs=1e-5)
    assert [section.name for section in trace.context.sections] == ["chunks"]
    assert trace.usage.calls == 1


def test_fastgraphrag_scores_relations_by_their_ends_and_chunks_by_their_relations(stated: Index) -> None:
    scripted = Scripted({"queen": QUEEN}, [NAMED], parts(stated))
    trace = strategy("fastgraphrag", {"top_c": 4}).retrieve(Query(QUESTION, QUEEN), stated, scripted.tools)
    # Scores are (1 + cosine) / 2. The named entity has queen alone; the question has queen (1), honey (.9) and the four
    # others (.5 each, just enough), together 3.9. Relations weigh alike.
    mass = stationary(np.sign(STATED), np.array([3.9, 0.9, 0.5, 0.5, 0.5, 0.5]) / 3.9, 0.85)
    kept = np.where(mass >= 0.005, mass, 0)
    relations = np.array([kept[source] + kept[target] for source, target in stated.layers[0].ends])
    chunks = np.array([relations[0], relations[1], relations[2] + relations[3], relations[4]])
    assert list(trace.ranked_chunks) == ranked(chunks)
    assert [passage.score for passage in trace.passages] == pytest.approx(sorted(chunks, reverse=True), abs=1e-4)
    order = [relation.row for relation in trace.relations if relation.role == "base"]
    assert order == ranked(relations)
    scripted = Scripted({"queen": QUEEN}, [NAMED], parts(stated))
    best = strategy("fastgraphrag", {"most_relations": 1}).retrieve(Query(QUESTION, QUEEN), stated, scripted.tools)
    assert best.ranked_chunks == (ranked(relations)[0],)  # relations 0 and 1 are in chunks 0 and 1


def test_fastgraphrag_finds_nothing_where_nothing_is_near(stated: Index) -> None:
    scripted = Scripted({"queen": unit([[-1, 0, 0, 0]])[0]}, [NAMED], parts(stated))
    trace = strategy("fastgraphrag", {}).retrieve(Query(QUESTION, unit([[-1, -1, -1, -1]])[0]), stated, scripted.tools)
    assert (trace.ranked_chunks, trace.context.tokens) == ((), 0)


def test_hipporag2_as_released_weighs_relations_and_links_twice() -> None:
    cosines = np.zeros((6, 6))
    for first, second, cosine in ((0, 2, 0.9), (1, 2, 0.8)):
        cosines[first, second] = cosines[second, first] = cosine
    links = EntityLinks(csr_array(cosines), csr_array(STATED), csr_array(MENTIONS))
    # Honey and mite are related with weight 1; the link takes the place of the relation.
    among = 2 * STATED
    among[0, 2] = among[2, 0] = 1.8
    among[1, 2] = among[2, 1] = 1.6
    wanted = np.block([[among, MENTIONS], [MENTIONS.T, np.zeros((4, 4))]])
    assert links.over_passages_released.matrix.toarray() == pytest.approx(wanted / wanted.sum(axis=0))


def test_hipporag2_starts_at_five_entities(index: Index) -> None:
    # All relations score 1: an entity weighs 1 / number of its chunks. Honey, in three, is the sixth.
    weights = entity_weights(index, (0, 1, 2, 3, 4), (1.0,) * 5)
    assert weights.tolist() == [1, 0, 1, 1, 1, 1]


def test_facts_are_scaled_over_all_relations() -> None:
    near = nearest_facts(RELATION_VECTORS, MITES, 2, TOOLS)
    assert near.rows.tolist() == [4, 1]
    assert near.scores == pytest.approx([1, np.sqrt(0.5)])


def test_entities_weigh_the_mean_of_their_relations_over_their_chunks(index: Index) -> None:
    weights = entity_weights(index, (4, 1), (1.0, 0.5))
    assert weights == pytest.approx([0, 0.5 / 3, 0.75, 0, 0, 1])


def test_hipporag2_walks_over_entities_and_passages_from_what_the_model_keeps(index: Index) -> None:
    scripted = Scripted({}, ['{"chosen": [2]}'], parts(index))
    trace = strategy("hipporag2", {"n_facts": 2, "top_c": 4}).retrieve(Query(QUESTION, MITES), index, scripted.tools)
    # The second statement is honey - mite, with a score of .707; the chunks' cosines are .707, 1, 0 and 0.
    score = np.sqrt(0.5)
    restart = np.array([0, score / 3, score, 0, 0, 0, 0.05 * score, 0.05, 0, 0])
    weights = np.block([[STATED, MENTIONS], [MENTIONS.T, np.zeros((4, 4))]])
    mass = stationary(weights, restart, 0.5)
    assert list(trace.ranked_chunks) == ranked(mass[6:])
    assert [passage.score for passage in trace.passages] == pytest.approx(sorted(mass[6:], reverse=True), abs=1e-5)
    assert "1. mite - seed coat" in scripted.asked[0]


def test_hipporag2_ranks_by_vectors_when_nothing_is_kept(index: Index) -> None:
    scripted = Scripted({}, ['{"chosen": []}'], parts(index))
    trace = strategy("hipporag2", {}).retrieve(Query(QUESTION, MITES), index, scripted.tools)
    assert trace.ranked_chunks[:2] == (1, 0)
    assert trace.steps[2].caption.code == "hipporag2.dense"


def test_hipporag2_ranks_by_vectors_when_the_reply_cannot_be_read(index: Index) -> None:
    scripted = Scripted({}, ["The second one.", "The second one."], parts(index))
    trace = strategy("hipporag2", {}).retrieve(Query(QUESTION, MITES), index, scripted.tools)
    assert trace.ranked_chunks[:2] == (1, 0)
    assert trace.steps[1].relations == ()
    assert trace.steps[2].caption.code == "hipporag2.dense"
    assert [note.code for note in trace.notes] == ["strategy.note.reply_unusable"]


def test_hipporag2_ranks_by_vectors_when_the_walk_has_no_place_to_start_from(index: Index) -> None:
    # The fifth statement has nothing in common with the question and scores 0; passages weigh nothing here.
    scripted = Scripted({}, ['{"chosen": [5]}'], parts(index))
    options = {"passage_weight": 0.0}
    trace = strategy("hipporag2", options).retrieve(Query(QUESTION, MITES), index, scripted.tools)
    assert trace.ranked_chunks[:2] == (1, 0)
    assert trace.steps[2].caption.code == "hipporag2.dense"


def test_hipporag2_keeps_all_and_says_so_without_a_model(index: Index) -> None:
    trace = strategy("hipporag2", {"n_facts": 2}).retrieve(
        Query(QUESTION, MITES), index, Scripted({}, None, parts(index)).tools
    )
    assert [note.code for note in trace.notes] == ["strategy.note.built_in"]
    assert [relation.row for relation in trace.relations] == [4, 1]


def test_kag_puts_earlier_answers_into_later_questions(index: Index) -> None:
    replies = ['{"questions": ["Who lays eggs?", "What harms #1?"]}', "queen", "mite"]
    vectors = {
        "Who lays eggs?": QUEEN,
        "What harms queen?": MITES,
        "lays eggs": QUEEN,
        "harms queen": MITES,
        "harms": MITES,
        "queen": QUEEN,
    }
    scripted = Scripted(vectors, replies, parts(index))
    trace = strategy("kag", {}).retrieve(Query(QUESTION, QUEEN), index, scripted.tools)
    questions = [item.name for item in trace.items if item.kind == "sub-question"]
    assert questions == ["Who lays eggs?", "What harms queen?", QUESTION]
    assert trace.usage.calls == 3
    assert [step.name for step in scripted.steps] == ["plan", "question-1", "question-2", "question-3"]
    # queen for the first question, mite for the second (its cosine to "harms queen" is 1), both for the last.
    linked = [{item.id for item in trace.items if item.id in step.items} for step in trace.steps[1:4]]
    assert [ids & {"id-queen", "id-mite"} for ids in linked] == [{"id-queen"}, {"id-mite"}, {"id-queen", "id-mite"}]


def test_kag_leaves_the_words_of_the_question_as_they_are(index: Index) -> None:
    asked = "What is harm #1?"
    replies = ['{"questions": ["Who lays eggs?"]}', "queen"]
    vectors = {"Who lays eggs?": QUEEN, "lays eggs": QUEEN, "harm": MITES, "1": MITES}
    scripted = Scripted(vectors, replies, parts(index))
    trace = strategy("kag", {}).retrieve(Query(asked, QUEEN), index, scripted.tools)
    questions = [item.name for item in trace.items if item.kind == "sub-question"]
    assert questions == ["Who lays eggs?", asked]


def test_kag_without_a_model_does_not_split_the_question(index: Index) -> None:
    scripted = Scripted({"harms": MITES, "queen": QUEEN}, None, parts(index))
    trace = strategy("kag", {}).retrieve(Query(QUESTION, QUEEN), index, scripted.tools)
    assert [item.name for item in trace.items if item.kind == "sub-question"] == [QUESTION]
    assert [note.code for note in trace.notes] == ["strategy.note.built_in"]
    assert trace.ranked_chunks


def test_g_retriever_joins_prized_nodes_and_counts_their_mentions(index: Index) -> None:
    # The question is nearest to queen (prize 1), its nearest relation is queen - honey: (1 - .5) / 2 at either end.
    trace = strategy("g_retriever", {"top_k": 1, "top_c": 2, "max_tokens": 200}).retrieve(
        Query(QUESTION, QUEEN), index, Scripted({}, None, parts(index)).tools
    )
    # With honey the tree is worth 1.25 + .25 - .5 = 1, without it 1.25: queen alone.
    assert [item.name for item in trace.nodes] == ["queen"]
    assert list(trace.ranked_chunks) == [0]
    cheap = strategy("g_retriever", {"top_k": 1, "edge_cost": 0.2, "max_tokens": 200}).retrieve(
        Query(QUESTION, QUEEN), index, Scripted({}, None, parts(index)).tools
    )
    # At a cost of .2 honey is worth (1 - .2) / 2 = .4, more than its edge.
    assert [item.name for item in cheap.nodes] == ["queen", "honey"]
    assert list(cheap.ranked_chunks) == [0, 1, 2]  # queen and honey are in chunk 0, honey in 1 and 2
    entities, relations = cheap.context.sections[:2]
    assert (entities.budget, relations.budget) == (100, 200 - entities.tokens)  # half, and what is left of it
