import pytest

from leanrag_core.indexing.extraction.gathered import ExampleNames, Passage
from leanrag_core.prompts.catalog import load_prompt

PASSAGE = (
    "The World Health Organization met in Genève. Dr. García spoke of key performance metrics, of anaesthetics and of "
    "the NGO that Müller leads."
)


@pytest.mark.parametrize(
    "name",
    [
        "WHO",
        "World Health Organisation",
        "Geneve",
        "GENÈVE",
        "Garcia",
        "Muller",
        "non-governmental organization NGO",
        "performance indicators",
        "Anaesthetic agents",
        "Женева",
        "日内瓦",
        "Non Governmental Organisation",
        "",
    ],
)
def test_names_paraphrases_acronyms_and_other_scripts_are_mentioned(name: str) -> None:
    assert Passage(PASSAGE).speaks_of(name)


@pytest.mark.parametrize("name", ["Carrow tide mill", "Noah Carter", "Threshold Guardians", "Hester Lunn", "NASA"])
def test_names_from_elsewhere_are_not(name: str) -> None:
    assert not Passage(PASSAGE).speaks_of(name)


def test_a_script_without_spaces_is_read_by_pairs_of_signs() -> None:
    passage = Passage("患者接受全身麻醉。麻醉药物有多种。")
    assert passage.speaks_of("全身麻醉药")
    assert not passage.speaks_of("抗凝治疗")


def test_only_what_the_example_names_and_the_passage_does_not_is_copied() -> None:
    example, names = ExampleNames(load_prompt("extract_graph").text), ["Carrow tide mill", "railway", "the Carrow mill"]
    assert example.copied([*names, "Hester Lunn", "Ada"], Passage("Ada saw a mill.")) == {
        "Carrow tide mill",
        "railway",
        "Hester Lunn",
    }
    assert example.copied(names, Passage("Railways came to the tide mill of Carrow.")) == frozenset()
