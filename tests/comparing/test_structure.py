"""What the climb brought on the small index: aggregates, inter-cluster relations and chunks beyond cosine search."""

import numpy as np

from leanrag_core.comparing.structure import AGGREGATED, CHUNKS, RELATIONS, brought_by_climb, climbs
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart
from tests.comparing.test_lost_evidence import QUEEN, run


def relation_vectors(index: Index, towards: float) -> np.ndarray:
    n = sum(layer.relations.num_rows for layer in index.layers[1:])
    return np.tile(np.float32([towards, 0, 0, 0]), (n, 1))


def test_an_item_counts_when_cosine_search_at_the_same_count_would_not_bring_it(index: Index) -> None:
    trace = run(index, "leanrag", top_n=4, top_c=2)
    structure = brought_by_climb(index, trace, QUEEN, relation_vectors(index, 1))
    above = [item for item in trace.items if item.layer]
    cosines = np.concatenate([layer.vectors for layer in index.layers[1:]]) @ QUEEN
    nearest = set(np.argsort(-np.round(cosines, 6), kind="stable")[: len(above)].tolist())
    offset = {1: 0, 2: len(index.layers[1])}
    expected = {item.id for item in above if item.layer and (item.row or 0) + offset[item.layer] not in nearest}
    assert structure.counts[AGGREGATED] == len(above)
    assert {item.ref for item in structure.of_kind(AGGREGATED)} == expected
    assert all(item.rank > structure.counts[item.kind] for item in structure.brought)
    assert structure.tokens == trace.context.tokens
    assert structure.brought_tokens == sum(item.tokens for item in structure.brought)


def test_a_chunk_that_the_seeds_lead_to_and_cosine_does_not(index: Index) -> None:
    trace = run(index, "leanrag", top_n=2, top_c=1)
    [passage] = trace.passages
    towards = np.asarray(index.chunk_vectors)[passage.row or 0]
    assert brought_by_climb(index, trace, towards, None).of_kind(CHUNKS) == ()
    away = np.zeros_like(np.asarray(index.chunk_vectors)[0])
    away[int(np.argmin(np.asarray(index.chunk_vectors)[passage.row or 0]))] = 1
    [chunk] = brought_by_climb(index, trace, away, None).of_kind(CHUNKS)
    assert (chunk.ref, chunk.rank > 1, chunk.seeds) == (
        passage.id,
        True,
        len(passage.source.items if passage.source else ()),
    )


def test_sentences_that_rest_on_the_structure_are_named(index: Index) -> None:
    trace = run(index, "leanrag", top_n=4)
    vectors = relation_vectors(index, 1)
    [first, *_] = brought_by_climb(index, trace, -QUEEN, vectors).brought
    answer = Answer(
        "a b", (AnswerPart("a", ("C9",)), AnswerPart("b", (first.mark,))), (first.mark,), True, True, "", trace
    )
    again = brought_by_climb(index, trace, -QUEEN, vectors, answer).brought
    assert {item.mark: item.sentences for item in again if item.sentences} == {first.mark: (2,)}


def test_relations_that_are_too_many_to_rank_are_said_and_not_counted(index: Index) -> None:
    trace = run(index, "leanrag", top_n=4)
    ranked = brought_by_climb(index, trace, QUEEN, relation_vectors(index, 1))
    unranked = brought_by_climb(index, trace, QUEEN, None)
    assert ranked.counts[RELATIONS] == unranked.unranked > 0 == ranked.unranked
    assert unranked.of_kind(RELATIONS) == ()


def test_vector_search_climbs_nothing(index: Index) -> None:
    assert climbs(run(index, "leanrag"))
    assert not climbs(run(index, "vector"))
