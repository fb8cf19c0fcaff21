import pytest

from leanrag_core.evaluation.anonymity import Anonymiser, Dictionary, Placeholder, reverted

DICTIONARY = Dictionary(
    "index",
    (
        Placeholder("PERSON_1", "person", ("Emmy Noether", "Noether")),
        Placeholder("ORGANIZATION_1", "organization", ("Noether Institute of Algebra",)),
        Placeholder("PLANT_1", "plant", ("Red clover",)),
        Placeholder("PERSON_2", "person", ("Rose",)),
        Placeholder("LOCATION_1", "location", ("北京",)),
    ),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Emmy Noether taught; Noether's students spread.", "PERSON_1 taught; PERSON_1's students spread."),
        ("The Noether Institute of Algebra honours Noether.", "The ORGANIZATION_1 honours PERSON_1."),
        ("A name cut by a line: Emmy\n  Noether.", "A name cut by a line: PERSON_1."),
        ("EMMY NOETHER", "PERSON_1"),
        ("Fields of red clover. Red clover feeds bees.", "Fields of PLANT_1. PLANT_1 feeds bees."),
        ("Rose saw a rose and Rosemary.", "PERSON_2 saw a rose and Rosemary."),
        ("他住在北京市。", "他住在LOCATION_1市。"),
        ("NonEmmy Noetherian rings", "NonEmmy Noetherian rings"),
    ],
)
def test_whole_names_are_replaced_the_longest_first(text: str, expected: str) -> None:
    assert Anonymiser(DICTIONARY)(text).text == expected


def test_spans_lead_back_to_the_original_text() -> None:
    text = "Emmy Noether met Rose."
    replaced = Anonymiser(DICTIONARY)(text)
    assert [(text[start:end], placeholder) for start, end, placeholder in replaced.spans] == [
        ("Emmy Noether", "PERSON_1"),
        ("Rose", "PERSON_2"),
    ]


def test_a_quote_that_cuts_a_name_gets_the_whole_placeholder() -> None:
    text = "It was Emmy Noether who taught Rose there."
    start, end = text.index("Noether"), text.index(" there")
    assert Anonymiser(DICTIONARY).of_quote(text, start, end) == "PERSON_1 who taught PERSON_2"


@pytest.mark.parametrize(
    "written", ["PERSON_1", "[PERSON_1]", "person_1", "PERSON#1", "PERSON 1", "PERSON-1", "PERSON_01"]
)
def test_placeholders_are_known_in_any_spelling(written: str) -> None:
    assert reverted(f"It was {written}.", DICTIONARY).text == "It was Emmy Noether."


def test_what_stands_for_nothing_stays_and_is_counted() -> None:
    answer = reverted("PERSON_9 and PERSON_2 did plant 1 tree at page_3.", DICTIONARY)
    assert answer.text == "PERSON_9 and Rose did plant 1 tree at page_3."
    assert (answer.known, answer.unknown) == (("PERSON_2",), ("PERSON_9",))
