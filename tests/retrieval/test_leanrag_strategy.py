import numpy as np
import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import Query, equal_budget, strategies, strategy
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.tools import TOOLS
from tests.small_index import unit


def retrieve(index: Index, vector: list[float], name: str = "leanrag", text: str = "what?", **options: object) -> Trace:
    return strategy(name, dict(options)).retrieve(Query(text, unit([vector])[0]), index, TOOLS)


def test_seeds_come_from_the_base_layer_in_order_of_cosine(index: Index) -> None:
    trace = retrieve(index, [1, 0.1, 0, 0], top_n=3)
    assert [(seed.name, seed.layer, seed.rank) for seed in trace.with_role("seed")] == [
        ("queen", 0, 1),
        ("honey", 0, 2),
        ("mite", 0, 3),
    ]


def test_seeds_of_one_cluster_meet_in_it(index: Index) -> None:
    trace = retrieve(index, [1, 0.1, 0, 0], top_n=2)
    assert [top.name for top in trace.with_role("lca")] == ["bees"]
    assert {node.name: node.role for node in trace.nodes} == {"queen": "seed", "honey": "seed", "bees": "lca"}


def test_seeds_of_two_clusters_climb_to_the_root_and_show_the_bridge(index: Index) -> None:
    trace = retrieve(index, [1, 0, 1, 0], top_n=4)
    roles = {node.name: node.role for node in trace.nodes}
    assert roles["farm"] == "lca"
    assert roles["bees"] == roles["fields"] == "path"
    bridges = [each for each in trace.relations if each.role == "inter-cluster"]
    assert [(each.source, each.target, each.strength, each.made) for each in bridges] == [
        ("id-bees", "id-fields", 2.0, "concatenated")
    ]


def test_base_relations_join_seeds_alone(index: Index) -> None:
    trace = retrieve(index, [1, 0.1, 0, 0], top_n=2)
    base = [(each.source, each.target) for each in trace.relations if each.role == "base"]
    assert base == [("id-queen", "id-honey")]


def test_without_inter_cluster_relations_the_bridge_is_gone(index: Index) -> None:
    trace = retrieve(index, [1, 0, 1, 0], top_n=4, inter_cluster=False)
    assert all(each.role != "inter-cluster" for each in trace.relations)
    assert any(each.role == "base" for each in trace.relations)


def test_chunks_are_ranked_by_seed_count_then_best_rank_then_position(index: Index) -> None:
    # Seeds: queen 1 (chunk 0), honey 2 (chunks 0 1 2), mite 3 (chunk 1). Counts: 0 has 2, 1 has 2, 2 has 1.
    trace = retrieve(index, [1, 0.1, 0, 0], top_n=3, top_c=5)
    seeds_of = {passage.row: passage.source.items for passage in trace.passages if passage.source}
    assert seeds_of == {0: ("id-queen", "id-honey"), 1: ("id-honey", "id-mite"), 2: ("id-honey",)}
    assert [(passage.rank, passage.row) for passage in trace.passages] == [(1, 0), (2, 1), (3, 2)]
    assert trace.passages[0].text == "The queen lays eggs. The workers store honey."


def test_an_unfilled_top_c_is_said(index: Index) -> None:
    trace = retrieve(index, [0, 0, 0, 1], top_n=1, top_c=5)
    assert [chunk.row for chunk in trace.passages] == [3]
    assert sentence(trace.notes[0]) == "Top-C is not filled: 1 of 5. The 1 seed occurs in 1 chunk only."


def test_rank_fusion_fills_top_c(index: Index) -> None:
    trace = retrieve(index, [0, 0, 0, 1], top_n=1, top_c=4, fuse_vectors=True)
    assert trace.passages[0].row == 3
    assert len(trace.passages) == 4


def test_chunks_without_a_seed_may_follow_by_their_cosine(index: Index) -> None:
    # The seed, seed coat, is in chunk 3 alone; the cosines of chunks 0, 1 and 2 are .21, .3 and .1 times one factor.
    trace = retrieve(index, [0, 0.3, 0.1, 1], top_n=1, top_c=4, fill="vectors")
    assert [passage.row for passage in trace.passages] == [3, 1, 0, 2]
    assert trace.notes == ()


def test_an_equal_budget_is_filled_with_chunks(index: Index) -> None:
    options = equal_budget(strategies().named("leanrag"), 200)
    assert options == {"max_tokens": 200, "top_c": 50, "fill": "vectors"}
    assert len(retrieve(index, [0, 0.3, 0.1, 1], top_n=1, **options).passages) == 4


def test_a_name_in_the_question_is_preferred_when_asked(index: Index) -> None:
    plain = retrieve(index, [1, 0.1, 0.2, 0], top_n=1, text="and the seed coat?")
    named = retrieve(index, [0.3, 0.1, 0.2, 0.1], top_n=6, text="and the seed coat?", match_names=True)
    assert plain.with_role("seed")[0].name == "queen"
    scores = {seed.name: seed.score for seed in named.with_role("seed")}
    without = {seed.name: seed.score for seed in retrieve(index, [0.3, 0.1, 0.2, 0.1], top_n=6).with_role("seed")}
    assert scores["seed coat"] == pytest.approx(without["seed coat"] + 0.25)
    assert scores["queen"] == pytest.approx(without["queen"])


def test_flat_search_may_seed_in_upper_layers(index: Index) -> None:
    trace = retrieve(index, [1, 1, 1, 1], top_n=1, seed_layers="all")
    assert (trace.with_role("seed")[0].name, trace.with_role("seed")[0].layer) == ("farm", 2)


def test_context_never_exceeds_its_budgets_and_counts_what_is_left_out(index: Index) -> None:
    trace = retrieve(index, [1, 0, 1, 0], top_n=6, top_c=4, entity_tokens=40, aggregated_tokens=20, chunk_tokens=30)
    for section in trace.context.sections:
        assert section.tokens == count_tokens(section.text)
        assert section.tokens <= section.budget
    entities = trace.context.section("entities")
    assert entities.left_out == 6 - len(entities.items) > 0
    assert trace.context.tokens == count_tokens(trace.context.text)
    assert trace.context.tokens <= sum(section.budget for section in trace.context.sections)


def test_marks_name_the_section_and_point_to_what_they_refer_to(index: Index) -> None:
    trace = retrieve(index, [1, 0, 1, 0], top_n=4, top_c=2)
    assert [item.mark for item in trace.context.section("chunks").items] == ["C1", "C2"]
    assert trace.context.section("entities").items[0].ref == trace.with_role("seed")[0].id
    assert {item.ref for item in trace.context.section("aggregated").items} == {"id-bees", "id-fields", "id-farm"}


def test_without_source_chunks_the_section_is_empty(index: Index) -> None:
    assert retrieve(index, [1, 0, 1, 0], source_chunks=False).context.section("chunks").items == ()


def test_the_vector_baseline_ranks_chunks_by_cosine(index: Index) -> None:
    trace = retrieve(index, [0, 0, 0.1, 1], name="vector", top_c=2, least_cosine=0.0)
    assert [chunk.row for chunk in trace.passages] == [3, 2]
    assert (trace.nodes, trace.relations) == ((), ())


def test_an_empty_question_is_refused(index: Index) -> None:
    for info in strategies().strategies:
        with pytest.raises(InvalidConfig, match="question is empty"):
            info.strategy(info.config()).retrieve(Query("  ", np.ones(4, dtype=np.float32)), index, TOOLS)


def test_unknown_strategies_and_options_are_named_with_what_there_is() -> None:
    with pytest.raises(InvalidConfig, match=r"choose one of bm25, .*leanrag, .*vector"):
        strategy("nonsense", {})
    with pytest.raises(InvalidConfig, match="no option 'depth'"):
        strategy("leanrag", {"depth": 3})
    with pytest.raises(InvalidConfig, match="largest value is 100"):
        strategy("leanrag", {"top_n": 1000})


def test_a_question_has_a_limit() -> None:
    vector = np.ones(4, dtype=np.float32)
    assert Query("蜂" * 4000, vector).text
    with pytest.raises(InvalidConfig, match=r"the question has 4,001 characters, the limit is 4,000: shorten it"):
        Query("蜂" * 4001, vector)
