"""Concepts of chunks and groups of chunks, on the small index.

Honey is joined with mite, rape and clover, rape with clover. Chunks: 0 queen honey, 1 honey mite, 2 rape clover honey,
3 seed coat.
"""

import numpy as np
import pytest

from leanrag_core.indexing.parts.noun_graph import noun_graph
from leanrag_core.retrieval.base_graph import entity_items
from leanrag_core.retrieval.concepts import (
    ChunkGroup,
    chunk_groups,
    concepts_in,
    pairs_among,
    theme,
    together_links,
)
from tests.retrieval.hand_concepts import HIVE, concept_communities
from tests.small_index import small_index

INDEX = small_index()
GRAPH = noun_graph(INDEX, lambda done, total: None)
COMMUNITIES = concept_communities(HIVE, 6, 4)


def test_concepts_that_are_in_most_chunks_come_first() -> None:
    found = concepts_in(GRAPH, [0, 1, 2])
    assert (found.rows.tolist(), found.counts.tolist()) == ([1, 0, 2, 3, 4], [3, 1, 1, 1, 1])
    assert concepts_in(GRAPH, []).rows.tolist() == []


@pytest.mark.parametrize(
    ("chunks", "groups"),
    [
        # All three share the community of honey, also the chunk that has one of rape and clover.
        ([2, 0, 1], [ChunkGroup(1, (2, 0, 1))]),
        # Alone, chunk 2 has one concept of the first community: both are in one chunk, and the first wins.
        ([3, 2], [ChunkGroup(-1, (3,)), ChunkGroup(1, (2,))]),
        ([], []),
    ],
)
def test_chunks_go_to_the_community_that_most_of_them_share(chunks: list[int], groups: list[ChunkGroup]) -> None:
    assert chunk_groups(COMMUNITIES, GRAPH, chunks) == groups


def test_a_community_is_called_by_its_concepts_with_most_neighbours() -> None:
    assert theme(INDEX, GRAPH, COMMUNITIES.concepts[0]) == "honey, rape, clover"
    assert theme(INDEX, GRAPH, np.zeros(0, dtype=np.int32)) == ""


def test_edges_between_drawn_concepts_say_how_many_sentences_they_share() -> None:
    pairs = pairs_among(GRAPH, [4, 1, 3])
    assert pairs == [(1, 3), (1, 4), (3, 4)]
    assert pairs_among(GRAPH, []) == []
    links = together_links(GRAPH, [(3, 1), (1, 3)], entity_items(INDEX, [1, 3]))
    assert [(each.source, each.target, each.strength) for each in links] == [("id-honey", "id-rape", 1.0)]
