"""Sweeps in processes: the same bytes from two workers and from Dask."""

from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.types.settings import DASK, PROCESSES, Execution
from tests.evaluation.sweeps.small import AXES, bench_in, stored_files
from tests.execution.cluster import LoopbackCluster

pytestmark = pytest.mark.slow


def test_processes_and_a_cluster_give_the_bytes_that_one_worker_gives(tmp_path: Path) -> None:
    bench, sweep = bench_in(tmp_path / "home")
    spec = replace(sweep, axes=AXES[:1])  # two indexes, each built three times
    here = bench.sweeps.run(spec)
    files = stored_files(bench, here.id)
    assert [len(point.scores["evidence-recall"]) for point in here.points] == [3, 3]
    assert bench.sweeps.run(spec, execution=Execution(PROCESSES, 2), again=True).is_complete
    assert stored_files(bench, here.id) == files
    cluster = LoopbackCluster(tmp_path / "cluster", 2)
    try:
        bench.sweeps.run(spec, execution=Execution(DASK, scheduler=cluster.address), again=True)
    finally:
        cluster.close()
    assert stored_files(bench, here.id) == files
