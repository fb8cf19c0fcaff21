"""HiRAG, worked out by hand on the small index: entities 0 to 5, bees 6 and fields 7 above them."""

from dataclasses import replace

import numpy as np

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.indexing.communities.making import community_table, joined_edges, joined_graph, joined_layers
from leanrag_core.indexing.communities.reports import Report
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.strategies.hirag import Config, Strategy, chunks_by_neighbours
from leanrag_core.types.communities import CLAIM_SCHEMA, Communities, LayeredCommunities
from leanrag_core.types.trace import Trace
from tests.retrieval.test_shortest_paths import symmetric
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import small_index, unit

# Cosines: honey .984, bees 1.5 / (1.414 x 1.118) = .949, queen .894, mite .447, the others 0.
QUERY = Query("Who stores honey?", unit([[1, 0.5, 0, 0]])[0])
INDEX = small_index()


def layered() -> LayeredCommunities:
    """Return the communities of all of the bees, all of the fields, and below the first queen with honey."""
    tree = CommunityTree(
        level=np.array([0, 0, 3], dtype=np.int32),
        parent=np.array([-1, -1, 0], dtype=np.int32),
        offsets=np.array([0, 4, 8, 10], dtype=np.int32),
        nodes=np.array([0, 1, 2, 6, 3, 4, 5, 7, 0, 1], dtype=np.int32),
    )
    reports = [Report(title, f"On {title}.", 5.0, "", (), True) for title in ("bees", "fields", "queens")]
    communities = Communities(
        community_table(tree, reports), np.zeros((3, 0), dtype=np.float32), CLAIM_SCHEMA.empty_table(), 8
    )
    edges = joined_edges(joined_layers(INDEX))
    return LayeredCommunities(communities, edges.starts, symmetric(list(map(tuple, edges.ends.tolist())), 8))


def trace(**options: object) -> Trace:
    config = Config(**{"top_k": 2, "candidates": 8, "top_m": 2, **options})
    return Strategy(config).retrieve(QUERY, INDEX, with_parts(TOOLS, hirag_layers=layered()))


def names(retrieved: Trace, role: str) -> list[str]:
    return [item.name for item in retrieved.with_role(role)]


def test_layers_are_joined_below_the_root() -> None:
    graph = joined_graph(joined_layers(INDEX))
    assert list(graph.names) == ["queen", "honey", "mite", "rape", "clover", "seed coat", "bees", "fields"]
    # Five relations, the one above, then a link from each entity to its parent.
    assert graph.ends.tolist()[5:] == [[6, 7], [0, 6], [1, 6], [2, 6], [3, 7], [4, 7], [5, 7]]
    assert graph.edge_texts[6] == "queen belongs to bees."
    assert [layer.number for layer in joined_layers(INDEX)] == [0, 1]


def test_seeds_are_of_all_layers_and_lead_to_their_communities() -> None:
    made = trace()
    assert names(made, "entity") == ["honey", "bees"]
    assert [item.kind for item in made.with_role("entity")] == ["entity", "aggregated-entity"]
    assert names(made, "community") == ["bees"]  # the finer one is below the level
    assert names(trace(level=3), "community") == [
        "bees",
        "queens",
    ]  # the seed honey is in both, bees in the first alone


def test_the_bridge_joins_the_nearest_entities_of_the_communities_in_order() -> None:
    made = trace(top_k=5)
    assert names(made, "entity") == ["honey", "bees", "queen", "mite", "rape"]
    assert names(made, "community") == ["bees", "fields"]
    # Stops: honey and bees, rape and clover. Honey-bees, bees-honey-rape, rape-clover.
    assert made.steps[2].caption.values["n"] == 4
    assert made.steps[2].caption.values["paths"] == 3
    assert names(made, "bridge") == ["clover"]
    # Degrees: honey 4, bees 4, rape 3, clover 2.
    related = [each for each in made.relations if each.role in ("bridge", "tree")]
    assert [each.id for each in related] == ["tree-id-honey", "rel-1-3-verb", "rel-3-4-verb"]
    assert [item.text.split(":")[0] for item in made.context.section("bridge").items] == [
        "honey and bees",
        "honey and rape",
        "rape and clover",
    ]


def test_without_a_community_the_bridge_joins_the_nearest_entities() -> None:
    whole = layered()
    none = replace(whole.communities, table=whole.communities.table.slice(0, 0))
    parts = with_parts(TOOLS, hirag_layers=replace(whole, communities=none))
    made = Strategy(Config(top_k=2, candidates=8, top_m=2)).retrieve(QUERY, INDEX, parts)
    assert names(made, "community") == []
    # Stops: honey and bees, the two nearest of all.
    assert [item.text.split(":")[0] for item in made.context.section("bridge").items] == ["honey and bees"]


def test_chunks_come_by_seed_and_by_the_neighbours_in_them() -> None:
    # Mite is in chunk 1; its neighbours are honey, in chunks 0, 1 and 2, and the seed coat, in 3.
    chunks = chunks_by_neighbours(INDEX, [(0, 2), (1, 0), (0, 1)])
    assert [(chunk.row, chunk.place, chunk.relations) for chunk in chunks] == [(1, 0, 1), (0, 2, 1), (2, 2, 1)]
    above = chunks_by_neighbours(INDEX, [(1, 1)])
    assert [chunk.row for chunk in above] == [2, 3]
    assert trace().ranked_chunks == (0, 1, 2)


def test_sections_keep_their_budgets_and_one_for_the_whole_scales_them() -> None:
    made = trace(top_k=5)
    assert [(part.name, part.budget) for part in made.context.sections] == [
        ("communities", 12500),
        ("bridge", 12500),
        ("entities", 20000),
        ("chunks", 20000),
    ]
    for budget in (0, 60, 400):
        assert trace(top_k=5, max_tokens=budget).context.tokens <= budget


def test_a_base_layer_without_a_hierarchy_is_taken_alone() -> None:
    base = INDEX.layers[:1]
    assert joined_layers(replace(INDEX, layers=base)) == base


def test_nodes_are_places_in_the_layers() -> None:
    made = layered()
    assert made.place(7) == (1, 1)
    assert made.node(1, 0) == 6
