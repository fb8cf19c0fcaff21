"""Builds with models at an endpoint as jobs: budgets, kills, turns and keys."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import EventReader
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.calls import Budget
from leanrag_core.types.settings import Price, Settings
from tests import waiting
from tests.endpoint import faults
from tests.endpoint.coast import CONFIG, bench_in, files_of
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer
from tests.waiting import ended

pytestmark = pytest.mark.slow

KINDS = tuple(kind for kind in faults.KINDS if kind not in (*faults.USABLE, faults.INJECTION, faults.LONG_NAMES))
KEY = "sk-planted-fedcba9876543210"


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


def test_a_spent_budget_stops_a_job_and_a_larger_one_ends_it(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server, prices={"m": Price(10.0, 10.0), "e": Price()})
    job = ended(bench, bench.builds.start(corpus, CONFIG, budget=Budget(dollars=0.05)))
    assert job.status == "stopped"
    assert job.error is not None
    assert job.error.code == "budget.dollars_spent"
    assert job.spending.usage.cost > 0
    assert job.forecast is not None
    assert {stage.stage for stage in job.forecast.stages} >= {"extract", "aggregate entities", "embed"}
    assert set(job.spending.by_stage) <= {"extract", "embed"}
    assert bench.indexes.all() == []
    paid = {call.key for call in server.answered("extract_graph")}
    bench.build(corpus, CONFIG)
    repeated = [key for key, n in Counter(call.key for call in server.answered("extract_graph")).items() if n > 1]
    assert paid
    assert repeated == []


def test_a_credit_that_ends_midway_stops_the_job_and_nothing_is_paid_twice(
    server: EndpointServer, tmp_path: Path
) -> None:
    bench, corpus = bench_in(tmp_path, server)
    server.refuses = {"In year 11": (402, "insufficient_balance", "Insufficient Balance")}
    job = ended(bench, bench.builds.start(corpus, CONFIG))
    assert job.status == "stopped"
    assert job.error is not None
    assert "Insufficient Balance" in sentence(job.error)
    assert bench.indexes.all() == []
    server.refuses = {}
    assert ended(bench, bench.builds.start_again(bench.jobs.spec(job.id))).status == "done"
    asked = Counter(call.key for call in server.answered("extract_graph"))
    assert asked
    assert max(asked.values()) == 1


def test_a_planted_key_is_in_no_file(server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.api_key = KEY
    bench, corpus = bench_in(tmp_path, server, retries=0)
    assert ended(bench, bench.builds.start(corpus, CONFIG)).status == "done"
    [built] = bench.indexes.all()
    assert ended(bench, bench.parts.start(built.id, "chroma")).status == "done"
    bench.parts.build(bench.indexes.open(built.id), "chroma", {"recall": 95})  # in this process, which has the key
    assert len(list(tmp_path.rglob("chroma.sqlite3"))) == 2
    server.api_key = "another"
    job = ended(bench, bench.builds.start(corpus, IndexConfig(**{**vars(CONFIG), "cluster_size": 4})))
    assert job.status == "failed"
    assert job.error is not None
    assert "refuses the key" in sentence(job.error)
    bench.calls.export(tmp_path / "export.jsonl")
    bench.calls.close()
    files_with_key = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert files_with_key == []
    assert sum(path.is_file() for path in tmp_path.rglob("*")) > 20


def test_a_build_killed_again_and_again_ends_in_the_same_index_and_asks_nothing_twice(tmp_path: Path) -> None:
    # Of a reply that was cut what is complete is kept. Its client may be killed before that, and the next reply be
    # whole: then the index rightly is another one. So none is cut here.
    kinds = tuple(kind for kind in KINDS if kind not in (faults.CUT_JSON, faults.REPEATED_LOOP))
    plan = {"share": 0.2, "kinds": kinds, "recover_after": 1, "seed": 3, "stall_seconds": 2.5}
    with EndpointServer(plan=FaultPlan(**plan), latency_seconds=0.02) as undisturbed:
        bench, corpus = bench_in(tmp_path / "home", undisturbed, concurrency=4, timeout_seconds=2)
        bench.build(corpus, CONFIG)
        expected = files_of(bench)
        bench.indexes.delete(bench.indexes.all()[0].id)
        bench.calls.delete()
        bench.calls.close()
    chance = random.Random(11)
    killed = 0
    with EndpointServer(plan=FaultPlan(**plan), latency_seconds=0.02) as server:
        bench.settings.save(Settings(base_url=server.url, timeout_seconds=2, retries=4, concurrency=4))
        job = bench.builds.start(corpus, CONFIG)
        for _ in range(3):
            pid = _started(bench, job)
            time.sleep(chance.uniform(0.05, 1.5))  # killed anywhere in its work
            if bench.jobs.job(job).status == "running":
                os.kill(pid, signal.SIGKILL)
                killed += 1
            if ended(bench, job).status == "done":
                bench.indexes.delete(bench.indexes.all()[0].id)
            job = bench.resume(job)
        assert ended(bench, job).status == "done"
        assert files_of(bench) == expected
        assert killed >= 2
        # What was answered, but had not reached the disk when its client died, is asked once more: up to eight calls
        # are in flight at a kill, hardly any of them answered.
        keys = [call.key for call in server.answered()]
        assert len(keys) - len(set(keys)) <= 2 * killed


def _started(bench: Workbench, job: str) -> int:
    """Return the process that works on the job."""

    def pid() -> int | None:
        events = EventReader(bench.root / "jobs" / job).read()
        return next((event.pid for event in events if event.event == "started" and event.pid is not None), None)

    number = waiting.until(pid, otherwise=lambda: bench.jobs.log(job))
    assert number is not None
    return number


def test_jobs_beyond_two_wait_for_their_turn_and_may_be_cancelled_there(server: EndpointServer, tmp_path: Path) -> None:
    server.latency_seconds = 0.3
    bench, corpus = bench_in(tmp_path, server, concurrency=1)
    jobs = [bench.builds.start(corpus, IndexConfig(**{**vars(CONFIG), "seed": seed})) for seed in range(3)]
    waiting.until(
        lambda: Counter(bench.jobs.job(job).status for job in jobs) == {"running": 2, "queued": 1},
        otherwise=lambda: [bench.jobs.job(job) for job in jobs],
    )
    for job in sorted(jobs, key=lambda job: bench.jobs.job(job).status != "queued"):
        bench.jobs.cancel(job)
    assert {ended(bench, job).status for job in jobs} == {"cancelled"}
    assert bench.indexes.all() == []
