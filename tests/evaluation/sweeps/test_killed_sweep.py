"""A sweep in a process that is killed at any step: it goes on with what it has, and ends in the same files."""

from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.types.sweep import SweepSpec
from tests.evaluation.sweeps.small import AXES, CONFIG, bench_in, own_sweeps, stored_files
from tests.killing import killed_copies

pytestmark = pytest.mark.slow


def sweep(home: Path) -> dict[str, bytes]:
    """Run the sweep over the corpus and the questions that bench_in() has put into the home; return its files."""
    bench = Workbench(home)
    [corpus] = bench.corpora.summaries()
    [questions] = [card.id for card in bench.question_sets.all() if card.title == "Bees"]
    result = bench.sweeps.run(SweepSpec("Bees", AXES[:1], questions, corpus=corpus.id, config=CONFIG))
    assert result.is_complete
    return stored_files(bench, result.id)


def test_a_sweep_that_was_killed_at_any_step_goes_on_and_ends_in_the_same_files(tmp_path: Path) -> None:
    bench_in(tmp_path / "before")
    killed = killed_copies(f"{__name__}:sweep", tmp_path / "before", tmp_path / "copies", 2)
    assert len(killed) >= 2
    expected = sweep(tmp_path / "copies" / "whole")
    assert any(name.startswith("indexes/") for name in expected)
    for copy in killed:
        assert sweep(copy) == expected, copy
        [summary] = own_sweeps(Workbench(copy))
        assert summary.is_complete
        assert [path.name for path in (copy / "sweeps").rglob(".building-*") if path.is_dir()] == [], copy
