"""RAPTOR, worked out by hand: four leaves, which are the small index's chunks, and two summaries below a third.

layer 2   6 (4 5)
layer 1   4 (0 1)   5 (2 3)
"""

import numpy as np
import pyarrow as pa

from leanrag_core.retrieval.base import Query, strategies
from leanrag_core.retrieval.strategies.raptor import Config, Strategy
from leanrag_core.types.text_tree import NODE_SCHEMA, TextTree
from leanrag_core.types.trace import Trace
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import SPANS, small_index, unit

QUERY = Query("Who stores honey?", unit([[1, 0.5, 0, 0]])[0])


def tree(*, by_model: bool = True) -> TextTree:
    leaves = [
        {
            "layer": 0,
            "chunk": row,
            "start": start,
            "end": end,
            "text": "",
            "children": [],
            "tokens": 10,
            "by_model": False,
        }
        for row, (_, start, end) in enumerate(SPANS)
    ]
    none = {"chunk": -1, "start": -1, "end": -1, "tokens": 5, "by_model": by_model}
    above = [
        {"layer": 1, "text": "Hives.", "children": [0, 1], **none},
        {"layer": 1, "text": "Fields.", "children": [2, 3], **none},
        {"layer": 2, "text": "Farms.", "children": [4, 5], **none},
    ]
    # Cosines to (1, .5, 0, 0) / 1.118: .949, .447, 0, 0 of the leaves; .894, .447 and .671 above.
    vectors = [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 1e-6, 0], [1, 1, 1, 1]]
    return TextTree(pa.Table.from_pylist([*leaves, *above], schema=NODE_SCHEMA), unit(vectors))


def test_the_preset_of_the_paper_has_two_thousand_tokens() -> None:
    assert strategies().named("raptor").preset("paper").options == {"top_c": 20, "max_tokens": 2000}


def trace(text_tree: TextTree | None = None, **options: object) -> Trace:
    config = Config(**options)
    return Strategy(config).retrieve(QUERY, small_index(), with_parts(TOOLS, chunk_tree=text_tree or tree()))


def by_rank(made: Trace) -> list[str]:
    return [item.id for item in sorted(made.items, key=lambda item: item.rank or 0)]


def test_the_collapsed_tree_takes_the_nearest_nodes_of_all_layers() -> None:
    made = trace(top_c=4)
    assert by_rank(made) == ["leaf-0", "summary-4", "summary-6", "leaf-1"]
    assert [round(item.score or 0, 3) for item in made.with_role("summary")] == [0.894, 0.671]
    assert [(passage.text, passage.row) for passage in made.passages] == [
        ("The queen lays eggs. The workers store honey.", 0),
        ("A mite drinks from the bee and spoils the honey.", 1),
    ]
    assert made.ranked_chunks == (0, 1, 2, 3)
    assert [(each.source, each.target) for each in made.relations] == [
        ("summary-4", "leaf-0"),
        ("summary-4", "leaf-1"),
        ("summary-6", "summary-4"),
    ]
    assert [item.text for item in made.context.section("summaries").items] == ["(layer 1) Hives.", "(layer 2) Farms."]


def test_it_stops_before_the_budget_would_be_exceeded() -> None:
    # 10, 15, 20, 30 tokens
    assert by_rank(trace(max_tokens=20)) == ["leaf-0", "summary-4", "summary-6"]
    assert by_rank(trace(max_tokens=19)) == ["leaf-0", "summary-4"]
    assert by_rank(trace(max_tokens=1)) == ["leaf-0"]
    assert trace(max_tokens=1).context.tokens == 0


def test_traversal_goes_down_from_the_roots_with_the_nearest_of_each_layer() -> None:
    assert by_rank(trace(mode="traversal", top_layer=1)) == ["summary-6", "summary-4", "leaf-0"]
    made = trace(mode="traversal", top_layer=2)
    assert by_rank(made) == ["summary-6", "summary-4", "summary-5", "leaf-0", "leaf-1"]
    assert made.ranked_chunks == (0, 1)


def test_a_tree_without_a_model_is_noted() -> None:
    assert [note.code for note in trace().notes] == []
    assert [note.code for note in trace(tree(by_model=False)).notes] == ["tree.note.by_rule"]


def test_a_tree_of_one_leaf_is_that_leaf() -> None:
    single = TextTree(tree().table.slice(0, 1), np.asarray(tree().vectors[:1]))
    for mode in ("collapsed", "traversal"):
        assert by_rank(trace(single, mode=mode)) == ["leaf-0"]
