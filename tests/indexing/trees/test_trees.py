"""Trees of texts: how leaves are cut, what summaries are made of, how RAPTOR's tree grows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import BudgetSpent
from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part, read_part
from leanrag_core.indexing.text_trees import GrowingTree, cut_leaves, extracted, spans, summaries
from leanrag_core.models.pacing import Meter
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Budget
from leanrag_core.types.text_tree import TextTree
from tests.contract.indexes import index_of
from tests.retrieval.scripted import ScriptedLanguage
from tests.small_index import small_index

TEXT = "The queen lays eggs. The workers store honey.\n\nA mite drinks from the bee."


def embed(texts: Sequence[str]) -> np.ndarray:
    """Embed texts so that those about the same thing, by their first word, are near."""
    rows = np.array([[1.0, 1 + sum(text.split()[0].encode()) % 11, len(text) % 5, 1.0] for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_leaves_hold_as_many_whole_sentences_as_fit() -> None:
    assert [TEXT[start:end] for start, end, _ in spans(TEXT, 11)] == [
        "The queen lays eggs. The workers store honey.",
        "A mite drinks from the bee.",
    ]
    assert [TEXT[start:end] for start, end, _ in spans(TEXT, 100)] == [TEXT]
    assert all(tokens == count_tokens(TEXT[start:end]) for start, end, tokens in spans(TEXT, 11))


def test_a_sentence_that_is_too_long_is_cut_and_nothing_is_lost() -> None:
    long = "word " * 50 + "end."
    pieces = [long[start:end] for start, end, _ in spans(long, 20)]
    assert all(count_tokens(piece) <= 20 for piece in pieces)
    assert " ".join(pieces) == long
    assert spans("  \n", 20) == []


def test_leaves_lie_in_chunks_and_overlaps_are_cut_once() -> None:
    small = small_index()
    chunks = small.chunks.to_pylist()
    chunks[1]["start"] = 21  # begins inside chunk 0, which ends at 45
    overlapping = replace(small, chunks=small.chunks.from_pylist(chunks, schema=small.chunks.schema))
    leaves = cut_leaves(overlapping, 100)
    assert [(leaf.chunk, leaf.start, leaf.end) for leaf in leaves] == [(0, 0, 45), (1, 46, 94), (2, 0, 35), (3, 36, 69)]
    for leaf in leaves:
        document = overlapping.document(overlapping.chunks["document"][leaf.chunk].as_py())
        assert document.text[leaf.start : leaf.end] == leaf.text


def test_a_builtin_summary_takes_first_sentences_of_the_central_texts_in_their_order() -> None:
    texts = ["Far off. Really.", "Middle one. More of it.", "Also central. And on."]
    vectors = np.array([[0.0, 1], [1, 0], [0.9, 0.1]], dtype=np.float32)
    assert extracted(texts, vectors, 7) == "Middle one. Also central."
    assert extracted(texts, vectors, 100) == "Far off. Really. Middle one. More of it. Also central. And on."
    assert extracted(["word " * 40], vectors[:1], 10) == ("word " * 10).strip()
    assert extracted([], vectors[:0], 10) == ""


def test_a_model_writes_summaries_and_the_builtin_writer_stands_in() -> None:
    model = ScriptedLanguage(lambda prompt: "" if "mite" in prompt else "It is about\nbees. " + "More of it. " * 40)
    tools = PartTools(embed, model, meter=model.meter)
    made = summaries([["Queens lay eggs."], ["A mite drinks."]], [np.eye(2)[:1]] * 2, tools, max_tokens=20, done=0)
    assert made[0].text.startswith("It is about bees. More of it.")
    assert count_tokens(made[0].text) <= 20
    assert [summary.by_model for summary in made] == [True, False]
    assert made[1].text == "A mite drinks."
    assert model.meter.read().faults == 1


def test_a_spent_budget_stops_the_tree() -> None:
    model = ScriptedLanguage(lambda prompt: "Short.", Meter(Budget(calls=1)))
    tools = PartTools(embed, model, meter=model.meter)
    with pytest.raises(BudgetSpent):
        summaries([["A."]] * 30, [np.eye(2)[:1]] * 30, tools, max_tokens=20, done=0)


def test_a_tree_knows_its_roots_its_leaves_and_its_texts() -> None:
    small = small_index()
    leaves = cut_leaves(small, 100)
    tree = GrowingTree(leaves, np.asarray(small.chunk_vectors), PartTools(embed))
    tree.grow([np.array([0, 1]), np.array([1, 2, 3])], max_tokens=100)
    tree.grow([np.array([0, 1])], max_tokens=100)
    made = tree.finished()
    assert made.layer.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert [made.children[row].tolist() for row in (4, 5, 6)] == [[0, 1], [1, 2, 3], [4, 5]]
    assert made.roots.tolist() == [6]
    assert made.leaves_below(6) == [0, 1, 2, 3]
    assert made.leaves_below(2) == [2]
    assert made.text(small, 1) == leaves[1].text
    assert made.text(small, 4).startswith("The queen lays eggs.")
    assert made.by_rule
    assert made == made
    assert made != TextTree(made.table, made.vectors + 1)


def test_raptors_tree_has_layers_of_summaries_above_many_leaves(tmp_path: Path) -> None:
    words = ("Queens", "Mites", "Rape", "Clover")
    texts = {f"text {n}": f"{words[n % 4]} are of kind {n}. They matter in year {1900 + n}." for n in range(40)}
    write_index(tmp_path, index_of(texts, []))
    index, info = read_index(tmp_path), parts().named("chunk_tree")
    build_part(index, info, info.config(), PartModels(), PartTools(embed))
    tree: TextTree = read_part(index, info)
    assert (tree.layer == 0).sum() == 40
    assert tree.layer.max() >= 1
    assert sorted({leaf for root in tree.roots for leaf in tree.leaves_below(int(root))}) == list(range(40))
    assert max(tree.table["tokens"].to_pylist()) <= 100
