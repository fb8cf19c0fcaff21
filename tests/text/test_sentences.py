import pytest

from leanrag_core.text.sentences import sentence_places, sentences_with_quotations, up_to_last_sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two? Thr", "One. Two?"),
        ('He said "no." And', 'He said "no."'),
        ("Bees danc", "Bees danc"),
        ("A. Then a much longer rest without an end", "A. Then a much longer rest without an end"),
        ("蜜蜂采蜜。油菜开", "蜜蜂采蜜。"),
        ("one line\nanother l", "one line\nanother l"),
        ("", ""),
    ],
)
def test_a_cut_text_ends_with_its_last_sentence_unless_half_would_be_lost(text: str, expected: str) -> None:
    assert up_to_last_sentence(text) == expected


def test_a_line_ends_a_sentence_where_that_is_asked_for() -> None:
    assert up_to_last_sentence("one long line\nanoth", lines=True) == "one long line"


def test_places_are_those_of_the_sentences() -> None:
    text = "  Dr. Lunn came to Carrow. She met Mr. Thorne.\n\nNobody else did!  "
    assert [text[slice(*place)] for place in sentence_places(text)] == [
        "Dr. Lunn came to Carrow.",
        "She met Mr. Thorne.",
        "Nobody else did!",
    ]


@pytest.mark.parametrize(
    "whole",
    [
        "It leaped up, as though it cried, 'I know him! Marley's\nGhost!' and fell again.",
        'He closed with: "We must know. We will know."',
        "She asked, “Is it late? Is it dark?” and went.",
    ],
)
def test_sentences_of_a_quotation_stay_together(whole: str) -> None:
    [first, *rest] = sentences_with_quotations(f"Dr. Lunn's bees' hive! {whole}\n\nNobody's 'else' did.")
    assert (first, rest) == ("Dr. Lunn's bees' hive!", [" ".join(whole.split()), "Nobody's 'else' did."])


def test_a_quotation_ends_with_its_paragraph_and_is_short() -> None:
    text = 'She said: "Never.\n\nHe agreed. "Yes" it was.'
    assert sentences_with_quotations(text) == ['She said: "Never.', "He agreed.", '"Yes" it was.']
    speech = "'" + "It was a long and rainy day. " * 20 + "It ended.'"
    assert len(sentences_with_quotations(speech)) == 21
