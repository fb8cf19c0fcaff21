import pytest

from leanrag_core.evaluation.judging.tables import mean_scores, scores_at_equal_length, win_rates
from leanrag_core.types.experiment import ABSOLUTE, PAIRWISE, Judgement


def scored(run: str, question: int, score: float, words: int) -> Judgement:
    return Judgement("j", ABSOLUTE, f"q{question}", run, "", 0, {"overall": score}, "", "", (words, 0))


def by_length(run: str, words: tuple[int, ...], better: float = 0.0) -> list[Judgement]:
    """Judge by length: a point for each doubling beyond 50 words, from 5 on."""
    points = {50: 5, 100: 6, 200: 7, 400: 8}
    return [scored(run, number, points[n] + better, n) for number, n in enumerate(words)]


def test_runs_that_differ_in_length_alone_are_equal_at_equal_length() -> None:
    judgements = by_length("long", (200, 400, 400, 200)) + by_length("short", (50, 100, 100, 50))
    rows = {row.run: row for row in mean_scores(judgements)}
    assert rows["long"].mean is not None
    assert rows["short"].mean is not None
    assert (rows["long"].mean.value, rows["short"].mean.value) == (7.5, 5.5)
    assert (rows["long"].words, rows["short"].words) == (300, 75)
    equal = [row.equal_length.value for row in rows.values() if row.equal_length]
    assert equal == [pytest.approx(6.5), pytest.approx(6.5)]  # the geometric mean length lies between 100 and 200 words


def test_a_run_that_is_better_stays_better_by_as_much() -> None:
    judgements = by_length("better", (50, 100, 200), 2) + by_length("other", (100, 200, 400))
    equal = scores_at_equal_length(judgements, "overall")
    assert equal["better"].value - equal["other"].value == pytest.approx(2)
    assert equal["better"].n == 3


@pytest.mark.parametrize(
    "judgements",
    [
        by_length("a", (100, 100, 100)) + by_length("b", (200, 200, 200)),  # run and length are the same thing
        by_length("a", (100,)) + by_length("b", (200,)),
        [scored("a", 1, 5, 0), scored("a", 2, 6, 0), scored("a", 3, 7, 0)],
        [],
    ],
)
def test_nothing_is_said_where_it_cannot_be_told(judgements: list[Judgement]) -> None:
    assert scores_at_equal_length(judgements, "overall") == {}


def test_win_rates_have_their_lengths_beside_them() -> None:
    judgements = [
        Judgement("j", PAIRWISE, f"q{n}", "a", "b", 0, {"overall": float(1 + n % 2)}, "", "", (100 + n, 50 + n))
        for n in range(10)
    ]
    (row,) = win_rates(judgements)
    assert row.words == (104.5, 54.5)
    assert row.length is not None
    assert row.length.raw == 0.5
