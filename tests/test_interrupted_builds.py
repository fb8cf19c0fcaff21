"""A build in a process of its own: killed, cancelled, resumed."""

import os
import signal
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs import runner
from leanrag_core.jobs.events import EventReader
from leanrag_core.jobs.kinds import BUILD
from tests import waiting
from tests.waiting import ended, job_when
from tests.warm_jobs import start_cold
from tests.workbench.test_workbench import BEES, HIVES

CONFIG = IndexConfig(cluster_size=4)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench.default(tmp_path)


@pytest.fixture
def corpus_id(bench: Workbench) -> str:
    many = [(f"bees-{i}.md", BEES.replace(b"May", f"week {i}".encode())) for i in range(12)]
    return bench.add_documents("My bees", [*many, ("hives.txt", HIVES)]).corpus_id


def files_of(bench: Workbench) -> dict[str, bytes]:
    [index] = bench.indexes.all()
    return {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()}


def kill(bench: Workbench, job_id: str) -> None:
    started = next(event for event in EventReader(bench.root / "jobs" / job_id).read() if event.event == "started")
    assert started.pid is not None
    os.kill(started.pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_build_killed_at_each_stage_ends_with_the_same_index_when_resumed(bench: Workbench, corpus_id: str) -> None:
    bench.build(corpus_id, CONFIG)
    expected = files_of(bench)
    bench.indexes.delete(bench.indexes.all()[0].id)
    bench.stages.clear()  # or nothing would be left to do
    job_id = bench.builds.start(corpus_id, CONFIG)
    for stage in ("extract", "aggregate entities", "index"):
        assert stage in {known.name for known in BUILD.stages}
        if not job_when(bench, job_id, lambda job, stage=stage: job.current == stage or not job.live).live:
            break
        kill(bench, job_id)
        if ended(bench, job_id).status == "done":
            break
        # The last kill may come after the index was put in its place, before the job could say so.
        assert not bench.indexes.all() or files_of(bench) == expected, "no half index is visible"
        job_id = bench.resume(job_id)
    state = ended(bench, job_id)
    assert state.status == "done"
    assert files_of(bench) == expected
    assert [path.name for path in (bench.root / "indexes").iterdir()] == [bench.indexes.all()[0].id]


@pytest.mark.slow
def test_a_cancelled_build_stops_and_leaves_nothing(
    bench: Workbench, corpus_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "launch", start_cold)  # as the program starts it
    job_id = bench.builds.start(corpus_id, CONFIG)
    job_when(bench, job_id, lambda job: job.current in ("extract", "embed") or not job.live)
    bench.jobs.cancel(job_id)
    assert ended(bench, job_id).status == "cancelled"
    assert bench.indexes.all() == []
    folder = bench.root / "indexes"
    waiting.until(lambda: not folder.exists() or not list(folder.iterdir()), otherwise=lambda: list(folder.iterdir()))
