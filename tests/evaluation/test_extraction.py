"""Extractions beside a reference graph, counted by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from leanrag_core.evaluation.extraction import (
    EXAMPLES,
    Example,
    ExtractionScore,
    GivenGraph,
    Share,
    extraction_score,
    passage_gold,
)
from leanrag_core.indexing.reference.records import Quote, ReferenceEntity, ReferenceGraph, ReferenceRelation
from leanrag_core.models.base import EmbeddingModel

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


def graph(names: list[str], pairs: list[tuple[str, str]] | None = None) -> GivenGraph:
    return GivenGraph(
        tuple((name, "Organism") for name in names), tuple((source, target, "verb") for source, target in pairs or ())
    )


def score(given: GivenGraph, embedding: EmbeddingModel | None = None) -> ExtractionScore:
    return extraction_score(given, ENTITIES, RELATIONS, embedding=embedding)


class Vectors:
    """Names that begin with the same letter are alike."""

    name = fingerprint = "letters"
    dimension = 26

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.eye(26, dtype=np.float32)[[ord(text.lower()[0]) - ord("a") for text in texts]]


def test_names_and_aliases_count_once_and_pairs_in_either_order() -> None:
    names = ["The Bees", "honey bee", "Honey!", "count"]
    pairs = [("honey", "bees"), ("honey bee", "honey"), ("count", "honey")]
    made = score(graph(names, pairs))
    assert made.entities == Share(wanted=3, given=4, hit=2, right=3)
    assert made.relations == Share(wanted=2, given=3, hit=1, right=2)
    assert (made.entities.recall, made.relations.precision) == (2 / 3, 2 / 3)


def test_names_are_compared_exactly_as_normalised_and_by_embedding() -> None:
    made = score(graph(["The Bees", "honey", "Varroa mite", "..."], [("Varroa mite", "The Bees")]), Vectors())
    assert [match.match for match in made.matches] == ["exact", "normalised", "embedding"]
    assert made.match("exact").entities == Share(wanted=3, given=4, hit=1, right=1)
    assert made.match("normalised").entities == Share(wanted=3, given=3, hit=2, right=2)
    assert made.match("embedding").entities == Share(wanted=3, given=3, hit=3, right=3)
    assert [match.relations.hit for match in made.matches] == [0, 0, 1]
    with pytest.raises(KeyError):
        score(graph([])).match("embedding")


def test_shares_by_type_and_by_kind_of_relation() -> None:
    given = GivenGraph(
        (("bees", "organism"), ("honey", "Organism"), ("hive", "place")),
        (("bees", "honey", "verb"), ("honey", "bees", "nearby"), ("hive", "bees", "nearby"), ("bees", "hive", "")),
    )
    made = score(given)
    assert dict(made.types) == {
        "organism": Share(wanted=2, given=2, hit=1, right=2),  # honey is right, its type is another one
        "place": Share(wanted=0, given=1, hit=0, right=0),
        "substance": Share(wanted=1, given=0, hit=1, right=0),
    }
    assert dict(made.kinds) == {
        "nearby": Share(wanted=2, given=2, hit=1, right=1),
        "verb": Share(wanted=2, given=1, hit=1, right=1),
    }


def test_what_was_missed_comes_with_its_quote_and_what_was_given_besides_by_its_order() -> None:
    examples = score(
        graph(["bees", "hive", "HIVE", "box"], [("bees", "hive"), ("hive", "bees"), ("bees", "honey")])
    ).examples
    assert [each.name for each in examples.missed_entities] == ["honey", "Varroa destructor"]
    assert examples.missed_entities[1] == Example(
        "Varroa destructor", "organism", "Varroa destructor harms.", "mites.md"
    )
    assert examples.missed_relations == (Example("Varroa destructor – honey bee", "harm", "It harms bees", "mites.md"),)
    assert examples.other_entities == (Example("hive", "Organism"), Example("box", "Organism"))
    assert examples.other_relations == (Example("bees – hive", "verb"),)


def test_examples_are_bounded() -> None:
    many = graph([f"thing {number}" for number in range(50)])
    assert len(score(many).examples.other_entities) == EXAMPLES == 20


def test_nothing_given_has_no_precision() -> None:
    made = score(graph([]), Vectors())
    assert (made.entities.recall, made.entities.precision) == (0.0, None)
    assert extraction_score(graph([]), (), ()).relations.recall is None


def test_a_passage_wants_what_it_names_and_states() -> None:
    reference = ReferenceGraph(ENTITIES, RELATIONS)
    gold = passage_gold("In spring the\nBees  make honey. Nothing else.", reference)
    assert [entity.name for entity in gold.entities] == ["honey bee", "honey"]
    assert [relation.target for relation in gold.relations] == ["honey"]
    assert passage_gold("A passage about ships.", reference).relations == ()
