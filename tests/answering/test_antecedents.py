"""What a sentence points back to."""

import pytest

from leanrag_core.answering.antecedents import antecedents

FRISCH = (
    "Karl von Frisch, an Austrian zoologist, began with the senses of the bee.",
    "Around 1914 he showed that bees see colours.",
    "In the following decades he read the dances.",
    "He took the round dance for a sign of nectar.",
    "In 1973 he shared the Nobel Prize with Konrad Lorenz.",
)


QUESTION = "Who read the dances?"


@pytest.mark.parametrize("place", [1, 2, 3, 4])
@pytest.mark.parametrize("persons", [frozenset(), frozenset({"Frisch"})])
def test_he_is_whom_the_nearest_sentence_before_names(place: int, persons: frozenset[str]) -> None:
    assert antecedents(FRISCH, place, persons, QUESTION) == FRISCH[:1]
    assert antecedents(FRISCH, 0, persons, QUESTION) == ()


@pytest.mark.parametrize(
    "opening",
    [
        "At the University of Munich",
        "By then",
        "Later",
        "From the end of 1628",
        "At the age of nineteen",
        "At the age of twenty-five",
        "In the nineteenth century",
        "In the late 17th century",
        "In Århus",
        "In May 1933",
        "Soon,",
    ],
)
def test_a_time_or_a_place_may_stand_before_he(opening: str) -> None:
    sentences = ("Ada Lovelace wrote notes on the engine.", f"{opening} she published Ada's tables.")
    assert antecedents(sentences, 1, frozenset({"Lovelace"}), QUESTION) == sentences[:1]


@pytest.mark.parametrize(
    "text",
    ["In 1788 Hutton found red sandstone.", "At noon the keeper said that he was tired.", "In winter bees cluster."],
)
def test_a_sentence_that_names_its_subject_points_to_nothing(text: str) -> None:
    assert antecedents(("James Hutton was a physician.", text), 1, frozenset({"Hutton"}), QUESTION) == ()


def test_a_known_person_counts_before_another_name_and_whom_her_means_may_be_another_one() -> None:
    sentences = (
        "Emmy Noether taught at a college near Philadelphia.",
        "Weyl remembered that her courage was a comfort; Weyl wrote it to Noether's brother.",
        "In April 1935 she underwent an operation.",
    )
    assert antecedents(sentences, 2, frozenset({"Noether"}), QUESTION) == sentences[:1]
    sentences = (
        "Moritz Schlick came to Vienna.",
        "Schlick came from Berlin, where he had studied.",
        "He had written a book.",
    )
    assert antecedents((*sentences, "Friends of Schlick met there."), 2, frozenset(), QUESTION) == sentences[1:2]


def test_this_is_what_the_sentence_before_says_and_what_that_one_speaks_of() -> None:
    sentences = (
        "The count sketch is a few years older.",
        "Its estimates are unbiased.",
        "This makes them useful in streams.",
    )
    assert antecedents(sentences, 1, frozenset(), QUESTION) == sentences[:1]
    assert antecedents(sentences, 2, frozenset(), QUESTION) == sentences[:2]


def test_a_heading_or_half_a_sentence_is_brought_by_none() -> None:
    assert antecedents(("The dances of bees", "In 1973 he shared a prize."), 1, frozenset(), QUESTION) == ()
    assert antecedents(("The dances of bees", "It is a language."), 1, frozenset(), QUESTION) == ()


def test_whom_the_question_names_need_not_be_named_again() -> None:
    assert antecedents(FRISCH, 4, frozenset({"Frisch"}), "What did Karl von Frisch share in 1973?") == ()
    assert antecedents(FRISCH, 4, frozenset({"Frisch"}), "What did the man share in May 1973?") == FRISCH[:1]


def test_a_first_word_that_the_question_begins_with_too_is_no_name() -> None:
    sentences = ("In Munich the zoologist Karl von Frisch read the dances.", "In 1973 he shared a prize.")
    assert antecedents(sentences, 1, frozenset(), "In which year was the prize shared?") == sentences[:1]


def test_a_name_may_begin_with_an_accented_letter() -> None:
    sentences = ("Ångström measured light.", "The road to Uppsala was bad.", "In 1868 he drew the spectrum.")
    assert antecedents(sentences, 2, frozenset({"Ångström"}), QUESTION) == sentences[:1]
