"""Attributes by patterns, and labels of relations."""

import pytest

from leanrag_core.indexing.youtu.patterns import AttributeFact, attribute_facts, relation_labels
from tests.small_index import entity, layer, relation, unit


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [
        ("mite", "A mite is an external parasite of bees.", [("kind", "external parasite of bees")]),
        ("Hypatia", "Hypatia, the daughter of Theon, taught in Alexandria.", [("kind", "daughter of Theon")]),
        ("foulbrood", "Foulbrood is caused by a bacterium, and spreads.", [("state", "caused by a bacterium")]),
        ("plant", "The plant has a deep taproot.", [("feature", "a deep taproot")]),
        ("town", "The town had built a wall.", []),
        ("queen", "The length of the queen is 20 mm.", [("length", "20 mm")]),
        ("queen", "The queen's colour is yellow in 2022.", [("colour", "yellow in 2022")]),
        ("hive", "The hive has a weight of about 20.5 kg.", [("weight", "20.5 kg"), ("amount", "20.5 kg")]),
        ("treaty", "The treaty was signed in 1852.", [("state", "signed in 1852"), ("year", "1852")]),
        ("mite", "Beekeepers say that a mite is a parasite.", []),
        ("瓦螨", "瓦螨是一种寄生虫。", [("kind", "寄生虫")]),
    ],
)  # fmt: skip
def test_a_sentence_that_begins_with_the_name_says_an_attribute(
    name: str, text: str, facts: list[tuple[str, str]]
) -> None:
    assert attribute_facts(name, text) == [AttributeFact(*fact) for fact in facts]


def test_a_relation_is_labelled_by_its_keyword_its_preposition_or_its_kind() -> None:
    relations = [
        relation(0, 1, keywords=["Drinks From", "harm"]),
        relation(0, 2, kind="preposition", description="mite from the island of Java: The mite ..."),
        relation(1, 2, kind="preposition", description="Java were bee: ..."),
        relation(0, 3, kind="apposition"),
        relation(1, 3, kind="co-occurrence"),
    ]
    names = [entity(name, [0]) for name in ("mite", "bee", "Java", "parasite")]
    base = layer(0, names, relations, unit([[1, 0]] * 4), [0] * 4)
    # "from the island of" has more than three words; "Java were bee" names the ends in the other order.
    assert relation_labels(base) == ["drinks from", "related to", "is", "is", "related to"]
