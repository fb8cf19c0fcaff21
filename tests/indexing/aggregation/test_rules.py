"""The rules of the released code beside the paper's, on graphs worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.checking.check import check_index
from leanrag_core.indexing.aggregation.rules import AggregationRules, expected_depth, findings_text
from leanrag_core.retrieval.leanrag_paths import joined_pairs
from leanrag_core.types.graph import Finding
from tests.indexing.aggregation.test_hierarchy import EMBED_FARM, PlainWriter, build

RELEASED = {
    "cluster_engine": "reference",
    "cluster_count": "bic",
    "reduction": "none",
    "size_cap": False,
    "smoothing": 0,
    "singletons": "released",
    "stop_rule": "released",
    "relation_rule": "released",
    "relation_input": "findings",
    "concatenation": "records",
    "singleton_relations": "dropped",
}


@pytest.fixture
def farm(graph_of):
    """Five things in two groups and one alone: ant bee | hay oat | sun."""
    links = [("ant", "bee"), ("ant", "hay"), ("bee", "oat"), ("bee", "hay"), ("hay", "sun")]
    return graph_of(
        [(name, "thing", [f"The {name}."]) for name in ("ant", "bee", "hay", "oat", "sun")],
        [(source, other, "verb", "eat", f"{source} eats {other}.") for source, other in links],
        chunks=[[0, 2], [2], [1], [3], [3]],
    )


def test_the_released_stop_puts_the_root_over_a_layer_of_four_clusters_or_fewer(farm):
    assert [len(layer) for layer in build(farm, EMBED_FARM).layers] == [5, 3, 2, 1]
    stopped = build(farm, EMBED_FARM, rules=AggregationRules(stop_rule="released"))
    assert [len(layer) for layer in stopped.layers] == [5, 1]
    rules = AggregationRules(stop_rule="released")
    assert rules.stopped(np.array([0, 1, 2, 3, 4])).tolist() == [0, 1, 2, 3, 4]
    assert rules.stopped(np.array([0, 1, 2, 3, 3])).tolist() == [0, 0, 0, 0, 0]


def test_the_released_rule_summarises_long_relations(farm, monkeypatch):
    # Two layers are expected over five nodes with clustersize 2: in layer 1 the limit is (3 - 1) x 80 tokens.
    assert expected_depth(5, 2) == 3
    rules = AggregationRules(relation_rule="released")
    first = build(farm, EMBED_FARM, rules=rules, tau=0).layers[1]
    assert first.relations["kind"].to_pylist() == ["concatenated", "concatenated"]
    monkeypatch.setattr("leanrag_core.indexing.aggregation.layer_step.TOKENS_A_LAYER", 5)
    # ant - hay, bee - oat and bee - hay have some 15 tokens together, hay - sun five; the limit is ten.
    first = build(farm, EMBED_FARM, rules=rules, tau=100).layers[1]
    assert first.relations["kind"].to_pylist() == ["summarised", "concatenated"]


def test_a_writer_of_relations_may_be_given_the_findings_of_both_ends(farm):
    writer = PlainWriter()
    build(farm, EMBED_FARM, writer, tau=2, rules=AggregationRules(relation_input="findings"))
    assert writer.groups[0].left_description == "about ant because"
    assert findings_text("Text.", ()) == "Text."
    assert findings_text("Text.", (Finding("A", "b"), Finding("C", ""))) == "A b C"


def test_joined_relations_may_be_records(farm):
    first = build(farm, EMBED_FARM, tau=9, rules=AggregationRules(concatenation="records")).layers[1]
    assert first.relation(1).description == "hay<|>sun<|>hay eats sun."
    assert first.relation(0).description.count("<SEP>") == 2


def test_relations_of_a_node_that_is_alone_may_be_dropped(farm):
    lifted = build(farm, EMBED_FARM).layers[1]
    dropped = build(farm, EMBED_FARM, rules=AggregationRules(singleton_relations="dropped")).layers[1]
    assert lifted.ends.tolist() == [[0, 1], [1, 2]]
    assert dropped.ends.tolist() == [[0, 1]]
    assert dropped.relation(0).strength == 3


def test_the_default_rules_change_nothing(farm):
    plain, ruled = build(farm, EMBED_FARM), build(farm, EMBED_FARM, rules=AggregationRules())
    assert [layer.relations for layer in plain.layers] == [layer.relations for layer in ruled.layers]


@pytest.mark.slow
def test_an_index_as_released_is_whole_and_paths_end_at_nodes_that_are_alone(tmp_path: Path):
    bench = Workbench.default(tmp_path)
    text = " ".join(
        f"Keeper Anna{letter} treats hive Bara{letter} with acid Cora{letter} in the valley of Dora{letter}."
        for letter in "abcdefghij"
    )
    corpus = bench.add_documents("bees", [("bees.txt", text.encode())]).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=4, **RELEASED))
    assert [result.name for result in check_index(index) if not result.ok] == []
    assert len(index.layers[-2]) > 1
    trace = bench.retrieve(index, "Who treats hive Baraa?", "leanrag", seed_layers="base")
    seeds = [(seed.layer, seed.row) for seed in trace.with_role("seed")]
    promoted = [layer.entities["promoted"].to_pylist() for layer in index.layers]

    def chain(layer: int, row: int) -> set[tuple[int, int]]:
        nodes = {(layer, row)}
        for above in index.ancestors(layer, row):
            if promoted[above[0]][above[1]]:
                break
            nodes.add(above)
        return nodes

    expected = [
        (first, second)
        for first in range(len(seeds))
        for second in range(first + 1, len(seeds))
        if chain(*seeds[first]) & chain(*seeds[second])
    ]
    assert 0 < len(expected) < len(seeds) * (len(seeds) - 1) / 2, "a seed is alone, so not all pairs are joined"
    assert joined_pairs(index, seeds) == expected
