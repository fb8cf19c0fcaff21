"""Parts by jobs and on the command line."""

import json
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.__main__ import main
from leanrag_core.errors import InvalidConfig, PartMissing
from leanrag_core.indexing.part_base import parts
from leanrag_core.indexing.parts import cells
from leanrag_core.jobs.kinds import PART
from leanrag_core.types.manifest import PartState
from tests.contract.indexes import stored
from tests.waiting import ended

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """Return a workbench with the tiny index in its store."""
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "home"))
    bench = Workbench.default()
    stored("tiny", bench.indexes.path("tiny"))
    return bench


def chroma_of(bench: Workbench) -> list[PartState]:
    """Return the versions of the part chroma on disk, or the one that could be made."""
    return [state for state in bench.parts.all(bench.indexes.open("tiny")) if state.name == "chroma"]


def test_a_job_makes_a_part_and_says_what_it_cost(bench: Workbench) -> None:
    job = ended(bench, bench.parts.start("tiny", "chroma"))
    assert (job.status, job.kind, job.result) == ("done", PART, "tiny/chroma"), job.error
    assert job.title == "Search index (Chroma), small"
    assert job.forecast is not None
    [state] = chroma_of(bench)
    assert (state.status, state.needs, state.offered) == ("finished", ("vectors",), False)
    assert job.report.counts["bytes"] == pytest.approx(state.size_bytes, rel=0.1)  # but for the record
    assert state.seconds > 0
    assert [of_layer.rows for of_layer in bench.parts.read(bench.indexes.open("tiny"), "chroma")] == [6, 2, 1]


def test_a_part_job_can_be_repeated(bench: Workbench) -> None:
    first = bench.parts.start("tiny", "chroma")
    ended(bench, first)
    made = bench.parts.all(bench.indexes.open("tiny"))
    again = ended(bench, bench.resume(first))
    assert again.status == "done"
    assert bench.parts.all(bench.indexes.open("tiny")) == made  # it was there already


def test_an_unknown_part_or_option_begins_no_job(bench: Workbench) -> None:
    for name, options, code in (("faiss", {}, "part.unknown"), ("chroma", {"depth": 3}, "part.unknown_option")):
        with pytest.raises(InvalidConfig) as refused:
            bench.parts.start("tiny", name, options)
        assert refused.value.message.code == code
    assert bench.jobs.all() == []


def test_a_large_layer_makes_the_search_index_wanted(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    index = bench.indexes.open("tiny")
    assert bench.parts.offered(index) == ()
    monkeypatch.setattr(cells, "EXACT_UP_TO", 5)
    assert bench.parts.offered(index) == ("cells",)
    bench.parts.build(index, "cells")
    assert bench.parts.offered(index) == ()


def test_a_part_is_deleted_and_questions_go_on(bench: Workbench) -> None:
    index = bench.indexes.open("tiny")
    record = bench.parts.build(index, "chroma", {"recall": 95})
    assert bench.searches.open(bench.indexes.path("tiny")) is not None
    [state] = chroma_of(bench)
    assert state.config == {"recall": 95}
    bench.parts.delete(index, "chroma", record.fingerprint)
    assert bench.searches.open(bench.indexes.path("tiny")) is None
    with pytest.raises(PartMissing):
        bench.parts.read(index, "chroma")


def test_the_command_makes_lists_and_shows_a_part(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(bench.indexes.path("tiny"))
    assert main(["parts", folder, "--json"]) == 0
    every_part = json.loads(capsys.readouterr().out)["parts"]
    assert {part["name"] for part in every_part} == {info.name for info in parts().parts}
    [listed] = [part for part in every_part if part["name"] == "chroma"]
    assert (listed["status"], listed["offered"]) == ("absent", False)
    assert main(["parts", folder]) == 0
    assert "chroma: not made." in capsys.readouterr().out
    assert main(["part", folder, "chroma", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["status"], made["fingerprint"]) == ("finished", listed["fingerprint"])
    assert main(["part", folder, "chroma"]) == 0
    assert "chroma: finished, " in capsys.readouterr().out
    assert main(["show", folder, "--json"]) == 0
    [shown] = json.loads(capsys.readouterr().out)["parts"]
    assert (shown["name"], shown["bytes"], shown["seconds"]) == ("chroma", made["bytes"], made["seconds"])
    assert main(["show", folder]) == 0
    assert "part chroma: finished, " in capsys.readouterr().out
    assert main(["part", folder, "faiss"]) == 2
    assert "there is no index part faiss; choose one of cells, chroma" in capsys.readouterr().err
    assert main(["part", folder, "chroma", "--option", "recall"]) == 2
    assert main(["part", folder, "chroma", "--option", "recall=7"]) == 2


def test_a_build_by_command_makes_the_parts_that_the_index_should_have(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("Marie Curie discovered radium in Paris. Pierre Curie taught physics in Paris.")
    assert main(["build", str(tmp_path / "a.txt"), "--out", str(tmp_path / "small")]) == 0
    assert not (tmp_path / "small" / "parts").exists()
    monkeypatch.setattr(cells, "EXACT_UP_TO", 2)
    assert main(["build", str(tmp_path / "a.txt"), "--out", str(tmp_path / "large"), "--json"]) == 0
    [part] = json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))["parts"]
    assert (part["name"], part["status"]) == ("cells", "finished")
