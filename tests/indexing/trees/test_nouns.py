"""E2GraphRAG's parts on the small index, worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part, read_part
from leanrag_core.indexing.parts.noun_graph import noun_graph
from leanrag_core.indexing.parts.sequential_tree import consecutive
from leanrag_core.indexing.sentence_mentions import occurs, plain
from leanrag_core.types.text_tree import TextTree
from tests.contract.indexes import INDEXES, stored
from tests.indexing.trees.test_trees import embed
from tests.small_index import small_index


def test_entities_of_one_sentence_are_joined() -> None:
    graph = noun_graph(small_index(), lambda done, total: None)
    # "A mite ... spoils the honey."; "Oilseed rape and clover give honey." Queen and honey share a chunk, no sentence.
    assert [tuple(row.values()) for row in graph.pairs.to_pylist()] == [(1, 2, 1), (1, 3, 1), (1, 4, 1), (3, 4, 1)]
    assert graph.counts.toarray().astype(int).tolist() == [
        [1, 0, 0, 0],
        [1, 1, 1, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    assert (graph.adjacency.toarray() == graph.adjacency.toarray().T).all()


@pytest.mark.parametrize(
    ("name", "sentence", "held"),
    [
        ("mite", "Mites drink.", True),
        ("mite", "It is mitered.", False),
        ("Seed coat", "The seed-coat keeps.", True),
        ("蜂蜜", "工蜂储存蜂蜜。", True),
        ("queen", "", False),
    ],
)
def test_names_are_found_as_words_in_singular_and_plural(name: str, sentence: str, held: bool) -> None:
    assert occurs(plain(name), plain(sentence)) == held


def test_entities_that_a_chunk_names_in_other_words_count_once() -> None:
    graph = noun_graph(INDEXES["one chunk"](), lambda done, total: None)
    assert graph.counts.toarray().tolist() == [[1.0]]
    assert graph.pairs.num_rows == 0


def test_neighbours_of_a_document_are_merged_until_one_is_left() -> None:
    documents = np.array([0] * 7 + [1] + [2] * 2)
    assert [group.tolist() for group in consecutive(documents, 5)] == [[0, 1, 2, 3, 4], [5, 6], [8, 9]]
    assert consecutive(np.array([0, 1, 2]), 5) == []
    assert consecutive(np.zeros(0, dtype=int), 5) == []


def test_the_sequential_tree_has_a_root_for_each_document(tmp_path: Path) -> None:
    index, info = stored("tiny", tmp_path / "index"), parts().named("sequential_tree")
    build_part(index, info, info.config(), PartModels(), PartTools(embed))
    tree: TextTree = read_part(index, info)
    assert tree.layer.tolist() == [0, 0, 0, 0, 1, 1]
    assert [tree.children[row].tolist() for row in (4, 5)] == [[0, 1], [2, 3]]
    assert tree.text(index, 2) == index.chunk(2).text
    assert tree.vectors[:4].tolist() == np.asarray(index.chunk_vectors).tolist()
    assert tree.by_rule
