"""The case of the paper's Table 7, recorded on a sample: it opens without an index, and the page has its figures."""

from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.storage.history import read_run

DOCS = Path(__file__).parents[1] / "docs"
CASE = DOCS / "cases" / "leanrag_beekeeping.json"


def test_the_case_is_a_run_of_the_builtin_engine_with_the_figures_of_the_page() -> None:
    run = read_run(CASE)
    assert run.answer is not None
    assert (run.trace.strategy, run.answer.extractive, run.answer.usage.calls) == ("leanrag", True, 0)
    page = (DOCS / "experiments.md").read_text(encoding="utf-8")
    section = page.split("## The paper's case", 1)[1].split("\n## ", 1)[0]
    assert run.trace.question in section
    assert f"{run.trace.context.tokens:,} tokens" in section
    assert "cases/leanrag_beekeeping.json" in section


def test_the_case_is_shown_in_an_empty_home(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    assert main(["show-run", str(CASE)]) == 0
    said = capsys.readouterr().out
    assert read_run(CASE).trace.question in said
    assert "varroa-review.pdf" in said
