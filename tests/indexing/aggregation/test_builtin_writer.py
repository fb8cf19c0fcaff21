import numpy as np
import pytest

from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.cluster_terms import Candidate, base_terms, cluster_candidates
from leanrag_core.indexing.aggregation.extracts import choose_sentences
from leanrag_core.indexing.aggregation.hierarchy import build_hierarchy
from leanrag_core.indexing.aggregation.naming import cluster_name
from leanrag_core.indexing.aggregation.phrases import folded, phrases, sentences
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView
from leanrag_core.tokens import count_tokens


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
        "7 verb (such as “infest” and “weaken”), 5 co-occurrence."
    )


def test_upper_layers_say_how_many_base_relations_theirs_stand_for():
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
    found = cluster_candidates(base_terms(graph.entities), np.array([0, 0, 1, 1]), 2)
    assert [candidates[0].surface for candidates in found] == ["Sugar beet", "Red clover"]


def test_a_fragment_of_one_name_is_no_phrase():
    names = frozenset({("new", "york", "city")})
    found = {" ".join(phrase) for phrase, _ in phrases("Trains reach New York City daily.", names)}
    assert "new york city" in found
    assert not {"york city", "new york", "york"} & found


def test_phrases_do_not_cross_commas_or_hold_stop_words():
    found = {" ".join(phrase) for phrase, _ in phrases("Honey, wax of hives", frozenset())}
    assert found == {"honey", "wax", "hive"}


@pytest.mark.parametrize(
    ("word", "form"),
    [("Mites", "mite"), ("colonies", "colony"), ("Keswick's", "keswick"), ("bus", "bus"), ("glass", "glass")],
)
def test_plurals_and_possessives_fold_together(word, form):
    assert folded(word) == form


def test_initials_and_titles_do_not_end_a_sentence():
    text = "Dr. J. Smith keeps bees. He sells honey! Does he?"
    assert sentences(text) == ["Dr. J. Smith keeps bees.", "He sells honey!", "Does he?"]


def test_a_name_joins_a_phrase_with_a_partner_that_says_something_else():
    candidates = [Candidate("varroa mites", ("varroa", "mite"), 1.0), Candidate("brood", ("brood",), 0.5)]
    name = cluster_name(candidates, ["Varroa mite", "OXALIC ACID"], forbidden=frozenset(), joint=": ")
    assert name == "Varroa mites: Oxalic Acid"
    taken = frozenset({name.casefold()})
    assert cluster_name(candidates, ["Varroa mite", "OXALIC ACID"], forbidden=taken, joint=": ") == "Brood: Varroa mite"


def test_when_every_name_is_taken_a_number_tells_them_apart():
    assert cluster_name([], ["a", "b"], forbidden=frozenset({"a and b", "b and a"}), joint=" and ") == "A and B (2)"


def test_chosen_sentences_do_not_repeat_one_another():
    descriptions = [
        "Mites harm brood in the hive.",
        "Mites harm brood in the hives.",
        "Queens lay many eggs in spring.",
    ]
    chosen = choose_sentences(descriptions, np.ones((3, 1), dtype=np.float32), {}, n_sentences=2, max_tokens=60)
    assert chosen == "Mites harm brood in the hive. Queens lay many eggs in spring."
