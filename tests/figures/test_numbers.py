import re

import pytest

from leanrag_core.figures import numbers


@pytest.mark.parametrize(
    ("n", "expected_text"), [(0, "0 chunks"), (1, "1 chunk"), (2, "2 chunks"), (1234567, "1,234,567 chunks")]
)
def test_a_count_has_its_unit_and_thousands(n: int, expected_text: str) -> None:
    assert numbers.counted(n, "chunk") == expected_text


def test_an_irregular_plural_is_given() -> None:
    assert numbers.counted(2, "corpus", "corpora") == "2 corpora"
    assert numbers.counted(1, "corpus", "corpora") == "1 corpus"


def test_a_unit_of_progress_is_put_into_the_singular() -> None:
    assert [numbers.of_unit(1, unit) for unit in ("entities", "chunks", "documents")] == [
        "1 entity",
        "1 chunk",
        "1 document",
    ]
    assert numbers.of_unit(3, "entities") == "3 entities"


@pytest.mark.parametrize(
    ("n", "expected_text"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10 k"),
        (12_400, "12 k"),
        (999_499, "999 k"),
        (999_500, "1.0 M"),
        (4_130_000, "4.1 M"),
    ],
)
def test_tokens_have_no_false_precision(n: int, expected_text: str) -> None:
    assert numbers.tokens(n) == expected_text


@pytest.mark.parametrize(
    ("n", "expected_text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (14_200, "14 kB"),
        (999_500, "1.0 MB"),
        (3_210_000, "3.2 MB"),
        (999_949_999, "999.9 MB"),
        (999_950_000, "1.0 GB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_sizes_step_to_the_next_unit_before_a_thousand(n: int, expected_text: str) -> None:
    assert numbers.size(n) == expected_text


@pytest.mark.parametrize(
    ("seconds", "expected_text"),
    [
        (0, "0 ms"),
        (0.0123, "12 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (3.44, "3.4 s"),
        (9.96, "10 s"),
        (48.2, "48 s"),
        (119.4, "119 s"),
        (119.6, "2 min"),
        (120, "2 min"),
        (123.6, "2 min"),
        (150, "3 min"),
        (3569, "59 min"),
        (3599, "1 h"),
        (4800, "1 h 20 min"),
        (7200, "2 h"),
    ],
)
def test_durations_are_rounded_as_a_reader_wants(seconds: float, expected_text: str) -> None:
    assert numbers.duration(seconds) == expected_text


@pytest.mark.parametrize(
    ("seconds", "expected_text"),
    [
        (0, "5 s"),
        (5.1, "10 s"),
        (118, "120 s"),
        (130, "3 min"),
    ],
)
def test_time_left_moves_in_steps_of_five_seconds(seconds: float, expected_text: str) -> None:
    assert numbers.remaining(seconds) == expected_text


def test_signs_are_true_ones() -> None:
    assert [numbers.signed(n) for n in (1640, -20, 0)] == ["+1,640", "−20", "0"]
    assert numbers.share(0.364) == "36 %"
    assert numbers.share(0.9752, 1) == "97.5 %"
    assert numbers.share(16.53) == "1,653 %"
    assert [numbers.decimal(value) for value in (1234.56, -3.21, -0.01)] == ["1,234.6", "−3.2", "0.0"]


def test_a_day_is_written_in_words_and_no_day_stays_itself() -> None:
    assert re.fullmatch(r"(18|19|20) Nov 2026, \d\d:\d\d", numbers.day("2026-11-19T12:02:00+00:00"))
    assert re.fullmatch(r"2026年11月(18|19|20)日 \d\d:\d\d", numbers.day("2026-11-19T12:02:00+00:00", "zh"))
    assert numbers.day("2026-11-19T12:02:00") == numbers.day("2026-11-19T12:02:00+00:00")
    assert numbers.day("<b>soon</b>") == "<b>soon</b>"


@pytest.mark.parametrize(
    ("part", "expected_text"), [(0.14, "+14 %"), (-0.02, "−2 %"), (-0.002, "0 %"), (0.004, "0 %"), (0.0, "0 %")]
)
def test_a_change_has_its_sign_unless_it_rounds_to_nothing(part: float, expected_text: str) -> None:
    assert numbers.change(part) == expected_text
