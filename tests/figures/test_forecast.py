from dataclasses import replace

import pytest

from leanrag_core.figures.forecast import forecast
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.job import JobState
from leanrag_core.types.summary import CorpusSummary

CORPUS = CorpusSummary("mine", "Mine", "", False, 10, 10_000, "2026-01-01T00:00:00+00:00")
JOB = JobState("j", BUILD, "Mine", "done", (), "2026-01-01T00:00:00+00:00", 28.0, 1.0, None, "", (), "mine", {})
CONFIG = IndexConfig(chunk_tokens=512, overlap_tokens=64)


def test_chunks_follow_from_tokens_and_overlap() -> None:
    # a document of 1,000 tokens: windows of 512 every 448 tokens, so 3
    assert forecast(CORPUS, CONFIG, [], {}).chunks == 30
    assert forecast(CORPUS, IndexConfig(chunk_tokens=1024, overlap_tokens=0), [], {}).chunks == 10
    assert forecast(replace(CORPUS, tokens=20), CONFIG, [], {}).chunks == 10


def test_an_empty_corpus_has_no_chunks() -> None:
    empty = replace(CORPUS, documents=0, tokens=0)
    assert forecast(empty, CONFIG, [], {}).chunks == 0


def test_without_an_earlier_build_the_range_is_rough_and_says_so() -> None:
    found = forecast(CORPUS, CONFIG, [], {})
    assert found.seconds == (8 + 10_000 / 2500, 8 + 10_000 / 400)
    assert "nothing has been built" in found.basis


def test_an_earlier_build_on_this_machine_sets_the_speed() -> None:
    # 10,000 tokens in 28 - 8 seconds: 500 a second, give or take a fifth
    found = forecast(CORPUS, CONFIG, [JOB], {"mine": 10_000})
    assert found.seconds == pytest.approx((8 + 10_000 / 600, 8 + 10_000 / 400))
    assert found.basis == "Time from 1 earlier build on this machine."


def test_the_slowest_and_the_fastest_build_span_the_range() -> None:
    fast = replace(JOB, corpus_id="other", seconds=18.0)
    found = forecast(CORPUS, CONFIG, [JOB, fast], {"mine": 10_000, "other": 20_000})
    assert found.seconds == pytest.approx((8 + 10_000 / 2400, 8 + 10_000 / 400))
    assert found.basis == "Time from 2 earlier builds on this machine."


@pytest.mark.parametrize(
    "job", [replace(JOB, status="failed"), replace(JOB, status="cancelled"), replace(JOB, corpus_id="gone")]
)
def test_builds_that_tell_nothing_are_passed_over(job: JobState) -> None:
    assert forecast(CORPUS, CONFIG, [job], {"mine": 10_000}).basis.startswith("A rough range")


def test_a_tiny_corpus_is_no_measure_of_speed() -> None:
    assert forecast(CORPUS, CONFIG, [JOB], {"mine": 900}).basis.startswith("A rough range")
