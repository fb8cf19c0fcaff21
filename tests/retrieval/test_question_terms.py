"""Names and phrases of questions, as a reader marks them."""

from leanrag_core.retrieval.question_terms import question_terms


def test_names_are_capitalised_inside_the_sentence() -> None:
    terms = question_terms("Which bank of Marie Curie's friends did the Bank of England fear?")
    assert terms.names == ("Marie Curie's", "Bank of England")


def test_phrases_are_runs_between_function_words() -> None:
    terms = question_terms("How does seed treatment on oilseed rape change the honey yield?")
    assert terms.phrases == ("seed treatment", "oilseed rape change", "honey yield")


def test_a_quoted_title_is_a_name_and_a_phrase_once() -> None:
    terms = question_terms("Who wrote “Sketch of the Analytical Engine”?")
    assert terms.names[0] == "Sketch of the Analytical Engine"
    assert len(set(terms.phrases)) == len(terms.phrases)


def test_an_empty_question_has_no_terms() -> None:
    assert question_terms("Who is it?") == question_terms("")
