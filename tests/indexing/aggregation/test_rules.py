"""The rules of the released code beside the paper's, on graphs worked out by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.checking.check import check_index
from leanrag_core.indexing.aggregation.hierarchy import fresh_clusters
from leanrag_core.indexing.aggregation.rules import AggregationRules, findings_text, released_depth
from leanrag_core.retrieval.leanrag_paths import joined_pairs
from leanrag_core.text.tokens import count_tokens
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
    "max_layers": "released",
    "starts": "released",
    "relation_rule": "released",
    "relation_input": "findings",
    "concatenation": "records",
    "singleton_relations": "dropped",
}


@pytest.fixture
def farm(graph_of):
    """Return a graph of five things in two groups and one alone: ant bee | hay oat | sun."""
    links = [("ant", "bee"), ("ant", "hay"), ("bee", "oat"), ("bee", "hay"), ("hay", "sun")]
    return graph_of(
        [(name, "thing", [f"The {name}."]) for name in ("ant", "bee", "hay", "oat", "sun")],
        [(source, other, "verb", "eat", f"{source} eats {other}.") for source, other in links],
        chunks=[[0, 2], [2], [1], [3], [3]],
    )


def one_less(below, options, apply):
    """Put the last two nodes of a layer into one cluster, and each of the others into one of its own."""
    labels = np.minimum(np.arange(len(below)), len(below) - 2).astype(np.int32)
    return replace(fresh_clusters(below, options, apply), labels=labels)


def test_the_released_stop_puts_the_root_over_a_layer_of_four_clusters_or_fewer(farm):
    assert [len(layer) for layer in build(farm, EMBED_FARM).layers] == [5, 3, 2, 1]
    stopped = build(farm, EMBED_FARM, rules=AggregationRules(stop_rule="released"))
    assert [len(layer) for layer in stopped.layers] == [5, 1]
    rules = AggregationRules(stop_rule="released")
    assert rules.stopped(np.array([0, 1, 2, 3, 4]), 0, 3).tolist() == [0, 1, 2, 3, 4]
    assert rules.stopped(np.array([0, 1, 2, 3, 3]), 0, 3).tolist() == [0, 0, 0, 0, 0]


@pytest.mark.parametrize(("n", "cluster_size", "depth"), [(5, 2, 3), (352, 20, 3), (1893, 20, 4), (12_763, 20, 4)])
def test_the_released_depth_is_reckoned_before_the_first_layer(n: int, cluster_size: int, depth: int) -> None:
    # log 352 / log 20 = 1.96, log 1893 / log 20 = 2.52, log 12763 / log 20 = 3.16.
    assert released_depth(n, cluster_size) == depth


def test_as_released_the_root_follows_after_as_many_layers(farm):
    layers = {0: [0, 1, 2, 3, 4, 5], 3: [0, 0, 0, 0, 0, 0]}
    rules = AggregationRules(max_layers="released")
    assert {layer: rules.stopped(np.arange(6), layer, 3).tolist() for layer in layers} == layers
    # Five nodes with clustersize 4: round(log 5 / log 4) + 1 = 2 layers, then the root, whatever is left.
    deep = build(farm, EMBED_FARM, cluster_size=4, group=one_less).layers
    assert [len(layer) for layer in deep] == [5, 4, 3, 2, 1]
    released = build(farm, EMBED_FARM, cluster_size=4, group=one_less, rules=rules).layers
    assert [len(layer) for layer in released] == [5, 4, 3, 1]


def test_the_released_rule_summarises_long_relations(farm, monkeypatch):
    # Five nodes and clustersize 2: depth 3, and layer 0 is clustered first, so that the limit is (3 - 0) x 80 tokens.
    rules = AggregationRules(relation_rule="released")
    first = build(farm, EMBED_FARM, rules=rules, tau=0).layers[1]
    assert first.relations["kind"].to_pylist() == ["concatenated", "concatenated"]
    records = "\n".join(
        f"relationship<|>{a}<|>{b}<|>{a} eats {b}. " for a, b in (("ant", "hay"), ("bee", "oat"), ("bee", "hay"))
    )
    monkeypatch.setattr("leanrag_core.indexing.aggregation.rules.TOKENS_A_LAYER", count_tokens(records) / 3)
    at_limit = build(farm, EMBED_FARM, rules=rules, tau=100).layers[1]
    assert at_limit.relations["kind"].to_pylist() == ["concatenated", "concatenated"]
    monkeypatch.setattr("leanrag_core.indexing.aggregation.rules.TOKENS_A_LAYER", (count_tokens(records) - 1) / 3)
    above = build(farm, EMBED_FARM, rules=rules, tau=100).layers[1]
    assert above.relations["kind"].to_pylist() == ["summarised", "concatenated"]


def test_a_writer_of_relations_may_be_given_the_findings_of_both_ends(farm):
    writer = PlainWriter()
    build(farm, EMBED_FARM, writer, tau=2, rules=AggregationRules(relation_input="findings"))
    assert writer.groups[0].left_description == "about ant because"
    assert findings_text("Text.", ()) == "Text."
    assert findings_text("Text.", (Finding("A", "b"), Finding("C", ""))) == "A b C"


def test_joined_relations_may_be_records(farm):
    first = build(farm, EMBED_FARM, tau=9, rules=AggregationRules(concatenation="records")).layers[1]
    assert first.relation(1).description == "relationship<|>hay<|>sun<|>hay eats sun. "
    assert [line.count("<|>") for line in first.relation(0).description.split("\n")] == [3, 3, 3]


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
        for letter in "abcdef"
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
