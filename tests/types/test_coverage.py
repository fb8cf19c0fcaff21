"""How much of the documents a finished build covers."""

from leanrag_core.types.job import NO_REPORT, Coverage, JobReport


def test_a_build_counts_the_chunks_that_gave_entities_and_its_relations() -> None:
    report = JobReport({"chunks": 16, "relations": (48, 3), "empty_chunks": 6})
    assert report.coverage == Coverage(16, 10, 3.0)
    assert not report.coverage.has_gaps
    few = JobReport({"chunks": 16, "relations": (4,), "empty_chunks": 12}).coverage
    assert few is not None
    assert few.has_gaps  # 4 of 16


def test_at_the_stated_share_there_are_no_gaps_and_what_was_not_counted_is_not_told() -> None:
    assert not Coverage(10, 6, 1.0).has_gaps
    assert Coverage(10, 5, 1.0).has_gaps
    assert NO_REPORT.coverage is None
    assert JobReport({"chunks": 16, "relations": (48,)}).coverage is None  # of an earlier version
    assert Coverage.usual_relations(1024) == (10.0, 28.0)
