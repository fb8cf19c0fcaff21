"""The same index from threads, processes and a cluster that loses a worker, or its scheduler."""

import random
import signal
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import ClusterUnavailable, WorkersLost
from leanrag_core.execution.cluster import DaskMap
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.settings import Execution
from tests.execution import work
from tests.execution.cluster import LoopbackCluster

CONFIG = IndexConfig(cluster_size=8, chunk_tokens=128, overlap_tokens=16)
FIRST = ("Alberta", "Bruno", "Clara", "Dario", "Edda", "Fabian", "Greta", "Hugo", "Ilse", "Jonas", "Karin", "Luca")
LAST = ("Amsel", "Birke", "Corvo", "Dorn", "Eller", "Falke", "Gerste", "Hirsch", "Iltis", "Kiefer", "Linde", "Marder")
CRAFTS = ("glass", "paper", "bells", "clocks", "maps", "dyes", "silk", "locks", "ink", "lenses", "ropes", "bricks")


def guild_book(number: int) -> bytes:
    """Return a page of one-sentence paragraphs, another one for every number."""
    draw = random.Random(number)
    people = [f"{draw.choice(FIRST)} {draw.choice(LAST)}" for _ in range(46)]
    lines = [
        f"{seller} sold {draw.choice(CRAFTS)} to {buyer} in {1500 + year}."
        for year, (seller, buyer) in enumerate(zip(people[::2], people[1::2], strict=True))
    ]
    return "\n\n".join([f"# Guild book {number}", *lines]).encode()


@dataclass(frozen=True)
class Bench:
    bench: Workbench
    corpus_id: str
    expected: dict[str, bytes]

    def build(self, execution: Execution, report: Callable[[Progress], None] = lambda progress: None) -> Index:
        return self.bench.build(self.corpus_id, CONFIG, name="guilds", execution=execution, report=report)


def files_of(index: Index) -> dict[str, bytes]:
    """Read every file but Chroma's, which can be made again and never is the same twice."""
    assert index.path is not None
    files = sorted(path for path in index.path.rglob("*") if path.is_file() and "chroma" not in path.parts)
    return {str(path.relative_to(index.path)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Workbench.default(tmp_path_factory.mktemp("bench"))
    corpus_id = bench.add_documents("Guilds", [(f"book-{n}.md", guild_book(n)) for n in range(6)]).corpus_id
    index = bench.build(corpus_id, CONFIG, name="guilds", execution=Execution("threads"))
    return Bench(bench, corpus_id, files_of(index))


@pytest.mark.slow
def test_processes_build_the_same_bytes_as_threads(made: Bench) -> None:
    made.bench.stages.clear()
    assert files_of(made.build(Execution("processes", 2))) == made.expected


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_builds_the_same_bytes_and_a_build_goes_on_after_its_scheduler_is_gone(
    made: Bench, tmp_path: Path
) -> None:
    killed = []

    def kill_one(progress: Progress) -> None:
        if progress.stage == "extract" and progress.done and not killed:
            assert progress.done < progress.total, "all was read before a worker could be killed"
            cluster.workers[0].send_signal(signal.SIGKILL)
            killed.append(cluster.workers[0].wait())

    def kill_scheduler(progress: Progress) -> None:
        if progress.stage == "embed" and progress.done and cluster.scheduler.poll() is None:
            cluster.scheduler.kill()
            cluster.scheduler.wait()

    with closing(LoopbackCluster(tmp_path / "cluster", 2)) as cluster:
        made.bench.stages.clear()
        index = made.build(Execution("dask", 0, cluster.address), kill_one)
        assert killed == [-signal.SIGKILL]
        assert cluster.workers[1].poll() is None
        assert files_of(index) == made.expected

        made.bench.stages.clear()
        with pytest.raises(
            WorkersLost, match=r"is gone: start it and its workers again, then resume .* batches are kept"
        ):
            made.build(Execution("dask", 0, cluster.address), kill_scheduler)
    kept = {size.stage: size.entries for size in made.bench.stages.sizes()}
    assert kept["sentences"] == 6, "each book is a batch"

    with closing(LoopbackCluster(tmp_path / "again", 1)) as again:
        assert files_of(made.build(Execution("dask", 0, again.address))) == made.expected
    assert {size.stage: size.entries for size in made.bench.stages.sizes()}["embeddings"] >= kept["embeddings"]


@pytest.mark.slow
def test_a_cluster_keeps_the_items_order_and_its_errors_come_where_they_arose(tmp_path: Path) -> None:
    with closing(LoopbackCluster(tmp_path / "cluster", 2)) as cluster:
        executor = DaskMap(cluster.address, no_workers_seconds=1)
        assert list(executor(work.slow_square, range(9))) == [number * number for number in range(9)]
        results = executor(work.broken, range(6))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ZeroDivisionError, match="the third"):
            next(results)
        with pytest.raises(TimeoutError, match="the work's own"):
            list(executor(work.timed_out, [1]))
        with pytest.raises(WorkersLost, match=r"has had no workers for 1 s|one batch ended every worker"):
            list(executor(work.dies, [1]))
        executor.close()


@pytest.mark.slow
def test_an_address_where_nobody_answers_is_reported_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leanrag_core.execution.cluster._CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterUnavailable, match="start one with 'dask scheduler', or correct the address"):
        list(DaskMap("tcp://127.0.0.1:1")(work.squared, [1]))
