"""Rank tests beside scipy and hand-worked cases; letters by hand."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import PermutationMethod, wilcoxon

from leanrag_core.evaluation.statistics import compact_letters, differ, holm, letter, paired_test


def test_six_gains_of_six_have_the_p_of_the_exact_test() -> None:
    b = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    a = [score + 0.01 * place for place, score in enumerate(b, 1)]
    assert paired_test(a, b) == pytest.approx(2 / 2**6)  # of 64 sets of signs two are as one-sided
    assert paired_test(b, a) == paired_test(a, b)


def test_five_differences_cannot_be_significant() -> None:
    assert paired_test([1.0, 2.0, 3.0, 4.0, 5.0], [0.0] * 5) == pytest.approx(2 / 2**5)
    assert [differ(p) for p in (2 / 2**5, 0.05, 0.0499)] == [False, False, True]


def test_without_a_difference_p_is_1() -> None:
    assert paired_test([], []) == 1.0
    assert paired_test([0.9], [0.1]) == 1.0  # a single one has either sign as likely
    assert paired_test([0.5, 0.7, None], [0.5, 0.7, 1.0]) == 1.0
    assert paired_test([0.1 + 0.2], [0.3]) == 1.0  # unequal in the last bit alone


@pytest.mark.parametrize("n", [2, 6, 9, 12])
def test_few_differences_are_tested_exactly_as_scipy_does(n: int) -> None:
    random = np.random.default_rng(n)
    repeated = random.integers(1, 4, n) * random.choice((-1, 1), n) / 4
    distinct = random.permutation(n) + 1.0
    distinct *= random.choice((-1, 1), n)
    by_permutation = wilcoxon(repeated, method=PermutationMethod(n_resamples=np.inf)).pvalue
    assert paired_test(repeated.tolist(), [0.0] * n) == pytest.approx(by_permutation)
    assert paired_test(distinct.tolist(), [0.0] * n) == pytest.approx(wilcoxon(distinct, method="exact").pvalue)


def test_many_differences_are_tested_as_scipy_does() -> None:
    random = np.random.default_rng(3)
    a, b = random.integers(0, 5, 80) / 4, random.integers(0, 4, 80) / 4
    assert paired_test(a.tolist(), b.tolist()) == pytest.approx(wilcoxon(a, b, method="asymptotic").pvalue)
    with pytest.raises(ValueError, match="zip"):
        paired_test([1.0], [])


def test_the_exact_p_goes_over_into_the_normal_one() -> None:
    random = np.random.default_rng(5)
    a = (random.integers(0, 5, 50) / 4 + 0.1).tolist()
    assert paired_test(a, [0.5] * 50) == pytest.approx(wilcoxon(np.array(a) - 0.5, method="asymptotic").pvalue, rel=0.1)


def test_p_is_below_a_twentieth_in_about_a_twentieth_of_equal_systems() -> None:
    random = np.random.default_rng(17)
    p_values = [paired_test(random.random(25).tolist(), random.random(25).tolist()) for _ in range(400)]
    assert 6 <= sum(p < 0.05 for p in p_values) <= 36  # 999 of 1,000 counts of a binomial of 400 and .05


def test_holm_by_hand() -> None:
    # sorted .01 .02 .03 .04, times 4 3 2 1 = .04 .06 .06 .04, never falling
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx((0.06, 0.04, 0.06, 0.06))
    assert holm([]) == ()
    assert holm([0.9, 0.8]) == (1.0, 1.0)


@pytest.mark.slow
def test_holm_gives_what_statsmodels_gives() -> None:
    from statsmodels.stats.multitest import multipletests

    for seed in range(20):
        p_values = np.round(np.random.default_rng(seed).uniform(size=seed + 1) ** 3, 3)
        assert holm(p_values.tolist()) == pytest.approx(tuple(multipletests(p_values, method="holm")[1]))


def matrix(n: int, differ: set[tuple[int, int]]) -> list[list[float]]:
    return [
        [0.001 if (row, other) in differ or (other, row) in differ else 0.5 for other in range(n)] for row in range(n)
    ]


def test_names_that_cannot_be_told_apart_share_a_letter() -> None:
    names = ["low", "best", "middle"]
    letters = compact_letters(names, matrix(3, {(0, 1)}), [0.1, 0.9, 0.5])
    assert letters == {"low": "b", "best": "a", "middle": "ab"}
    assert compact_letters(names, matrix(3, set()), [0.1, 0.9, 0.5]) == dict.fromkeys(names, "a")
    apart = compact_letters(names, matrix(3, {(0, 1), (0, 2), (1, 2)}), [0.1, 0.9, 0.5])
    assert apart == {"best": "a", "middle": "b", "low": "c"}


def test_a_name_without_a_mean_has_no_letter() -> None:
    assert compact_letters(["a", "b"], matrix(2, set()), [None, 0.5]) == {"a": "", "b": "a"}
    assert compact_letters([], [], []) == {}


def test_letters_say_exactly_which_pairs_differ() -> None:
    random = np.random.default_rng(11)
    for _ in range(40):
        n = int(random.integers(2, 9))
        differ = {(a, b) for a in range(n) for b in range(a) if random.random() < 0.4}
        names = [str(row) for row in range(n)]
        letters = compact_letters(names, matrix(n, differ), random.random(n).tolist())
        shared = {(a, b): bool(set(letters[str(a)]) & set(letters[str(b)])) for a in range(n) for b in range(a)}
        assert shared == {pair: pair not in differ for pair in shared}


def test_there_are_letters_for_any_number_of_groups() -> None:
    written = [letter(number) for number in range(80)]
    assert (written[0], written[26], written[52]) == ("a", "A", "(53)")
    assert all(first != second for first, second in pairwise(written))
