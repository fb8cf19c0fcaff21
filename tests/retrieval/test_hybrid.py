"""Hybrid by hand: two rankings, the sum of reciprocal ranks, and what they do for the seeds of LeanRAG-walk."""

from typing import Any

import numpy as np
import pytest

from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import Query, parts_needed, strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.walks import walk_operator
from tests.contract.indexes import index_of
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import unit

TEXTS = {"mite": "A mite drinks.", "acid": "Acid kills.", "hive": "A hive.", "comb": "Comb."}


class Words:
    """What each chunk weighs for any word."""

    def __init__(self, weights: list[float]) -> None:
        self.weights = weights

    def get_scores(self, tokens: list[str]) -> np.ndarray:
        return np.array(self.weights, dtype=np.float32)


def tools(weights: list[float]) -> Tools:
    return with_parts(TOOLS, lexical=Words(weights))


def retrieve(name: str, vector: list[float], weights: list[float], **options: Any) -> Trace:
    index = index_of(TEXTS, [(0, 1)])
    return strategy(name, options).retrieve(Query("mite acid?", unit([vector])[0]), index, tools(weights))


# Chunks have the vectors of their entities, near (1,0,0,0), (0,1,0,0), (0,0,1,0) and (0,0,0,1) in that order.
BY_VECTOR = [4.0, 3.0, 2.0, 1.0]


def test_a_chunk_scores_the_sum_of_its_reciprocal_ranks() -> None:
    # By vector 0, 1, 2, 3; by words 2, 1.
    trace = retrieve("hybrid", BY_VECTOR, [0.0, 1.0, 2.0, 0.0])
    expected = {1: 1 / 62 + 1 / 62, 2: 1 / 61 + 1 / 63, 0: 1 / 61, 3: 1 / 64}
    ranked = sorted(expected, key=lambda row: -expected[row])
    assert ranked == [2, 1, 0, 3]
    assert list(trace.ranked_chunks) == ranked
    assert [passage.score for passage in trace.passages] == pytest.approx([expected[row] for row in ranked])
    reasons = [sentence(passage.reason) for passage in trace.passages if passage.reason]
    assert reasons[:3] == [
        "rank 1 by words, 3 by vector",
        "rank 2 by words, 2 by vector",
        "no word of the question, rank 1 by vector",
    ]


def test_a_small_constant_lets_first_ranks_count_more() -> None:
    # k = 1: chunk 2 has 1/2 + 1/4, chunk 1 has 1/3 + 1/3, and the first one gains by its first rank.
    sharp = retrieve("hybrid", BY_VECTOR, [0.0, 1.0, 2.0, 0.0], rank_constant=1)
    assert [passage.score for passage in sharp.passages[:2]] == pytest.approx([3 / 4, 2 / 3])


def test_without_a_word_of_the_question_vectors_rank_alone() -> None:
    trace = retrieve("hybrid", BY_VECTOR, [0.0] * 4)
    assert list(trace.ranked_chunks) == [0, 1, 2, 3]
    assert [item.name for item in trace.nodes] == ["mite acid?"]
    assert "No chunk has a word of the question: vectors rank alone." in [sentence(note) for note in trace.notes]


def test_each_search_is_joined_to_the_passages_that_it_led_to() -> None:
    trace = retrieve("hybrid", BY_VECTOR, [0.0, 1.0, 2.0, 0.0], top_c=2)
    led = {(link.source, link.target) for link in trace.relations}
    assert led == {("search-1", "chunk-1"), ("search-1", "chunk-2"), ("search-2", "chunk-1")}
    assert [step.items for step in trace.steps[:2]] == [("search-1",), ("search-2",)]


def test_seeds_of_the_walk_are_fused_with_entities_of_the_first_passages(index: Index) -> None:
    # By cosine: queen, honey, then the others (0), by row. Words: chunk 3 (seed coat) alone; vectors: 0 (queen) first.
    # Seed coat is 6th by cosine, and in the first fused passage or the second.
    vector = unit([[1, 0.1, 0, 0]])[0]
    words = with_parts(TOOLS, lexical=Words([0.0, 0.0, 0.0, 5.0]), passage_walk=walk_operator(index.entity_chunks))
    plain = strategy("leanrag_walk", {"top_n": 3}).retrieve(Query("what?", vector), index, words)
    helped = strategy("leanrag_walk", {"top_n": 3, "seed_help": "hybrid"}).retrieve(
        Query("what?", vector), index, words
    )
    assert "seed coat" not in [item.name for item in plain.with_role("seed")]
    assert "seed coat" in [item.name for item in helped.with_role("seed")]
    assert "seed_help" not in plain.parameters
    assert helped.parameters["seed_help"] == "hybrid"


def test_the_walk_needs_the_words_only_where_they_help() -> None:
    assert parts_needed("leanrag_walk", {}) == ()
    assert parts_needed("leanrag_walk", {"seed_help": "hybrid"}) == ("lexical",)
    assert parts_needed("hybrid", {}) == ("lexical",)
