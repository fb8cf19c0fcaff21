from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.errors import InvalidVectors, TooFewEntities
from leanrag_core.indexing.aggregation import embedding
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder, embedding_text
from leanrag_core.indexing.aggregation.hierarchy import Start, build_hierarchy, fresh_clusters
from leanrag_core.indexing.aggregation.rules import AggregationRules, parse_tau
from leanrag_core.indexing.aggregation.writer import Sentence, Summary
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Usage
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Finding


class PlainWriter:
    """Joins names; remembers what it was asked."""

    def __init__(self):
        self.clusters, self.groups = [], []

    def prepare(self, layers, labels):
        assert len(labels) == len(layers[-1])

    def entity(self, members):
        self.clusters.append(members)
        findings = (Finding("about " + members.names[0], "because"),)
        return Summary("+".join(members.names), "All of them.", findings, Usage(calls=1), (Drop("x", "entity", "y"),))

    def relation(self, view):
        self.groups.append(view)
        return Sentence(f"{view.left_name} with {view.right_name}", Usage(calls=1))


def build(
    graph,
    embed,
    writer=None,
    *,
    cluster_size=2,
    tau=1,
    size_cap=True,
    seed=0,
    heuristic=False,
    rules=None,
    group=fresh_clusters,
    **settings,
):
    embedder = embed if isinstance(embed, OnceEmbedder) else OnceEmbedder(embed)
    clustering = ClusterOptions(cluster_size, "capacity" if size_cap else "none", seed=seed)
    rules = replace(rules or AggregationRules(), tau=parse_tau(tau, heuristic))
    return build_hierarchy(graph, Start(embedder, writer or PlainWriter(), group), clustering, rules, **settings)


def axes(**axis_of_name):
    """Return an embedding that places each named text on an axis, and anything else on the last."""

    def embed(texts):
        rows = np.full((len(texts), 6), 0.01)
        for row, text in enumerate(texts):
            rows[row, axis_of_name.get(text.split(".")[0], 5)] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    return embed


@pytest.fixture
def farm(graph_of):
    """Return a graph of five things in two groups and one alone: ant bee | hay oat | sun."""
    names = ["ant", "bee", "hay", "oat", "sun"]
    links = [("ant", "bee"), ("ant", "hay"), ("bee", "oat"), ("bee", "hay"), ("hay", "sun")]
    return graph_of(
        [(name, "thing", [f"The {name}."]) for name in names],
        [(source, other, "verb", "eat", f"{source} eats {other}.") for source, other in links],
        chunks=[[0, 2], [2], [1], [3], [3]],
    )


EMBED_FARM = axes(ant=0, bee=0, hay=1, oat=1, sun=2)


def test_clusters_become_parents_and_a_lone_node_is_promoted(farm):
    writer = PlainWriter()
    hierarchy = build(farm, EMBED_FARM, writer)
    base, first = hierarchy.layers[:2]
    assert base.parent.tolist() == [0, 0, 1, 1, 2]
    assert first.entities["name"].to_pylist() == ["ant+bee", "hay+oat", "sun"]
    assert first.entities["promoted"].to_pylist() == [False, False, True]
    assert first.entity(2).type == "thing"
    assert first.entity(2).description == base.entity(4).description
    assert first.entity(2).id != base.entity(4).id
    assert np.array_equal(first.vectors[2], base.vectors[4])
    assert all(len(view.names) > 1 for view in writer.clusters)


def test_chunks_of_a_parent_are_the_union_of_its_childrens(farm):
    assert build(farm, EMBED_FARM).layers[1].entities["chunks"].to_pylist() == [[0, 2], [1, 3], [3]]


def test_above_tau_is_summarised_and_at_tau_is_concatenated(farm):
    writer = PlainWriter()
    first = build(farm, EMBED_FARM, writer, tau=2).layers[1]
    assert first.relation(0).kind == "summarised"
    assert first.relation(0).strength == 3
    assert first.relation(0).members == (1, 2, 3)
    assert first.relation(0).description == "ant+bee with hay+oat"
    assert first.relation(1).description == "hay eats sun."
    at = build(farm, EMBED_FARM, tau=3).layers[1].relation(0)
    assert at.kind == "concatenated"
    assert at.description == "ant eats hay. bee eats oat. bee eats hay."
    assert at.keywords == ("eat",)
    assert at.weight == 3.0


def test_the_writer_sees_names_kinds_and_the_relations_inside(farm):
    writer = PlainWriter()
    build(farm, EMBED_FARM, writer, tau=1)
    ants = writer.clusters[0]
    assert ants.names == ("ant", "bee")
    assert ants.degrees == (1, 1)
    assert [(relation.source, relation.target, relation.kind) for relation in ants.relations] == [(0, 1, "verb")]
    group = writer.groups[0]
    assert group.base_kinds == (("verb", 3),)
    assert group.member_names == ("ant", "bee", "hay", "oat")


def test_usage_and_drops_of_the_writer_are_kept(farm):
    writer = PlainWriter()
    hierarchy = build(farm, EMBED_FARM, writer)
    assert hierarchy.usage.calls == len(writer.clusters) + len(writer.groups)
    assert hierarchy.drops.count(Drop("x", "entity", "y")) == len(writer.clusters)


def test_what_concatenation_cuts_is_one_drop_a_layer_with_its_count(farm):
    hierarchy = build(farm, EMBED_FARM, tau=9, rules=AggregationRules(concatenation_tokens=9))
    cuts = [drop for drop in hierarchy.drops if drop.stage == "aggregate relations"]
    assert cuts[0].item == "layer 1"
    assert "1 descriptions" in cuts[0].reason
    assert hierarchy.clustering[0].descriptions_cut == 1


def test_no_text_is_embedded_twice(farm):
    asked = []

    def embed(texts):
        asked.extend(texts)
        return EMBED_FARM(texts)

    build(farm, embed)
    assert len(asked) == len(set(asked))
    assert asked[0] == embedding_text("ant", "The ant.") == "ant. The ant."


def test_texts_are_remembered_across_blocks_and_calls(monkeypatch):
    monkeypatch.setattr(embedding, "_BLOCK", 4)
    asked = []

    def embed(texts):
        asked.extend(texts)
        return np.array([[len(text), 1.0] for text in texts]) / np.array([[np.hypot(len(text), 1.0)] for text in texts])

    embedder, calls = OnceEmbedder(embed), []
    first = ["bb", "a", "bb", "ccc", "a", "dddd", "dddd", "eeeee", "a"]
    second = ["a", "a", "f" * 6, "ccc", "f" * 6, "eeeee", "bb"]
    for texts in (first, second, first[:2]):
        vectors = embedder(texts, calls.append)
        assert vectors.dtype == np.float32
        expected = np.array([[len(text), 1.0] for text in texts])
        assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True))
        assert calls[-1] == len(texts)
    assert sorted(asked) == ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]


def test_a_hub_with_many_relations_is_aggregated_whole(graph_of):
    spokes = 3000
    names = ["hub", *(f"spoke{row}" for row in range(spokes))]
    graph = graph_of(
        [(name, "thing", [f"The {name} turns."]) for name in names],
        [("hub", name, "verb", "hold", f"The hub holds {name}.") for name in names[1:]],
    )
    rows = np.random.default_rng(0).normal(size=(len(names) + 400, 8))
    hierarchy = build(
        graph,
        lambda texts: np.array([rows[int("0" + "".join(filter(str.isdigit, text))[:4]) % len(rows)] for text in texts]),
        BuiltinWriter(),
        cluster_size=20,
        tau=3,
    )
    base, first = hierarchy.layers[:2]
    inside = int((base.parent[base.ends[:, 0]] == base.parent[base.ends[:, 1]]).sum())
    assert sum(first.relations["strength"].to_pylist()) + inside == spokes
    home = base.parent[0]
    assert ((first.ends == home).sum(axis=1) == 1).all()
    assert len(first.relations) == len(first) - 1
    assert all(count_tokens(text) <= 1000 for text in first.relations["description"].to_pylist())


def test_one_entity_is_its_own_root_and_none_is_refused(graph_of):
    alone = build(graph_of([("ant", "thing", ["An ant."])], []), EMBED_FARM)
    assert [len(layer) for layer in alone.layers] == [1]
    with pytest.raises(TooFewEntities):
        build(graph_of([], []), EMBED_FARM)


def test_a_zero_vector_is_refused_by_the_text_it_belongs_to(farm):
    with pytest.raises(InvalidVectors, match="bee"):
        build(farm, lambda texts: np.array([[0.0 if text.startswith("bee") else 1.0] for text in texts]))


def test_workers_do_not_change_the_result(beekeeping, embed):
    serial = build(beekeeping, embed, BuiltinWriter(), cluster_size=5)
    with ThreadPoolExecutor(4) as pool:
        threaded = build(beekeeping, embed, BuiltinWriter(), cluster_size=5, apply=pool.map)
    for expected, other in zip(serial.layers, threaded.layers, strict=True):
        assert expected.entities.equals(other.entities)
        assert expected.relations.equals(other.relations)
        assert expected.vectors.tobytes() == other.vectors.tobytes()
        assert expected.parent.tobytes() == other.parent.tobytes()


def test_progress_rises_and_ends_at_its_total(beekeeping, embed):
    last_reports = {}
    build(
        beekeeping,
        embed,
        BuiltinWriter(),
        cluster_size=5,
        report=lambda at: last_reports.setdefault(at.stage, []).append((at.done, at.total)),
    )
    assert list(last_reports) == ["embed", "cluster", "aggregate entities", "aggregate relations"]
    for steps in last_reports.values():
        assert all(done <= total for done, total in steps)
        assert [done for done, _ in steps] == sorted(done for done, _ in steps)
        assert steps[-1][0] == steps[-1][1]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(2, 40), st.integers(0, 60), st.integers(2, 6), st.integers(0, 999))
def test_random_graphs_become_trees_that_lose_no_relation(graph_of, n, r, cluster_size, seed):
    random = np.random.default_rng(seed)
    names = [f"n{row}" for row in range(n)]
    pairs = sorted({tuple(sorted(random.choice(n, 2, replace=False).tolist())) for _ in range(r)})
    graph = graph_of(
        [(name, "thing", [f"Text {seed} of {name}."]) for name in names],
        [(names[source], names[other], "verb", "", f"{source} {other}.") for source, other in pairs],
        chunks=[sorted(set(random.integers(0, 5, 2).tolist())) for _ in names],
    )
    rows = random.normal(size=(400, 8))

    def embed(texts):
        taken = rows[[sum(text.encode()) % 400 for text in texts]]
        return taken / np.linalg.norm(taken, axis=1, keepdims=True)

    hierarchy = build(graph, embed, cluster_size=cluster_size)
    assert len(hierarchy.layers[-1]) == 1
    assert len(hierarchy.layers[-1].parent) == 0
    for below, above in zip(hierarchy.layers, hierarchy.layers[1:], strict=False):
        assert sorted(set(below.parent.tolist())) == list(range(len(above)))
        assert len(above) <= -(-len(below) // cluster_size)
        assert np.bincount(below.parent).max() <= 2 * cluster_size
        inside = sum(below.parent[source] == below.parent[other] for source, other in below.ends)
        assert sum(above.relations["strength"].to_pylist()) + inside == below.relations.num_rows
        members = [row for rows_ in above.relations["members"].to_pylist() for row in rows_]
        assert len(members) == len(set(members)) == below.relations.num_rows - inside
        assert above.entities.schema.equals(ENTITY_SCHEMA)
        assert above.relations.schema.equals(RELATION_SCHEMA)
        below_chunks = below.entities["chunks"].to_pylist()
        for row, chunks in enumerate(above.entities["chunks"].to_pylist()):
            children = np.flatnonzero(below.parent == row)
            assert chunks == sorted({chunk for child in children for chunk in below_chunks[child]})
    assert isinstance(hierarchy.layers[-1].entities, pa.Table)


def test_the_limit_of_a_joined_description_decides_its_text_and_nothing_else(farm):
    short, long = (
        build(farm, EMBED_FARM, tau=9, rules=AggregationRules(concatenation_tokens=tokens)) for tokens in (9, 100)
    )
    for limited, other in zip(short.layers, long.layers, strict=True):
        assert limited.entities.drop_columns(["findings"]) == other.entities.drop_columns(["findings"])
        assert limited.relations.drop_columns(["description"]) == other.relations.drop_columns(["description"])
    cut, whole = (made.layers[1].relation(0) for made in (short, long))
    assert (cut.kind, cut.strength) == ("concatenated", 3)
    assert whole.description == "ant eats hay. bee eats oat. bee eats hay."
    assert len(cut.description) < len(whole.description)
