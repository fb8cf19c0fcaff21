"""Extractions beside a reference graph, counted by hand."""

from leanrag_core.evaluation.extraction import Share, extraction_score, passage_gold
from leanrag_core.indexing.reference.records import Quote, ReferenceEntity, ReferenceGraph, ReferenceRelation

QUOTES = (Quote("bees.md", "Bees make honey."),)
ENTITIES = (
    ReferenceEntity("honey bee", "organism", "An insect.", QUOTES, aliases=("bees",)),
    ReferenceEntity("honey", "substance", "Food.", QUOTES),
    ReferenceEntity("Varroa destructor", "organism", "A mite.", (Quote("mites.md", "Varroa destructor harms."),)),
)
RELATIONS = (
    ReferenceRelation("honey bee", "honey", "Bees make it.", ("making",), 8, QUOTES),
    ReferenceRelation(
        "Varroa destructor", "honey bee", "It harms.", ("harm",), 9, (Quote("mites.md", "It harms bees"),)
    ),
)


def test_names_and_aliases_count_once_and_pairs_in_either_order() -> None:
    names = ["The Bees", "honey bee", "Honey!", "count"]
    pairs = [("honey", "bees"), ("honey bee", "honey"), ("count", "honey")]
    score = extraction_score(names, pairs, ENTITIES, RELATIONS)
    assert score.entities == Share(wanted=3, given=4, hit=2, right=3)
    assert score.relations == Share(wanted=2, given=3, hit=1, right=2)
    assert (score.entities.recall, score.relations.precision) == (2 / 3, 2 / 3)


def test_nothing_given_has_no_precision() -> None:
    score = extraction_score([], [], ENTITIES, RELATIONS)
    assert (score.entities.recall, score.entities.precision) == (0.0, None)
    assert extraction_score([], [], (), ()).relations.recall is None


def test_a_passage_wants_what_it_names_and_states() -> None:
    graph = ReferenceGraph(ENTITIES, RELATIONS)
    gold = passage_gold("In spring the\nBees  make honey. Nothing else.", graph)
    assert [entity.name for entity in gold.entities] == ["honey bee", "honey"]
    assert [relation.target for relation in gold.relations] == ["honey"]
    assert passage_gold("A passage about ships.", graph).relations == ()
