from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.cluster_terms import Candidate, base_terms, cluster_candidates
from leanrag_core.indexing.aggregation.extracts import choose_sentences
from leanrag_core.indexing.aggregation.hierarchy import build_hierarchy
from leanrag_core.indexing.aggregation.lexicon import Lexicon
from leanrag_core.indexing.aggregation.naming import cluster_name
from leanrag_core.indexing.aggregation.phrases import sentences
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView
from leanrag_core.tokens import count_tokens
from leanrag_core.types.graph import Layer


@pytest.fixture
def hierarchy(beekeeping, embed):
    return build_hierarchy(
        beekeeping,
        cluster_size=6,
        tau=0,
        size_cap=True,
        seed=0,
        embed=embed,
        writer=BuiltinWriter(),
        heuristic=True,
    )


def made(hierarchy):
    """Every aggregated entity with the rows of its children."""
    for below, above in zip(hierarchy.layers, hierarchy.layers[1:], strict=False):
        for row in range(len(above)):
            yield above.entity(row), [below.entity(int(child)) for child in np.flatnonzero(below.parent == row)]


def test_names_are_no_members_names_and_differ_among_siblings(hierarchy):
    for entity, children in made(hierarchy):
        if not entity.promoted:
            assert entity.name.casefold() not in {child.name.casefold() for child in children}
            assert 0 < len(entity.name) <= 75
    for layer in hierarchy.layers[1:]:
        names = layer.entities["name"].to_pylist()
        assert len(set(names)) == len(names)


def test_descriptions_are_the_members_own_sentences_within_the_budget(hierarchy):
    for entity, children in made(hierarchy):
        if not entity.promoted:
            assert 0 < count_tokens(entity.description) <= 120
            source = {sentence for child in children for sentence in sentences(child.description)}
            assert set(sentences(entity.description)) <= source
            assert len(sentences(entity.description)) <= 4


def test_five_findings_or_more_when_members_and_relations_allow(hierarchy):
    base = hierarchy.layers[0]
    for row, (entity, children) in enumerate(made(hierarchy)):
        if row < len(hierarchy.layers[1]):
            inside = int((base.parent[base.ends] == row).all(axis=1).sum())
            assert len(entity.findings) >= min(5, len(children) + inside)
            names = {child.name.casefold() for child in children}
            for finding in entity.findings:
                assert any(name in finding.summary.casefold() for name in names)
                assert finding.explanation


def test_a_relation_sentence_counts_kinds_and_names_the_groups_but_no_member():
    view = RelationGroupView(
        layer=1,
        left_name="Honey production",
        left_description="",
        right_name="Colony health",
        right_description="",
        strength=12,
        base_kinds=(("verb", 7), ("co-occurrence", 5)),
        keywords=("infest", "varroa mite", "weaken"),
        descriptions=("a",) * 12,
        pairs=(("varroa mite", "hive"),) * 12,
    )
    assert BuiltinWriter().relation(view).text == (
        "“Honey production” and “Colony health” are joined by 12 relations: "
        "7 verbs and 5 co-occurrences; in words such as “infest” and “weaken”."
    )


def test_upper_layers_say_how_many_base_relations_theirs_aggregate():
    view = RelationGroupView(2, "A", "", "B", "", 2, (("stated", 9),), (), ("x", "y"), (("c", "d"), ("e", "f")))
    expected = "“A” and “B” are joined by 2 relations, which stand for 9 between their entities."
    assert BuiltinWriter().relation(view).text == expected


def test_a_writer_that_was_not_prepared_still_names_and_describes():
    view = ClusterView(1, 0, (0, 1), ("ant", "bee"), ("", ""), ("", ""), np.eye(2, dtype=np.float32), (0, 0), ())
    summary = BuiltinWriter().entity(view)
    assert summary.name == "Ant and Bee"
    assert summary.description == "A group of 2: ant, bee"
    assert len(summary.findings) == 2


def test_the_phrase_that_only_one_cluster_has_comes_first(graph_of):
    texts = ["Sugar beet grows here.", "Sugar beet is sweet.", "Red clover grows here.", "Red clover is sweet."]
    graph = graph_of([(f"N{row}x", "", [text]) for row, text in enumerate(texts)], [])
    by_cluster = list(cluster_candidates(base_terms(graph.entities), np.array([0, 0, 1, 1]), 2))
    assert [candidates[0].surface for candidates in by_cluster] == ["Sugar beet", "Red clover"]


def test_a_name_joins_a_phrase_with_a_partner_that_says_something_else():
    candidates = [Candidate("varroa mites", ("varroa", "mite"), 1.0), Candidate("brood", ("brood",), 0.5)]
    name = cluster_name(candidates, ["Varroa mite", "OXALIC ACID"], forbidden=frozenset(), joint=": ")
    assert name == "Varroa mites: Oxalic Acid"
    taken = frozenset({name.casefold()})
    assert cluster_name(candidates, ["Varroa mite", "OXALIC ACID"], forbidden=taken, joint=": ") == "Brood: Varroa mite"


def test_when_every_name_is_taken_a_number_distinguishes_them():
    assert cluster_name([], ["a", "b"], forbidden=frozenset({"a and b", "b and a"}), joint=" and ") == "A and B (2)"


def test_names_and_texts_without_a_single_word_can_be_aggregated(graph_of):
    graph = graph_of([(mark * 3, "", ["?!"]) for mark in "-*#/&%+~"], [])
    hierarchy = build_hierarchy(
        graph,
        cluster_size=4,
        tau=3,
        size_cap=True,
        seed=0,
        embed=lambda texts: np.eye(24, dtype=np.float32)[[sum(map(ord, text)) % 24 for text in texts]],
        writer=BuiltinWriter(),
        heuristic=True,
    )
    names = hierarchy.layers[1].entities["name"].to_pylist()
    assert len(set(names)) == len(names)
    assert all(names)


def test_equal_names_are_numbered_on_without_trying_every_number_again():
    class Taken(set):
        asked = 0

        def __contains__(self, name):
            Taken.asked += 1
            return super().__contains__(name)

    taken, numbered, names = Taken(), {}, []
    for _ in range(300):
        names.append(cluster_name([], ["a", "b"], forbidden=taken, joint=" and ", numbered=numbered))
        taken.add(names[-1].casefold())
    assert names[:3] == ["A and B", "B and A", "A and B (2)"]
    assert len(set(names)) == 300
    assert Taken.asked <= 3 * 300


def test_ten_thousand_equal_names_and_descriptions_still_get_names_of_their_own(graph_of):
    n = 10_000
    graph = graph_of([(f"n{row}", "thing", ["The same bee flies here."]) for row in range(n)], [])
    same = graph.entities.set_column(1, graph.entities.field(1), [["Bee"] * n])
    layer = Layer(same, graph.relations, 0, np.ones((n, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    writer = BuiltinWriter()
    writer.prepare((layer,), np.arange(n) // 5)
    view = ClusterView(1, 7, (35, 36), ("Bee", "Bee"), ("", ""), ("",) * 2, np.ones((2, 1)), (0, 0), ())
    names = [writer.entity(replace(view, label=label)).name for label in (0, 1, 2, 1999)]
    assert len(set(names)) == 4
    assert "bee" not in {name.casefold() for name in names}


def test_chosen_sentences_do_not_repeat_one_another():
    descriptions = [
        "Mites harm brood in the hive.",
        "Mites harm brood in the hives.",
        "Queens lay many eggs in spring.",
    ]
    chosen = choose_sentences(
        descriptions, np.ones((3, 1), dtype=np.float32), Lexicon(), np.ones(0), n_sentences=2, max_tokens=60
    )
    assert chosen == "Mites harm brood in the hive. Queens lay many eggs in spring."
