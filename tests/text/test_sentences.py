import pytest

from leanrag_core.text.sentences import sentence_places, up_to_last_sentence


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
