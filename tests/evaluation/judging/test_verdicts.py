import pytest

from leanrag_core.errors import ReplyError
from leanrag_core.evaluation.judging.asking import criterion_of, pair_verdicts, required_verdicts, score_of, winner_of


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Answer 1", 1),
        ("[Answer 2]", 2),
        ("**answer 2**", 2),
        (1, 1),
        (2.0, 2),
        ("0", 0),
        ("Tie", 0),
        ("both", 0),
        ("first", 1),
        ({"Explanation": "2 is worse", "Winner": "Answer 1"}, 1),
        ("Answer 3", None),
        ("Answer 1 or Answer 2", None),
        (True, None),
        (None, None),
        ({"explanation": "1"}, None),
    ],
)
def test_a_winner_is_read_as_it_is_said_or_not_at_all(said: object, meant: float | None) -> None:
    assert winner_of(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (7, 7),
        ("8/10", 8),
        ({"score": "9"}, 9),
        (0, None),
        (11, None),
        ("good", None),
        (float("nan"), None),
        (True, None),
    ],
)
def test_a_score_lies_between_one_and_ten(said: object, meant: float | None) -> None:
    assert score_of(said) == meant


def test_criteria_have_one_name() -> None:
    assert criterion_of("Overall Winner") == criterion_of("overall_score") == "overall"
    assert pair_verdicts({"Diversity": {"Winner": "Answer 2"}, "Remark": "none"}) == {"diversity": 2}


def test_half_a_reply_is_none() -> None:
    with pytest.raises(ReplyError, match="diversity"):
        required_verdicts({"overall": {"winner": 1}}, ("diversity", "overall"), is_pair=True)
