"""Gates: fail where the questions show it, rarely without a reason, and say how many questions a loss needs."""

import numpy as np
import pytest

from leanrag_core.evaluation.gate_files import RunScores, junit, markdown, read_scores, sentence_of, write_scores
from leanrag_core.evaluation.gating import FLOOR, LOSS, Gated, gate, needed_questions

RIGHT_40_OF_60 = [1.0] * 40 + [0.0] * 20


def changed(rng: np.random.Generator, scores: np.ndarray, share: float) -> np.ndarray:
    """Return those scores with that share drawn anew, neither better nor worse."""
    drawn = rng.choice((0.0, 0.5, 1.0), len(scores), p=(0.15, 0.2, 0.65))
    return np.where(rng.random(len(scores)) < share, drawn, scores)


@pytest.mark.parametrize(("floor", "failed"), [(0.5, False), (0.7, False), (0.9, True)])
def test_a_floor_fails_only_where_the_interval_ends_below_it(floor: float, failed: bool) -> None:
    [check] = gate([Gated("recall", RIGHT_40_OF_60, floor=floor)])
    assert (check.kind, check.failed, check.interval.n) == (FLOOR, failed, 60)
    assert check.interval.value == pytest.approx(2 / 3)


def test_a_ceiling_fails_only_where_the_interval_begins_above_it() -> None:
    tokens = [900.0, 1000.0, 1100.0] * 10
    checks = [
        gate([Gated("tokens", tokens, floor=limit, is_lower_better=True, is_share=False)])[0] for limit in (800, 1010)
    ]
    assert [check.failed for check in checks] == [True, False]
    assert "above the ceiling 800" in sentence_of(checks[0])


def test_a_count_is_written_whole_and_a_share_with_three_decimals() -> None:
    tokens = gate([Gated("context-tokens", [3900.0, 4100.25] * 10, floor=5000, is_lower_better=True, is_share=False)])
    shares = gate([Gated("evidence-recall", [0.5, 0.75] * 10, floor=0.2)])
    assert sentence_of(tokens[0]).startswith("context-tokens 4,000 [3,")
    assert "| 4,000 |" in markdown(tokens, "gate")
    assert sentence_of(shares[0]).startswith("evidence-recall 0.625 [0.")


def test_six_of_six_are_no_proof_that_a_floor_is_kept_or_missed() -> None:
    assert not gate([Gated("recall", [1.0] * 6, floor=0.9)])[0].failed
    assert [gate([Gated("recall", [0.0] * n, floor=0.5)])[0].failed for n in (1, 4, 5)] == [False, False, True], "2**-5"


def test_four_lost_questions_are_no_loss_yet_and_ten_are_one() -> None:
    before = [1.0] * 100
    few, many = ([0.0] * n + [1.0] * (100 - n) for n in (4, 10))
    assert [gate([Gated("recall", after, before)])[0].failed for after in (few, many)] == [False, True]
    assert not gate([Gated("recall", before, many)])[0].failed, "ten won questions are no loss"
    assert gate([Gated("tokens", before, many, is_lower_better=True)])[0].failed, "more of what should be less is one"


def test_checks_of_one_gate_share_the_chance_of_a_false_alarm() -> None:
    before, after = [1.0] * 60, [0.0] * 6 + [1.0] * 54
    assert gate([Gated("recall", after, before)])[0].failed
    alone = [Gated(f"recall {n}", after, before) for n in range(20)]
    assert not any(check.failed for check in gate(alone))


def test_measures_without_scores_are_left_out_and_questions_without_one_of_two_do_not_count() -> None:
    assert gate([Gated("recall", [None, None], [1.0, None], floor=0.5)]) == ()
    [check] = gate([Gated("recall", [1.0, None, 0.5, 1.0], [1.0, 1.0, None, 0.5])])
    assert (check.kind, check.interval.n) == (LOSS, 2)


@pytest.mark.slow
def test_false_alarms_are_at_most_one_in_twenty_and_the_stated_questions_find_four_of_five_losses() -> None:
    """Run 300 gates, which have a standard error of .013 at .05 and .023 at .8; the benchmark `gate` has more."""
    rng, n_gates, alarms, found = np.random.default_rng(7), 300, 0, 0
    pilot = changed(rng, np.zeros(1000), 1.0)
    needed = needed_questions((changed(rng, pilot, 0.1) - pilot).tolist(), 0.05)
    for _ in range(n_gates):
        before = changed(rng, np.zeros(60), 1.0)
        alarms += gate([Gated("recall", changed(rng, before, 0.3).tolist(), before.tolist())])[0].failed
        before = changed(rng, np.zeros(needed), 1.0)
        lost = np.where(rng.random(needed) < 0.05 / 0.75, 0.0, changed(rng, before, 0.1))
        found += gate([Gated("recall", lost.tolist(), before.tolist())])[0].failed
    assert alarms / n_gates <= 0.05 + 2 * 0.013
    assert found / n_gates >= 0.8 - 2 * 0.023


def test_more_scatter_and_a_smaller_loss_need_more_questions() -> None:
    still, wild = [0.0] * 50, [0.5, -0.5] * 25
    assert needed_questions(still, 0.05) < needed_questions(wild, 0.05) < needed_questions(wild, 0.02)
    assert needed_questions([], 0.05) >= 134, "five lost questions are met in four of five cases from 134 on"
    assert needed_questions([10.0, -10.0] * 20, 5.0, is_share=False) < 60


def test_files_are_read_again_and_what_they_name_is_text(tmp_path) -> None:  # type: ignore[no-untyped-def]
    scores = RunScores("leanrag", "<b>|", {"谁建的? <i>": {"recall-5": 0.5}})
    write_scores(tmp_path / "scores.json", scores)
    assert read_scores(tmp_path / "scores.json") == scores
    checks = gate([Gated("recall-5", [0.0] * 12, [1.0] * 12, floor=0.5)])
    shown = markdown(checks, "<script>|`x`")
    assert "<script>" not in shown
    assert shown.count("❌") == 2
    xml = junit(checks, '<a b="c">&').decode()
    assert 'failures="2"' in xml
    assert "&lt;a b=" in xml
