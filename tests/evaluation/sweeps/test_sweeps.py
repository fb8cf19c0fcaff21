"""Sweeps with the built-in models: rows of every point, kept stages, the same bytes twice, stopped and resumed."""

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import Cancelled, CorpusNotFound, InvalidConfig, QuestionSetNotFound, SweepNotFound
from leanrag_core.evaluation.sweeps.points import STAGES
from leanrag_core.files.records import to_json
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.jobs import runner
from leanrag_core.types.experiment import QuestionRow
from leanrag_core.types.job import Progress
from leanrag_core.types.sweep import RETRIEVAL, Axis, SweepSpec
from tests.evaluation.sweeps.small import bench_in, own_sweeps, stored_files

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with a complete sweep; tests copy it."""
    root = tmp_path_factory.mktemp("home")
    bench, spec = bench_in(root)
    bench.sweeps.run(spec)
    return root


@pytest.fixture
def bench(home: Path, tmp_path: Path) -> Workbench:
    shutil.copytree(home, tmp_path / "home")
    return Workbench(tmp_path / "home")


@pytest.fixture
def spec(bench: Workbench) -> SweepSpec:
    return bench.sweeps.read(own_sweeps(bench)[0].id).spec


def test_every_point_has_its_index_and_a_score_for_each_question(bench: Workbench) -> None:
    (summary,) = own_sweeps(bench)
    assert (summary.points, summary.built, summary.rows, summary.all, summary.is_complete) == (4, 4, 12, 12, True)
    result = bench.sweeps.read(summary.id)
    assert [point.point.name for point in result.points] == [
        "cluster_size 2, tau 1",
        "cluster_size 2, tau 8",
        "cluster_size 4, tau 1",
        "cluster_size 4, tau 8",
    ]
    assert all(len(point.scores["context-tokens"]) == 3 for point in result.points)
    sizes = [point.index.entities for point in result.points if point.index is not None]
    assert len(sizes[0]) > len(sizes[2])
    assert [point.build.is_first for point in result.points if point.build is not None] == [True, False, False, False]
    assert bench.indexes.all() == []
    assert len(bench.sweeps.questions(summary.id)) == 3


def test_a_sweep_has_changed_when_a_result_came(bench: Workbench) -> None:
    (summary,) = own_sweeps(bench)
    (rows,) = bench.sweeps.store.folder(summary.id).glob("results/*/rows.jsonl")
    later = time.time() + 60
    os.utime(rows, (later, later))
    assert own_sweeps(bench)[0].changed > summary.changed, "else the charts of a running sweep stay as they were"


def test_points_after_the_first_read_nothing_again(
    bench: Workbench, spec: SweepSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def extract(*arguments: object) -> None:
        raise AssertionError("the base graph is kept")

    monkeypatch.setattr(BuiltinExtractor, "extract", extract)
    result = bench.sweeps.run(replace(spec, axes=(Axis("cluster_size", (3,)),)))
    assert result.is_complete


def test_the_same_sweep_twice_gives_the_same_bytes(bench: Workbench, spec: SweepSpec) -> None:
    (summary,) = own_sweeps(bench)
    before = stored_files(bench, summary.id)
    assert bench.sweeps.run(spec).id == summary.id
    assert bench.sweeps.run(spec, again=True).is_complete
    assert stored_files(bench, summary.id) == before


@pytest.mark.parametrize(("stage", "done"), [("build", 0), ("build", 2), ("questions", 5)])
def test_stopped_anywhere_it_goes_on_with_what_it_has(bench: Workbench, spec: SweepSpec, stage: str, done: int) -> None:
    (summary,) = own_sweeps(bench)
    before = stored_files(bench, summary.id)
    bench.sweeps.store.delete(summary.id)

    def stop(progress: Progress) -> None:
        if progress.stage == stage and progress.done >= done:
            raise Cancelled("job.cancel_requested")

    with pytest.raises(Cancelled):
        bench.sweeps.run(spec, stop)
    (stopped,) = own_sweeps(bench)
    assert not stopped.is_complete
    assert stopped.built == (done if stage == "build" else 4)
    counted: list[Progress] = []
    assert bench.sweeps.run(spec, counted.append).is_complete
    assert next(progress.done for progress in counted if progress.stage == "build") == stopped.built
    assert stored_files(bench, summary.id) == before


def test_an_index_is_asked_as_it_is_where_only_retrieval_varies(bench: Workbench, spec: SweepSpec) -> None:
    path = bench.build(spec.corpus, spec.config).path
    assert path is not None
    asked = replace(
        spec, corpus="", index=path.name, axes=(Axis("top_n", (1, 4), RETRIEVAL), Axis("top_c", (3,), RETRIEVAL))
    )
    assert bench.sweeps.forecast(asked).builds == ()
    result = bench.sweeps.run(asked)
    assert [point.build for point in result.points] == [None, None]
    assert list(result.points[0].point.settings) == ["top_n", "top_c"]
    tokens = [sum(score or 0 for score in point.scores["context-tokens"]) for point in result.points]
    assert tokens[0] < tokens[1]


def test_the_forecast_says_what_is_rebuilt_and_what_is_kept(bench: Workbench, spec: SweepSpec) -> None:
    forecast = bench.sweeps.forecast(spec)
    assert (forecast.points, len(forecast.builds), forecast.questions) == (4, 4, 12)
    assert forecast.builds[0].rebuilt == STAGES
    assert {build.kept for build in forecast.builds[1:]} == {("parse", "chunk", "extract", "merge")}
    assert forecast.calls.high == 0
    assert forecast.seconds.low > 0


def test_a_job_runs_a_sweep_and_its_result_is_the_sweep(bench: Workbench, spec: SweepSpec) -> None:
    job = bench.sweeps.start(replace(spec, title="By a job"))
    recorded = bench.jobs.spec(job)
    assert (recorded.kind, recorded.title, recorded.corpus_id) == ("sweep", "By a job", spec.corpus)
    bench.jobs.cancel(job)


def test_a_sweep_whose_job_waits_is_neither_deleted_nor_begun_twice(
    bench: Workbench, spec: SweepSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "launch", lambda folder, package_root: None)
    (summary,) = own_sweeps(bench)
    job = bench.sweeps.start(spec)
    for act in (lambda: bench.sweeps.delete(summary.id), lambda: bench.sweeps.start(spec)):
        with pytest.raises(InvalidConfig, match="another process is running the sweep"):
            act()
    shutil.rmtree(bench.jobs.folder(job))
    bench.sweeps.delete(summary.id)
    assert own_sweeps(bench) == ()


def test_a_damaged_sweep_can_be_deleted(bench: Workbench) -> None:
    (summary,) = own_sweeps(bench)
    (bench.sweeps.store.folder(summary.id) / "spec.json").write_text("no json")
    assert [each.id for each in bench.sweeps.store.damaged()] == [summary.id]
    bench.sweeps.delete(summary.id)
    assert bench.sweeps.store.damaged() == ()


def test_a_deleted_sweep_is_gone_with_its_indexes(bench: Workbench) -> None:
    (summary,) = own_sweeps(bench)
    folder = bench.sweeps.store.folder(summary.id)
    bench.sweeps.store.delete(summary.id)
    assert (own_sweeps(bench), folder.exists()) == ((), False)
    with pytest.raises(SweepNotFound, match="no sweep"):
        bench.sweeps.read(summary.id)
    with pytest.raises(SweepNotFound):
        bench.sweeps.read("../../etc")


def test_an_unknown_question_set_or_corpus_is_refused_before_anything_is_built(
    bench: Workbench, spec: SweepSpec
) -> None:
    with pytest.raises(QuestionSetNotFound):
        bench.sweeps.start(replace(spec, question_set="none"))
    with pytest.raises(CorpusNotFound):
        bench.sweeps.start(replace(spec, corpus="none"))
    assert len(own_sweeps(bench)) == 1


def test_the_index_of_a_point_is_copied_into_the_list_once(bench: Workbench) -> None:
    (summary,) = own_sweeps(bench)
    opened = bench.sweeps.open_point(summary.id, "cluster_size 4, tau 8")
    assert opened.job == ""
    assert [index.id for index in bench.indexes.all()] == [opened.index]
    assert bench.indexes.summary(opened.index).name == "Bees, clustersize 4, tau 8"
    assert bench.sweeps.open_point(summary.id, "cluster_size 4, tau 8") == opened
    assert bench.indexes.open(opened.index).manifest.config.cluster_size == 4
    with pytest.raises(InvalidConfig, match="no point"):
        bench.sweeps.open_point(summary.id, "cluster_size 9")


def test_a_point_whose_index_is_not_there_is_built_by_a_job(bench: Workbench) -> None:
    (summary,) = own_sweeps(bench)
    shutil.rmtree(bench.sweeps.store.indexes(summary.id))
    opened = bench.sweeps.open_point(summary.id, "cluster_size 4, tau 8")
    recorded = bench.jobs.spec(opened.job)
    assert (recorded.kind, recorded.config["cluster_size"]) == ("build", 4)
    assert recorded.arguments["name"] == "Bees, clustersize 4, tau 8"
    bench.jobs.cancel(opened.job)


def test_questions_that_failed_are_asked_again(bench: Workbench, spec: SweepSpec) -> None:
    (summary,) = own_sweeps(bench)
    before = stored_files(bench, summary.id)
    (rows,) = bench.sweeps.store.folder(summary.id).glob("results/*/rows.jsonl")
    others = rows.read_text(encoding="utf-8").splitlines(keepends=True)[1:]
    failed = to_json(QuestionRow("cluster_size 2, tau 1", "q1", "fact", {}, error="the disk was full")) + b"\n"
    rows.write_bytes(failed + "".join(others).encode())
    assert bench.sweeps.read(summary.id).points[0].errors == 1
    assert bench.sweeps.run(spec).points[0].errors == 0
    assert stored_files(bench, summary.id) == before
