import re
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.answering.standing import COUNTED
from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.cluster_names import (
    OF_DESCRIPTIONS,
    OF_MENTIONS,
    base_names,
    layer_names,
)
from leanrag_core.indexing.aggregation.cluster_openings import openings
from leanrag_core.indexing.aggregation.cluster_terms import Candidate, base_terms, cluster_candidates
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder
from leanrag_core.indexing.aggregation.extracts import _first_sentences, choose_sentences
from leanrag_core.indexing.aggregation.hierarchy import Start, build_hierarchy
from leanrag_core.indexing.aggregation.joined_names import Term, cluster_name
from leanrag_core.indexing.aggregation.phrases import Lexicon, sentences
from leanrag_core.indexing.aggregation.rules import AggregationRules, TauRule
from leanrag_core.indexing.aggregation.writer import ClusterView, InsideRelation, RelationGroupView
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.graph import Layer


@pytest.fixture
def hierarchy(beekeeping, embed):
    return written(beekeeping, embed, BuiltinWriter())


def written(beekeeping, embed, writer):
    return build_hierarchy(
        beekeeping, Start(OnceEmbedder(embed), writer), ClusterOptions(6), AggregationRules(TauRule((0,)))
    )


def made(hierarchy):
    """Return every aggregated entity with the rows of its children."""
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


def test_over_mentions_a_text_says_what_the_members_are_and_takes_sentences_that_name_some(beekeeping, embed):
    hierarchy = written(beekeeping, embed, BuiltinWriter(of_mentions=True))
    base = hierarchy.layers[0].entities
    facts = {sentence for text in base["description"].to_pylist() for sentence in sentences(text)}
    names = [name.casefold() for name in base["name"].to_pylist()]
    for entity, _ in made(hierarchy):
        if not entity.promoted:
            assert 0 < count_tokens(entity.description) <= 120
            opening, *chosen = sentences(entity.description)
            assert re.match(r"\d+ entities(, mostly \w+( and \w+)?)?; (among )?the most central (are|is) ", opening)
            assert set(chosen) <= facts  # also on the upper layers: no opening of a child is repeated
            assert len(chosen) <= 3
            assert all(any(name in sentence.casefold() for name in names) for sentence in chosen)


def test_an_opening_counts_kinds_and_names_the_most_central_members_with_their_types(graph_of):
    members = [("varroa mite", "organism"), ("oxalic acid", "substance"), ("formic acid", "substance"), ("hive", "")]
    graph = graph_of([(*member, ["x"]) for member in members], [("varroa mite", "oxalic acid", "verb", "", "x")])
    layer = Layer(graph.entities, graph.relations, 0, np.ones((4, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    read = base_names(layer, frozenset())
    assert openings(layer, read, np.zeros(4, dtype=int), 1) == [
        "4 entities, mostly substances; the most central are varroa mite (organism), oxalic acid (substance), "
        "formic acid (substance) and hive."
    ]


def test_an_opening_passes_over_names_that_would_suit_any_cluster(graph_of):
    members = ["work", "varroa mite", "system", "hive", "oxalic acid", "brood"]
    graph = graph_of([(name, "", ["x"]) for name in members], [("work", "system", "verb", "", "x")])
    layer = Layer(graph.entities, graph.relations, 0, np.ones((6, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    assert openings(layer, base_names(layer, frozenset()), np.zeros(6, dtype=int), 1) == [
        "6 entities; among the most central are varroa mite, hive, oxalic acid and brood."
    ]


def test_no_english_sentence_opens_a_text_of_another_script(graph_of):
    opened = {}
    for names in (("蜜蜂", "李冰"), ("пчела", "улей")):
        graph = graph_of([(name, kind, ["x"]) for name, kind in zip(names, ("", "person"), strict=True)], [])
        vectors = np.ones((2, 1), dtype=np.float32)
        layer = Layer(graph.entities, graph.relations, 0, vectors, np.zeros(0, dtype=np.int32))
        [opened[names[0]]] = openings(layer, base_names(layer, frozenset()), np.zeros(2, dtype=int), 1)
    assert opened == {"蜜蜂": "2个实体；最核心的是蜜蜂、李冰（人物）。", "пчела": ""}


def test_a_chinese_cluster_is_named_with_what_its_sentences_speak_of(graph_of):
    told = ["都江堰在岷江上，成都靠都江堰灌溉。", "李冰修都江堰，引岷江到成都。", "都江堰的水流到成都平原。"]
    names = ["《华阳国志》", "都江堰", "竹笼", "成都", "岷江"]
    graph = graph_of([(name, "concept", told[:3] if name in told[0] else ["竹笼里装卵石。"]) for name in names], [])
    layer = Layer(graph.entities, graph.relations, 0, np.ones((5, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    view = ClusterView(1, 0, tuple(range(5)), names, ("",) * 5, (told[0],) * 5, layer.vectors, (0,) * 5, ())
    writer = BuiltinWriter(of_mentions=True)
    writer.prepare((layer,), np.zeros(5, dtype=int))
    summary = writer.entity(view)
    assert summary.name == "都江堰 · 岷江", "both stand in most sentences; the first entities do not"
    assert summary.description.startswith("5个实体；最核心的是"), "the opening is in the documents' language"
    assert "。 " not in summary.description, "no space stands behind a Chinese stop"


def test_a_third_term_joins_a_name_where_it_is_nearly_as_good_and_has_room():
    terms = [Term("honey bees", 1.0), Term("oilseed rape", 0.8), Term("old honey", 0.7), Term("clover", 0.7)]
    assert cluster_name(terms, forbidden=frozenset(), with_third=True).text == "Honey bees, oilseed rape and clover"
    weak = [*terms[:2], Term("clover", 0.6)]  # .8 x .8 = .64 is asked of it
    assert cluster_name(weak, forbidden=frozenset(), with_third=True).text == "Honey bees and oilseed rape"
    once = [*terms[:2], Term("clover", 0.7, recurs=False)]
    assert cluster_name(once, forbidden=frozenset(), with_third=True).text == "Honey bees and oilseed rape"


def test_over_mentions_a_term_of_one_passage_gives_way_to_one_that_recurs(graph_of):
    names, passages = ("deep implication", "wax comb", "brood nest"), [[0], [1, 2], [3, 4]]
    graph = graph_of([(name, "concept", [f"A {name} hangs there."]) for name in names], [], passages)
    layer = Layer(graph.entities, graph.relations, 0, np.ones((3, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    view = ClusterView(1, 0, (0, 1, 2), names, ("",) * 3, ("",) * 3, layer.vectors, (0,) * 3, ())
    named = {}
    for of_mentions in (True, False):
        writer = BuiltinWriter(of_mentions=of_mentions)
        writer.prepare((layer,), np.zeros(3, dtype=int))
        named[of_mentions] = writer.entity(view).name
    assert named == {True: "Wax comb and brood nest", False: "Deep implication and wax comb"}


@pytest.mark.parametrize(
    ("longest", "name"),
    [
        ("cut comb honey press", "Cut comb honey press and brood nest"),
        ("cut comb honey press room", "Brood nest and hive tool"),
    ],
)
def test_a_term_of_four_words_may_name_a_cluster_and_one_of_five_may_not(graph_of, longest, name):
    names = (longest, "brood nest", "hive tool")
    graph = graph_of([(each, "concept", [f"A {each} hangs there."]) for each in names], [])
    layer = Layer(graph.entities, graph.relations, 0, np.ones((3, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    view = ClusterView(1, 0, (0, 1, 2), names, ("",) * 3, ("",) * 3, layer.vectors, (0,) * 3, ())
    writer = BuiltinWriter()
    writer.prepare((layer,), np.zeros(3, dtype=int))
    assert writer.entity(view).name == name


def test_over_mentions_a_term_that_would_suit_any_cluster_gives_way(graph_of):
    names = ("important topic", "wax comb", "brood nest")
    graph = graph_of([(name, "concept", [f"A {name} hangs there."]) for name in names], [], [[0, 1]] * 3)
    layer = Layer(graph.entities, graph.relations, 0, np.ones((3, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    view = ClusterView(1, 0, (0, 1, 2), names, ("",) * 3, ("",) * 3, layer.vectors, (0,) * 3, ())
    writer = BuiltinWriter(of_mentions=True)
    writer.prepare((layer,), np.zeros(3, dtype=int))
    assert writer.entity(view).name == "Wax comb and brood nest"


def test_over_mentions_a_cluster_of_clusters_is_named_by_the_best_term_of_each_child(graph_of):
    names = ("Cowboys", "Bills", "Steam Deck", "LCD", "Jada", "wedding", "thing")
    children = np.array([0, 0, 1, 1, 2, 2, 2])
    ends = [(0, 1), (0, 6), (0, 5), (2, 3), (2, 6), (4, 5), (1, 3), (6, 4)]
    relations = [(names[a], names[b], "stated", "", "They meet.") for a, b in ends]
    graph = graph_of([(name, "concept", [f"{name} is there."]) for name in names], relations, [[0, 1]] * 7)
    base = Layer(graph.entities, graph.relations, 0, np.ones((7, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    over = graph_of([(name, "", [""]) for name in ("Bills and Cowboys", "LCD and Steam Deck", "Jada and wedding")], [])
    below = Layer(over.entities, over.relations, 2, np.ones((3, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    read, labels = base_names(base, frozenset()), np.zeros(3, dtype=int)
    far = [[Candidate("wedding", ("wedding",), 9.0), Candidate("LCD", ("lcd",), 8.0)]]

    def named(layer, weights):
        return layer_names(base, read, children, layer, labels, far, weights)

    # By relations: Cowboys 3 of the first child, Steam Deck and Jada 2 of theirs; "thing" has 3, and names no child.
    assert named(below, OF_MENTIONS) == ["Cowboys and Steam Deck"]
    assert named(replace(below, number=1), OF_MENTIONS) == named(below, OF_DESCRIPTIONS) == ["LCD and wedding"]


def test_a_sentence_that_names_no_member_is_not_chosen_while_others_do():
    texts = ["Mites harm brood in the hive.", "The weather was fine for a whole week.", "Acid kills mites on the bees."]
    chosen = choose_sentences(
        texts,
        np.ones((3, 1), dtype=np.float32),
        Lexicon(),
        np.ones(0),
        names=("mites", "acid"),
        n_sentences=3,
        max_tokens=60,
    )
    assert chosen == "Acid kills mites on the bees. Mites harm brood in the hive."


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


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ("A", "B"),
            "“A” and “B” are joined by 1,480 relations, which stand for 2,530 between their entities: "
            "2,530 co-occurrences.",
        ),
        (("岷江", "都江堰"), "“岷江”与“都江堰”之间有1,480条关系，代表其实体之间的2,530条：2,530条共现。"),
    ],
)
def test_thousands_of_relations_are_written_as_everywhere_and_known_as_a_count(
    names: tuple[str, str], expected: str
) -> None:
    left, right = names
    view = RelationGroupView(2, left, "", right, "", 1480, (("co-occurrence", 2530),), (), (), ())
    assert BuiltinWriter().relation(view).text == expected
    assert COUNTED.match(expected)
    inside = InsideRelation(0, 1, "summarised", 1.0, 1480, (), expected)
    cluster = ClusterView(1, 0, (0, 1), names, ("", ""), ("", ""), np.eye(2, dtype=np.float32), (1, 1), (inside,))
    assert "1,480" in BuiltinWriter().entity(cluster).findings[0].summary


def test_a_writer_that_was_not_prepared_still_names_and_describes():
    view = ClusterView(1, 0, (0, 1), ("ant", "bee"), ("", ""), ("", ""), np.eye(2, dtype=np.float32), (0, 0), ())
    summary = BuiltinWriter().entity(view)
    assert summary.name == "Ant and bee"
    assert summary.description == "A group of 2: ant, bee"
    assert len(summary.findings) == 2


def test_findings_of_chinese_members_are_chinese():
    names, vectors = ("岷江", "都江堰", "李冰"), np.eye(3, dtype=np.float32)
    relations = (
        InsideRelation(0, 1, "co-occurrence", 1.0, 1, (), "都江堰引岷江水。"),
        InsideRelation(1, 2, "verb", 1.0, 1, ("修建",), "李冰修建了都江堰。"),
    )
    view = ClusterView(1, 0, (0, 1, 2), names, ("", "", ""), ("", "古堰。", "郡守。"), vectors, (1, 2, 1), relations)
    findings = BuiltinWriter().entity(view).findings
    written = " ".join(finding.summary + finding.explanation for finding in findings)
    assert "岷江与都江堰一同提到" in written
    assert "都江堰与李冰：修建" in written
    assert len(findings) >= 3
    assert not re.search("[A-Za-z]", written)


def test_findings_are_in_the_language_of_the_text_whatever_the_names_are():
    names = ("PCA", "UV", "IoT")
    relations = (InsideRelation(0, 1, "co-occurrence", 1.0, 1, (), "PCA处理并压缩UV数据。"),)
    view = ClusterView(
        1,
        0,
        (0, 1, 2),
        names,
        ("",) * 3,
        ("主成分分析。", "紫外线。", ""),
        np.eye(3, dtype=np.float32),
        (1, 1, 0),
        relations,
    )
    findings = BuiltinWriter().entity(view).findings
    assert "PCA与UV一同提到" in [finding.summary for finding in findings]
    assert ("IoT属于这一组", "文档提到IoT，但没有说明。") in [(each.summary, each.explanation) for each in findings]


def test_the_phrase_that_only_one_cluster_has_comes_first(graph_of):
    texts = ["Sugar beet grows here.", "Sugar beet is sweet.", "Red clover grows here.", "Red clover is sweet."]
    graph = graph_of([(f"N{row}x", "", [text]) for row, text in enumerate(texts)], [])
    by_cluster = list(cluster_candidates(base_terms(graph.entities), np.array([0, 0, 1, 1]), 2))
    assert [candidates[0].surface for candidates in by_cluster] == ["Sugar beet", "Red clover"]


def test_a_name_joins_the_best_pair_of_terms_that_share_no_word():
    terms = [Term("varroa mites", 1.0), Term("varroa mite", 0.9), Term("OXALIC ACID", 0.8), Term("brood", 0.5)]
    assert cluster_name(terms, forbidden=frozenset()).text == "Varroa mites and Oxalic Acid"
    # Without that name the pairs are worth: mite and acid .9 + .7 x .8 = 1.46, mites and brood 1 + .7 x .5 = 1.35.
    taken = frozenset({"varroa mites and oxalic acid"})
    assert cluster_name(terms, forbidden=taken).text == "Varroa mite and Oxalic Acid"


@pytest.mark.parametrize("terms", [("承认", "权利"), ("التملك", "إنتاجه"), ("Права", "человек")])
def test_no_english_word_joins_terms_of_another_script(terms):
    named = cluster_name([Term(terms[0], 1.0), Term(terms[1], 0.5)], forbidden=frozenset())
    assert named.text == f"{terms[0]} · {terms[1]}"


def test_terms_of_one_kind_are_preferred_to_a_slightly_better_mixed_pair():
    terms = [Term("Karl von Frisch", 1.0, "person"), Term("colours", 0.8), Term("Anton Janscha", 0.5, "person")]
    # Persons: 1 + .7 x .5 + .25 = 1.6; a name with a common noun: 1 + .7 x .8 - .35 = 1.21.
    assert cluster_name(terms, forbidden=frozenset()).text == "Karl von Frisch and Anton Janscha"


def test_a_name_begins_with_a_capital_but_an_identifier_stays_as_it_is():
    for surface in ("first_word", "std::io", "s.clear"):
        assert (
            cluster_name([Term(surface, 1.0), Term("byte index", 0.5)], forbidden=()).text
            == f"{surface} and byte index"
        )
    assert cluster_name([Term("word", 1.0), Term("byte index", 0.5)], forbidden=()).text == "Word and byte index"


def test_a_term_that_names_a_sibling_gives_way():
    terms = [Term("honey bees", 1.0), Term("pollen", 0.8), Term("oilseed rape", 0.7)]
    assert cluster_name(terms, forbidden=frozenset()).text == "Honey bees and pollen"
    # pollen names two siblings: 1 + .7 x .8 - .5 = 1.06 against 1 + .7 x .7 = 1.49 for the rape.
    assert cluster_name(terms, forbidden=frozenset(), used={"pollen": 2}).text == "Honey bees and oilseed rape"


def test_a_noun_that_ends_the_names_of_several_members_names_the_cluster(graph_of):
    names = ["brood comb", "old comb", "wax comb", "outer comb", "knife"]
    graph = graph_of([(name, "concept", [f"A {name} hangs there."]) for name in names], [])
    layer = Layer(graph.entities, graph.relations, 0, np.ones((5, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    writer = BuiltinWriter()
    writer.prepare((layer,), np.zeros(5, dtype=int))
    view = ClusterView(1, 0, tuple(range(5)), tuple(names), ("",) * 5, ("",) * 5, layer.vectors, (0,) * 5, ())
    assert writer.entity(view).name == "Comb and knife"


def test_the_capital_of_a_heading_falls_off_inside_a_name(graph_of):
    names = [("Honey harvest", "heading"), ("Langstroth hive", "concept")]
    texts = ["The honey harvest is early.", "A Langstroth hive is deep."]
    graph = graph_of([(*name, [text]) for name, text in zip(names, texts, strict=True)], [])
    layer = Layer(graph.entities, graph.relations, 0, np.ones((2, 1), dtype=np.float32), np.zeros(0, dtype=np.int32))
    writer = BuiltinWriter()
    writer.prepare((layer,), np.zeros(2, dtype=int))
    view = ClusterView(1, 0, (0, 1), ("a", "b"), ("", ""), ("", ""), layer.vectors, (0, 0), ())
    assert writer.entity(view).name == "Langstroth hive and honey harvest"


def test_when_every_name_is_taken_a_number_distinguishes_them():
    terms = [Term("a", 1.0), Term("b", 0.5)]
    assert cluster_name(terms, forbidden=frozenset({"a and b"})).text == "A and b (2)"


def test_names_and_texts_without_a_single_word_can_be_aggregated(graph_of):
    graph = graph_of([(mark * 3, "", ["?!"]) for mark in "-*#/&%+~"], [])
    hierarchy = build_hierarchy(
        graph,
        Start(
            OnceEmbedder(lambda texts: np.eye(24, dtype=np.float32)[[sum(map(ord, text)) % 24 for text in texts]]),
            BuiltinWriter(),
        ),
        ClusterOptions(4),
        AggregationRules(),
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
    terms = [Term("a", 1.0), Term("b", 0.5)]
    for _ in range(300):
        names.append(cluster_name(terms, forbidden=taken, numbered=numbered).text)
        taken.add(names[-1].casefold())
    assert names[:3] == ["A and b", "A and b (2)", "A and b (3)"]
    assert len(set(names)) == 300
    assert Taken.asked <= 2 * 300


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


def test_the_only_sentence_of_a_description_is_cut_with_an_ellipsis():
    long = "The keeper of the hive, " + "who counted mites in every frame, " * 30 + "said no more."
    chosen = choose_sentences(
        [long], np.ones((1, 1), dtype=np.float32), Lexicon(), np.ones(0), n_sentences=2, max_tokens=40
    )
    assert re.search(r"\w…$", chosen)
    assert long.startswith(chosen[:-1])
    assert 30 < count_tokens(chosen) <= 40


def test_a_finding_that_is_cut_says_so_and_closes_what_it_quotes():
    long = "The keeper of the hive, " + "who counted mites in every frame, " * 30
    cut = _first_sentences(f"{long}said no more.")
    assert cut.startswith("The keeper of the hive, who counted")
    assert re.search(r"\w…$", cut)
    assert count_tokens(cut) <= 80
    assert cut[:-1] in long
    assert _first_sentences("He wrote: “Bees dance.” They did.") == "He wrote: “Bees dance.”"
    chinese = _first_sentences("他在《养蜂记》里写道：“" + "蜜蜂在巢脾上跳舞，" * 30 + "”")
    assert chinese.endswith("…”")
    assert count_tokens(chinese) <= 80
    assert _first_sentences("Bees dance. They fly.") == "Bees dance."
