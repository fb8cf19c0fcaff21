"""Questions of multiple choice are right by the letter that an answer chooses."""

import pytest

from leanrag_core.evaluation.answers import DECLINED, RIGHT, WRONG, grade, options_of
from leanrag_core.evaluation.gold import GoldQuestion

TRAITS = GoldQuestion(
    "q", "Which two traits do they share? A. straight hair B. curly hair and square faces C. oval faces", ("B",)
)


def test_options_are_read_from_the_question() -> None:
    assert options_of(TRAITS) == {"A": "straight hair", "B": "curly hair and square faces", "C": "oval faces"}
    lines = GoldQuestion("q", "Where?\n(A) Erlangen\n(B) Bonn", ("A. Erlangen",))
    assert options_of(lines) == {"A": "erlangen", "B": "bonn"}


@pytest.mark.parametrize(
    "question",
    [
        GoldQuestion("q", "Who was born in Erlangen?", ("A",)),
        GoldQuestion("q", "Which? A. this B. that", ("that",)),
        GoldQuestion("q", "Which? A. this B. that", ("C",)),
        GoldQuestion("q", "What did B. Curie and C. Sagan write?", ("B",)),
        GoldQuestion("q", "Which? A. this C. that", ("A",)),
        GoldQuestion("q", "Which? A. this B. that", ()),
    ],
)
def test_other_questions_have_no_options(question: GoldQuestion) -> None:
    assert options_of(question) == {}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("B", RIGHT),
        ("**B.** Curly hair.", RIGHT),
        ("B [C1]", RIGHT),
        ("(B)", RIGHT),
        ("The answer is B, since both have curls.", RIGHT),
        ("答案是B。", RIGHT),
        ("They share curly hair and square faces.", RIGHT),
        ("A", WRONG),
        ("C: oval faces", WRONG),
        ("A long story tells of both.", WRONG),
        ("The answer is A, or the answer is B.", WRONG),
        ("Straight hair, and then oval faces.", WRONG),
        ("", WRONG),
        ("NOT IN THE CONTEXT: nothing is said of faces.", DECLINED),
    ],
)
def test_an_answer_is_graded_by_its_choice(answer: str, expected: str) -> None:
    assert grade(TRAITS, answer) == expected


def test_the_letter_a_is_no_article() -> None:
    assert grade(GoldQuestion("q", "Where? A. Erlangen B. Bonn", ("A",)), "A") == RIGHT
    assert grade(GoldQuestion("q", "Where? A. Erlangen B. Bonn", ("A",)), "B") == WRONG
