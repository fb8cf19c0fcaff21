"""A build in a process of its own: killed, cancelled, resumed."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import read_events
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.types.job import JobState
from tests.test_workbench import BEES, HIVES

CONFIG = IndexConfig(cluster_size=4)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench.default(tmp_path)


@pytest.fixture
def corpus_id(bench: Workbench) -> str:
    many = [(f"bees-{i}.md", BEES.replace(b"May", f"week {i}".encode())) for i in range(12)]
    return bench.add_documents("My bees", [*many, ("hives.txt", HIVES)]).corpus_id


def wait(bench: Workbench, job_id: str, until: Callable[[JobState], bool], seconds: float = 60) -> JobState:
    deadline = time.monotonic() + seconds
    while not until(state := bench.job(job_id)):
        assert time.monotonic() < deadline, f"still {state.status} in {state.current}: {bench.job_log(job_id)}"
        time.sleep(0.02)
    return state


def ended(state: JobState) -> bool:
    return state.status not in ("queued", "running")


def files_of(bench: Workbench) -> dict[str, bytes]:
    [index] = bench.indexes()
    return {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()}


def kill(bench: Workbench, job_id: str) -> None:
    started = next(event for event in read_events(bench.root / "jobs" / job_id) if event.event == "started")
    assert started.pid is not None
    os.kill(started.pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_build_killed_at_any_stage_ends_with_the_same_index_when_resumed(bench: Workbench, corpus_id: str) -> None:
    job_id = bench.start_build(corpus_id, CONFIG)
    assert wait(bench, job_id, ended).status == "done"
    expected = files_of(bench)
    bench.delete_index(bench.indexes()[0].id)
    for stage in ("extract", "aggregate entities", "index"):
        assert stage in {known.name for known in BUILD.stages}
        job_id = bench.start_build(corpus_id, CONFIG)
        wait(bench, job_id, lambda state, stage=stage: state.current == stage or ended(state))
        if not ended(bench.job(job_id)):
            kill(bench, job_id)
        state = wait(bench, job_id, ended)
        if state.status == "interrupted":
            assert bench.indexes() == [], "no half index is visible"
            state = wait(bench, bench.resume(job_id), ended)
        assert state.status == "done"
        assert files_of(bench) == expected
        assert [path.name for path in (bench.root / "indexes").iterdir()] == [bench.indexes()[0].id]
        bench.delete_index(bench.indexes()[0].id)


@pytest.mark.slow
def test_a_cancelled_build_stops_and_leaves_nothing(bench: Workbench, corpus_id: str) -> None:
    job_id = bench.start_build(corpus_id, CONFIG)
    wait(bench, job_id, lambda state: state.current in ("extract", "embed") or ended(state))
    bench.cancel(job_id)
    state = wait(bench, job_id, ended)
    assert state.status == "cancelled"
    assert bench.indexes() == []
    left = bench.root / "indexes"
    time.sleep(0.3)
    assert not left.exists() or list(left.iterdir()) == []
