from dataclasses import replace

import pytest

from leanrag_core.evaluation.audit.judges import advice, audit, headline
from leanrag_core.evaluation.audit.records import CANNOT_TELL, WINS, WINS_WEAKLY, Audit, JudgeAudit
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.experiment import ABSOLUTE, PAIRWISE, Judgement
from tests.evaluation.audit.scripted_judges import (
    QUALITY,
    Rule,
    always_first,
    always_second,
    always_tie,
    at_random,
    inconsistent,
    judged,
    perfect,
    prefers_longer,
)


def judge_of(result: Audit) -> JudgeAudit:
    (judge,) = result.judges
    return judge


def faults(result: Audit) -> set[str]:
    return {fault.code for fault in judge_of(result).faults}


def compared(first: str, second: str, verdict: float | None, question: str = "q", repeat: int = 0) -> Judgement:
    return Judgement("judge", PAIRWISE, question, first, second, repeat, {"overall": verdict}, "", "")


def test_a_perfect_judge_is_cleared() -> None:
    result = audit(judged(perfect))
    judge = judge_of(result)
    assert judge.holds
    assert judge.swaps.flip_rate == 0
    assert judge.first_answer is not None
    assert judge.first_answer.value == 0.5
    assert judge.consistency is not None
    assert judge.consistency.value == 1
    assert [(pair.winner, pair.verdict) for pair in result.pairs] == [("good", WINS), ("good", WINS), ("fair", WINS)]
    assert [pair.length.equal_length.value > 0.9 for pair in result.pairs if pair.length] == [True] * 3
    assert sentence(headline(result)) == "This judge holds: 100 % of verdicts survive the swap."
    assert "good against fair" in sentence(advice(result)[0])
    assert result.flips == ()


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (always_first, "audit.prefers_first"),
        (always_second, "audit.prefers_second"),
        (prefers_longer, "audit.prefers_longer"),
        (inconsistent, "audit.inconsistent"),
        (at_random(1), "audit.inconsistent"),
        (always_tie, "audit.never_decides"),
    ],
)
def test_a_judge_that_goes_by_something_else_than_the_answers_is_exposed(rule: Rule, fault: str) -> None:
    result = audit(judged(rule))
    assert fault in faults(result)
    assert not judge_of(result).holds
    assert [pair.verdict for pair in result.pairs] == [CANNOT_TELL] * 3
    assert [each.code for each in advice(result)] == ["audit.do_not_report"]


def test_a_judge_that_goes_by_order_flips_every_verdict() -> None:
    result = audit(judged(always_first))
    assert judge_of(result).swaps.flip_rate == 1
    (bias,) = result.first_answer
    assert bias.share is not None
    assert bias.share.value == 1
    assert bias.p_holm < 0.001
    assert [(pair.shown_first, pair.shown_second) for pair in result.pairs if pair.win_rate is None] == []
    assert "cannot tell good from fair: 100 %" in sentence(headline(result))


def test_a_coin_flips_half_of_its_verdicts_and_agrees_with_itself_by_chance() -> None:
    result = audit(judged(at_random(2)))
    flip_rate = judge_of(result).swaps.flip_rate
    assert flip_rate is not None
    assert 0.4 < flip_rate < 0.6
    alone = next(row for row in result.agreement if row.judge == row.other)
    assert alone.kappa is not None
    assert abs(alone.kappa) < 0.15


def test_length_alone_leaves_no_win_at_equal_length() -> None:
    result = audit(judged(prefers_longer))
    (effect,) = result.length
    assert effect.longer_wins.value == 1
    assert effect.fit is not None
    assert effect.fit.odds_per_doubling.value > 2
    rates = [pair.length.equal_length for pair in result.pairs if pair.length]
    assert all((rate.low or 0) < 0.5 < (rate.high or 1) for rate in rates)


def test_a_judge_is_not_blamed_for_a_better_run_that_always_writes_more() -> None:
    twice_as_long = [
        replace(each, words=(100 * QUALITY[each.first], 100 * QUALITY[each.second])) for each in judged(perfect)
    ]
    result = audit(twice_as_long)
    (effect,) = result.length
    assert effect.longer_wins.value == 1
    assert not effect.within_pairs
    assert judge_of(result).holds


def test_ties_count_half_and_unreadable_replies_count_nothing() -> None:
    verdicts = [compared("a", "b", 1), compared("a", "b", 0, "r"), compared("b", "a", None), compared("b", "a", 1, "r")]
    (pair,) = audit(verdicts).pairs
    assert (pair.wins, pair.losses, pair.ties, pair.unparsed) == (1, 1, 1, 1)
    assert pair.win_rate is not None
    assert pair.win_rate.value == 0.5  # a win, a tie, a loss
    assert pair.shown_first is not None
    assert pair.shown_first.value == 0.75
    assert pair.swaps.n == 1, "the question of the unreadable reply was not judged in both orders"
    assert pair.swaps.flipped == 1, "a tie became a loss"


def test_the_swapped_judgement_of_another_repeat_is_no_partner() -> None:
    (pair,) = audit([compared("a", "b", 1, repeat=0), compared("b", "a", 1, repeat=1)]).pairs
    assert pair.swaps.n == 0


def test_a_winner_that_needs_its_place_wins_weakly_and_one_that_flips_too_often_does_not_win() -> None:
    def wins_of(n_shown_second: int) -> list[Judgement]:
        """Return judgements in which a wins 27 of 30 questions when shown first, and so many of the same ones when
        shown second."""
        first = [compared("a", "b", 1 if n < 27 else 2, f"q{n}") for n in range(30)]
        return first + [compared("b", "a", 2 if n < n_shown_second else 1, f"q{n}") for n in range(30)]

    verdicts = {n: audit(wins_of(n)).pairs[0] for n in (16, 15, 13)}
    assert (verdicts[16].verdict, verdicts[16].winner) == (WINS, "a")
    assert (verdicts[15].verdict, verdicts[15].winner) == (WINS_WEAKLY, "a")
    assert verdicts[15].swaps.flip_rate == 0.4
    assert (verdicts[13].verdict, verdicts[13].winner) == (CANNOT_TELL, "")
    assert verdicts[13].swaps.flip_rate == pytest.approx(14 / 30)


def test_one_order_alone_is_a_fault() -> None:
    result = audit([compared("a", "b", 1, f"q{n}") for n in range(8)])
    assert faults(result) >= {"audit.one_order"}
    assert result.pairs[0].verdict == WINS_WEAKLY


def test_judges_are_compared_with_each_other_and_shown_apart() -> None:
    result = audit([*judged(perfect, "one"), *judged(perfect, "two"), *judged(always_first, "three")])
    kappa = {(row.judge, row.other): row.kappa for row in result.agreement}
    assert kappa["one", "two"] == 1
    assert kappa["one", "three"] == pytest.approx(0)
    assert [judge.holds for judge in result.judges] == [True, True, False]
    assert result.fleiss is not None
    assert 0 < result.fleiss < 1


def test_absolute_scores_show_their_spread_and_what_follows_length() -> None:
    def scored(question: int, repeat: int, score: float | None) -> Judgement:
        words = (100 + question, 0)
        return Judgement("judge", ABSOLUTE, f"q{question}", "a", "", repeat, {"overall": score}, "", "", words)

    verdicts = [scored(n, repeat, 5 + n + repeat) for n in range(3) for repeat in range(2)] + [scored(3, 0, None)]
    (row,) = audit(verdicts).scores
    assert row.mean == 6.5
    assert row.spread == pytest.approx(0.5**0.5)  # two scores that are 1 apart
    assert row.with_length == pytest.approx(1)
    assert (row.n, row.unparsed) == (6, 1)


def test_the_audit_of_nothing_is_empty_and_the_same_judgements_give_the_same_audit() -> None:
    assert headline(audit(())).code == "audit.nothing"
    verdicts = judged(at_random(3))
    assert audit(verdicts) == audit(verdicts)


def test_a_judge_that_nobody_can_read_is_said_to_be_unreadable_and_not_to_have_shown_one_order() -> None:
    orders = (("a", "b"), ("b", "a"))
    result = audit([compared(*order, None, question) for question in "123" for order in orders])
    assert faults(result) == {"audit.unreadable"}
    assert headline(result).code == "audit.unreadable"


def test_shares_have_intervals_also_where_all_verdicts_are_equal() -> None:
    orders = (("a", "b", 1.0), ("b", "a", 1.0))
    judge = judge_of(audit([compared(*order, question) for question in "1234" for order in orders]))
    rate = judge.swaps.rate
    assert rate is not None
    assert (rate.value, rate.n, judge.swaps.flip_rate) == (1.0, 4, 1.0)
    assert (rate.low, rate.high) == pytest.approx((0.5101, 1.0), abs=1e-4)
    flips = next(fault for fault in judge.faults if fault.code == "audit.flips")
    assert "100 % (95 %: 51 % to 100 %, 4 questions)" in sentence(flips)
