"""Each option of LeanRAG on the hierarchy of tests.small_index, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.anchoring import adapted
from leanrag_core.retrieval.base import Query, equal_budget, strategies, strategy
from leanrag_core.retrieval.strategies import leanrag
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.tools import TOOLS
from tests.small_index import unit

HONEY = [0.85, 0.65, 1.0, 0.0]  # honey 1.07, rape 1, queen .85, clover .8, mite .65 (times one factor)
BOTH_CLUSTERS = [1.0, 0.0, 1.0, 0.0]  # queen and rape 1, honey and clover .8


def retrieve(index: Index, vector: list[float], **options: object) -> Trace:
    return strategy("leanrag", dict(options)).retrieve(Query("what?", unit([vector])[0]), index, TOOLS)


def rows(trace: Trace) -> list[int | None]:
    return [passage.row for passage in trace.passages]


def test_chunks_of_equally_many_seeds_are_ranked_by_their_cosine(index: Index) -> None:
    # honey alone is in chunks 0, 1 and 2, whose cosines are 1.06, .65 and 1 times one factor.
    assert rows(retrieve(index, HONEY, top_n=1)) == [0, 2, 1]
    assert rows(retrieve(index, HONEY, top_n=1, ties="seed_rank")) == [0, 1, 2]


@pytest.mark.parametrize(
    ("top_c", "n", "caption"),
    [
        (1, 1, "They occur in 1 chunk, and 1 are wanted: N stays 1."),
        (3, 2, "N was raised from 1 to 2: the first 1 occur in 1 chunk, 2 in 3 chunks, and 3 are wanted."),
        (5, 6, "N was raised to its bound, 6: they occur in 4 chunks only, and 5 are wanted."),
    ],
)
def test_an_adaptive_n_rises_until_the_seeds_occur_in_c_chunks(index: Index, top_c: int, n: int, caption: str) -> None:
    # queen is in chunk 0, honey in 0, 1 and 2; all six entities are in four chunks.
    trace = retrieve(index, [1, 0.1, 0, 0], top_n=1, top_c=top_c, adaptive_n=True)
    assert len(trace.with_role("seed")) == n
    assert sentence(trace.steps[0].caption).endswith(caption)


def test_an_adaptive_n_stays_where_it_was_when_an_equal_budget_raises_c(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leanrag.Config, "top_c", 3)  # the first two seeds occur in three chunks, all six in four
    info = strategies().named("leanrag")
    options = {"top_n": 1, **info.preset("adaptive-n").options, **equal_budget(info, 4000)}
    trace = retrieve(index, [1, 0.1, 0, 0], **options)
    assert len(trace.with_role("seed")) == 2
    assert len(trace.passages) == 4


def test_an_adaptive_n_counts_a_chunk_once() -> None:
    chunks = [np.array(rows) for rows in ([0, 1], [1], [0], [2, 3])]
    assert adapted(chunks, 2, 3).n == 4
    assert (adapted(chunks, 2, 3).before, adapted(chunks, 2, 3).touched) == (2, 4)
    assert adapted(chunks, 3, 2).n == 3


def test_seeds_of_the_aggregated_layers_leave_the_base_layer_out(index: Index) -> None:
    trace = retrieve(index, [1, 1, 0, 0], top_n=2, seed_layers="aggregated")
    assert [(seed.name, seed.layer) for seed in trace.with_role("seed")] == [("bees", 1), ("farm", 2)]
    assert trace.context.section("entities").items == ()


def test_base_relations_can_be_left_out(index: Index) -> None:
    assert [each.role for each in retrieve(index, [1, 0.1, 0, 0], top_n=2).relations] == ["tree", "tree", "base"]
    without = retrieve(index, [1, 0.1, 0, 0], top_n=2, base_relations=False)
    assert [each.role for each in without.relations] == ["tree", "tree"]


@pytest.mark.parametrize("value", ["all", "last"])
def test_a_record_of_an_earlier_version_still_opens(index: Index, value: str) -> None:
    # It had an option for the chunks of a seed; all that mention the seed count now, as in the released code.
    recorded = {**retrieve(index, HONEY, top_n=1).parameters, "entity_sources": value}
    again = strategy("leanrag", recorded).retrieve(Query("what?", unit([HONEY])[0]), index, TOOLS)
    assert again.items == retrieve(index, HONEY, top_n=1).items
    with pytest.raises(InvalidConfig, match="entity_source"):
        strategy("leanrag", {"entity_source": value})


def test_inter_cluster_relations_may_leave_the_paths(index: Index) -> None:
    # queen and honey meet in bees; the relation of bees and fields has one end on the paths.
    plain = retrieve(index, [1, 0.1, 0, 0], top_n=2)
    assert [each for each in plain.relations if each.role == "inter-cluster"] == []
    trace = retrieve(index, [1, 0.1, 0, 0], top_n=2, inter_cluster_ends="any")
    [bridge] = [each for each in trace.relations if each.role == "inter-cluster"]
    assert (bridge.source, bridge.target) == ("id-bees", "id-fields")
    assert [node.name for node in trace.with_role("neighbour")] == ["fields"]
    assert "fields" not in trace.context.section("aggregated").text
    assert "bees and fields" in trace.context.section("relations").text


def test_the_root_can_be_kept_out_of_the_context(index: Index) -> None:
    trace = retrieve(index, BOTH_CLUSTERS, top_n=4, root=False)
    assert [top.name for top in trace.with_role("lca")] == ["farm"]
    assert [item.text for item in trace.context.section("aggregated").items] == [
        "bees: About bees.",
        "fields: About fields.",
    ]


def test_the_nearest_pairs_meet_in_their_own_clusters(index: Index) -> None:
    # queen and honey have cosine .8, rape and clover .8; across the clusters it is 0.
    trace = retrieve(index, BOTH_CLUSTERS, top_n=4, lca="pairwise", pairs="nearest")
    assert [top.name for top in trace.with_role("lca")] == ["bees", "fields"]
    assert "farm" not in {node.name for node in trace.nodes}
    assert sentence(trace.steps[2].caption) == (
        "The pairs of seeds meet at 2 nodes: bees, fields. Nothing above them is taken."
    )


def test_all_pairs_retrieve_what_one_ancestor_does(index: Index) -> None:
    by_one, by_pairs = (retrieve(index, BOTH_CLUSTERS, top_n=4, lca=lca) for lca in ("one", "pairwise"))
    assert (by_pairs.items, by_pairs.relations, by_pairs.context) == (by_one.items, by_one.relations, by_one.context)


def test_a_budget_for_the_whole_context_makes_the_sections_smaller_and_gives_chunks_the_rest(index: Index) -> None:
    sections = dict.fromkeys(("entity_tokens", "aggregated_tokens", "relation_tokens", "chunk_tokens"), 100)
    whole = retrieve(index, BOTH_CLUSTERS, top_n=2, top_c=4, **sections).context
    assert [section.budget for section in whole.sections] == [100] * 4
    context = retrieve(index, BOTH_CLUSTERS, top_n=2, top_c=4, max_tokens=200, **sections).context
    others = sum(section.tokens for section in context.sections[:3])
    assert [section.budget for section in context.sections] == [50, 50, 50, 200 - others]
    assert 200 - others > 50


def test_without_budgets_of_sections_the_context_is_cut_from_its_end(index: Index) -> None:
    whole = retrieve(index, BOTH_CLUSTERS, top_n=4, top_c=4, budgets="released", max_tokens=31_000).context
    assert whole.text == retrieve(index, BOTH_CLUSTERS, top_n=4, top_c=4).context.text
    cut = retrieve(index, BOTH_CLUSTERS, top_n=4, top_c=4, budgets="released", max_tokens=whole.tokens - 12).context
    assert [section.text for section in cut.sections[:3]] == [section.text for section in whole.sections[:3]]
    assert cut.sections[3].left_out + cut.sections[3].trimmed == 1
    before_chunks = sum(section.tokens for section in whole.sections[:3])
    short = retrieve(index, BOTH_CLUSTERS, top_n=4, top_c=4, budgets="released", max_tokens=before_chunks - 3).context
    assert short.sections[2].left_out == 1
    assert short.sections[3].items == ()
    assert short.sections[3].left_out == 3


@pytest.mark.parametrize("preset", strategies().named("leanrag").presets, ids=lambda preset: str(preset.name))
def test_every_preset_keeps_the_count_of_its_context(index: Index, preset: object) -> None:
    trace = retrieve(index, BOTH_CLUSTERS, **preset.options)
    assert trace.context.tokens == count_tokens(trace.context.text)


def test_as_released_sets_each_option_of_a_question() -> None:
    released = strategies().named("leanrag").preset("released").options
    assert released == {
        "seed_layers": "aggregated",
        "base_relations": False,
        "ties": "seed_rank",
        "budgets": "released",
        "max_tokens": 31_000,
    }


def test_of_equally_near_seeds_the_lower_layer_comes_first(index: Index) -> None:
    farm = replace(index.layers[2], vectors=np.asarray(index.layers[0].vectors[1:2]).copy())  # as near as honey, row 1
    equal = replace(index, layers=(*index.layers[:2], farm))
    seeds = retrieve(equal, HONEY, top_n=2, seed_layers="all").with_role("seed")
    assert [(seed.layer, seed.row) for seed in seeds] == [(0, 1), (2, 0)]
