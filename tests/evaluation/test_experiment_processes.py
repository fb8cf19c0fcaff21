"""Experiments and sweeps in processes: the same bytes from two workers and from Dask, and a job that is killed goes
on."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import EventReader
from leanrag_core.types.experiment import ExperimentSpec, RunSpec
from leanrag_core.types.job import JobState
from leanrag_core.types.settings import DASK, PROCESSES, Execution
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import (
    BEES,
    HIVES,
    QUESTIONS,
    bench_in,
    built_index,
    own_experiments,
    small_spec,
    stored_files,
)
from tests.evaluation.sweeps import small
from tests.execution.cluster import LoopbackCluster
from tests.waiting import ended, job_when

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    with closing(LoopbackCluster(tmp_path_factory.mktemp("cluster"), 2)) as started:
        yield started


def test_an_experiment_has_the_bytes_of_one_worker_in_processes_and_a_cluster(
    cluster: LoopbackCluster, tmp_path: Path
) -> None:
    bench = Workbench(tmp_path / "home")
    corpus = bench.add_documents("Bees", [("bees.txt", BEES), ("hives.txt", HIVES)]).corpus_id
    path = bench.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=32, overlap_tokens=0)).path
    assert path is not None
    runs = tuple(RunSpec(name, path.name, name, {"top_c": 2}) for name in ("leanrag", "bm25", "hyde"))
    spec = ExperimentSpec("Bees", bench.question_sets.add("Bees", QUESTIONS), runs, baseline="bm25")
    here = bench.experiments.run(spec)
    files = stored_files(bench, here.id)
    assert [row.run for row in here.rows] == [run.name for run in runs for _ in QUESTIONS]
    assert not any(row.error for row in here.rows)
    assert bench.experiments.run(spec, execution=Execution(PROCESSES, 2), again=True).rows == here.rows
    assert stored_files(bench, here.id) == files
    dask = bench.experiments.run(spec, execution=Execution(DASK, scheduler=cluster.address), again=True)
    assert (dask.rows, stored_files(bench, here.id)) == (here.rows, files)


def test_a_sweep_has_the_bytes_of_one_worker_in_processes_and_a_cluster(
    cluster: LoopbackCluster, tmp_path: Path
) -> None:
    bench, sweep = small.bench_in(tmp_path / "home")
    spec = replace(sweep, axes=small.AXES[:1])  # two indexes, each built three times
    here = bench.sweeps.run(spec)
    files = small.stored_files(bench, here.id)
    assert [len(point.scores["evidence-recall"]) for point in here.points] == [3, 3]
    assert bench.sweeps.run(spec, execution=Execution(PROCESSES, 2), again=True).is_complete
    assert small.stored_files(bench, here.id) == files
    bench.sweeps.run(spec, execution=Execution(DASK, scheduler=cluster.address), again=True)
    assert small.stored_files(bench, here.id) == files


def waited_for(bench: Workbench, job_id: str, n_rows: int) -> JobState:
    """Return the state of the job as soon as its experiment has so many rows, or when it has ended."""

    def has_rows(job: JobState) -> bool:
        (experiment,) = own_experiments(bench) or (None,)
        return experiment is not None and experiment.rows >= n_rows and job.status == "running"

    return job_when(bench, job_id, lambda job: not job.live or has_rows(job))


def test_a_job_that_is_killed_again_and_again_asks_nothing_twice(tmp_path: Path) -> None:
    with EndpointServer() as server:
        bench = bench_in(tmp_path / "home", server)
        spec = small_spec(built_index(bench), bench.question_sets.add("Bees", QUESTIONS))
        server.clear()
        server.latency_seconds = 0.1
        job_id, killed = bench.experiments.start(spec), 0
        for n_rows in (1, 4, 7):
            if waited_for(bench, job_id, n_rows).live:
                pid = next(
                    event.pid for event in EventReader(bench.jobs.folder(job_id)).read() if event.event == "started"
                )
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
                killed += 1
                ended(bench, job_id)
                job_id = bench.resume(job_id)
        server.latency_seconds = 0
        job = waited_for(bench, job_id, 10)
        assert job.status == "done", bench.jobs.log(job_id)
        assert killed >= 2
        result = bench.experiments.store.read(str(job.result))
        assert (result.is_complete, len(result.rows), job.report.counts["errors"]) == (True, 9, 0)
        # A reply may be on its way, unseen, at a kill; nothing else is asked again.
        asked = Counter(call.key for call in server.answered())
        assert sum(asked.values()) - len(asked) <= killed
        files = stored_files(bench, result.id)
        assert bench.experiments.run(spec, again=True).rows == result.rows
        assert stored_files(bench, result.id) == files
