"""The report on clustersize, tau, N and C: what it says follows from the results, and these from the shipped sweeps."""

import json
from pathlib import Path

import pytest

from benchmarks.sweep_report import REPORT, RESULTS, report_text
from leanrag_core import Workbench
from leanrag_core.evaluation.sweeps.findings import findings

CORPORA = json.loads(RESULTS.read_text(encoding="utf-8"))["corpora"]


def test_the_report_is_what_the_results_say() -> None:
    assert REPORT.read_text(encoding="utf-8") == report_text({"corpora": CORPORA})


def test_the_report_names_a_setting_as_worse_where_the_results_tell_it_from_the_best() -> None:
    assert "no value can be told from the best" in report_text({"corpora": CORPORA})
    corpora = json.loads(json.dumps(CORPORA))
    values = corpora[0]["findings"]["evidence-recall"]["axes"][0]["values"]
    values[0]["is_close"] = False
    text = report_text({"corpora": corpora})
    assert f"evidence recall@C on {corpora[0]['corpus']} is worse at 5" in text
    assert "should set:** clustersize 30 or 50 and tau" in text
    values[3]["is_close"] = False
    assert "should set:** clustersize 50 and tau" in report_text({"corpora": corpora})


@pytest.mark.parametrize("place", range(len(CORPORA)))
def test_the_shipped_sweeps_give_the_figures_of_the_report(place: int, tmp_path: Path) -> None:
    bench, corpus = Workbench(tmp_path), CORPORA[place]
    shipped = {summary.title: summary for summary in bench.sweeps.store.all() if summary.is_shipped}
    for title, figures in (("clustersize x tau", corpus), ("N x C", corpus["retrieval"])):
        summary = shipped[f"{corpus['corpus']}: {title}"]
        assert summary.is_complete
        assert summary.rows == len(figures["points"]) * figures["questions"]
        result = bench.sweeps.read(summary.id)
        assert len(bench.sweeps.questions(summary.id)) == figures["questions"]
        shown = findings(result, "evidence-recall")
        assert shown.best == figures["findings"]["evidence-recall"]["best"]
        for standing, point in zip(shown.points, figures["points"], strict=True):
            assert standing.name == point["name"]
            assert standing.value is not None
            assert round(standing.value.value, 4) == point["means"]["evidence-recall"]["value"]
