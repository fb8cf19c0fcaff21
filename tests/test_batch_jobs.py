"""Jobs and commands that send their calls in files: cancelled, killed, resumed, told."""

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from leanrag_core.__main__ import main
from leanrag_core.errors import EndpointError
from leanrag_core.indexing.forecasting.forecasts import as_batches, batch_rounds
from leanrag_core.jobs.events import EventReader
from leanrag_core.models.batching import cancel_batches
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.storage.batches import BatchStore
from leanrag_core.types.batches import SentBatch
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.settings import Price
from leanrag_core.workbench import builds
from tests.endpoint.batches import ScriptedBatches
from tests.endpoint.coast import story
from tests.endpoint.server import EndpointServer
from tests.test_batch_builds import SMALL, batches_of, bench_in
from tests.waiting import ended, job_when, until

pytestmark = pytest.mark.slow
PRICES = {"m": Price(1000.0, 2000.0)}


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        endpoint.batches = ScriptedBatches()
        yield endpoint


def test_a_cancelled_job_cancels_its_batch_and_the_next_build_reads_what_it_brought(
    server: EndpointServer, tmp_path: Path
) -> None:
    bench, corpus = bench_in(tmp_path, server, prices=PRICES)
    batches = batches_of(server)
    batches.held = True
    job = bench.builds.start(corpus, SMALL, as_batches=True)
    waiting = job_when(bench, job, lambda state: state.batch is not None and state.batch.answered)
    assert waiting.batch is not None
    assert (waiting.status, waiting.current, waiting.seconds_left) == ("running", "extract", None)
    assert waiting.batch.answered == waiting.batch.calls // 3
    bench.jobs.cancel(job)
    assert ended(bench, job).status == "cancelled"
    until(lambda: batches.made[0].status == "cancelling")
    assert [batch.cancelled for batch in bench.batches.all()] == [True]
    batches.held = False
    again = ended(bench, bench.resume(job))
    assert again.status == "done"
    assert again.spending.usage.cost > 0
    assert max(Counter(batches.calls).values()) == 1, "what the cancelled batch had done is not asked again"
    assert set(batches.calls[: waiting.batch.answered]) <= {line["custom_id"] for line in batches.made[0].lines}


def test_replies_that_other_work_reads_during_a_cancellation_stay(tmp_path: Path) -> None:
    memory = BatchStore(tmp_path)
    sent = SentBatch("one", "http://localhost:1/v1", "m", "index", (), "file-1", time.time(), "batch-1")
    memory.put(sent)

    class Server:
        address = sent.address

        def using(self, call: object) -> None:
            memory.collect(sent, b"replies")

    assert cancel_batches(memory, "index", [cast("Endpoint", Server())]) == []
    assert memory.all() == [replace(sent, collected=True)]


def test_a_process_that_must_end_waits_for_the_request_that_is_under_way(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, corpus = bench_in(tmp_path, server)
    asked, answered, steps = threading.Event(), threading.Event(), list[str]()

    def cancel(*_: object) -> list[EndpointError]:
        steps.append("asked")
        asked.set()
        assert answered.wait(60)
        steps.append("marked")
        return []

    monkeypatch.setattr(builds, "cancel_batches", cancel)
    threads = [threading.Thread(target=bench.builds.cancel_batches, args=(corpus, SMALL)) for _ in range(2)]
    threads[0].start()
    assert asked.wait(60)
    threads[1].start()
    threads[1].join(0.1)
    assert threads[1].is_alive()
    answered.set()
    for thread in threads:
        thread.join()
    assert steps == ["asked", "marked"] * 2


def test_a_killed_job_leaves_its_batch_alone_and_the_resumed_one_waits_for_it(
    server: EndpointServer, tmp_path: Path
) -> None:
    bench, corpus = bench_in(tmp_path, server)
    batches = batches_of(server)
    batches.held = True
    job = bench.builds.start(corpus, SMALL, as_batches=True)
    for how, left in ((signal.SIGKILL, "interrupted"), (signal.SIGTERM, "cancelled")):
        job_when(bench, job, lambda state: state.batch is not None)
        assert len(batches.made) == 1
        events = EventReader(bench.root / "jobs" / job).read()
        pid = next(event.pid for event in events if event.event == "started")
        assert pid is not None
        os.kill(pid, how)
        assert ended(bench, job).status == left
        assert batches.made[0].status == "in_progress"
        job = bench.resume(job)
    job_when(bench, job, lambda state: state.batch is not None)
    assert len(batches.made) == 1
    batches.held = False
    assert ended(bench, job).status == "done"
    assert max(Counter(batches.calls).values()) == 1


def test_jobs_that_wait_for_batches_let_others_work(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    batches = batches_of(server)
    batches.held = True
    configs = [replace(SMALL, seed=seed) for seed in (1, 2)]
    waiting = [bench.builds.start(corpus, config, as_batches=True) for config in configs]
    for job in waiting:
        job_when(bench, job, lambda state: state.batch is not None)
    assert ended(bench, bench.builds.start(corpus, IndexConfig())).status == "done"
    assert [bench.jobs.job(job).status for job in waiting] == ["running", "running"]
    assert len(batches.made) == 1, "both wait for the same calls"
    batches.held = False
    states = [ended(bench, job) for job in waiting]
    assert [state.status for state in states] == ["done", "done"]
    assert max(Counter(batches.calls).values()) == 1
    n_calls = len(bench.calls)
    assert [state.spending.usage.calls + state.spending.reused for state in states] == [n_calls, n_calls]


def test_the_forecast_has_half_the_price_and_a_day_for_each_round(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server, prices={**PRICES, "e": Price(10.0)})
    config = replace(SMALL, embedding="openai:e")
    direct = bench.builds.forecast(corpus, config)
    batched = as_batches(direct, config)
    for before, after in zip(direct.calling, batched.calling, strict=True):
        share = 1.0 if before.stage == "embed" else 0.5
        assert after.dollars.expected == pytest.approx(share * before.dollars.expected)
    rounds = batch_rounds(direct.entities.expected, config)
    assert batched.seconds.high == (rounds + 2) * 86_400
    assert [batch_rounds(n, config) for n in (1, 5, 25)] == [3, 5, 7], "cluster size 5: none, one, two layers"


def test_the_command_builds_with_batches_only_where_the_server_has_them(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "home"))
    bench, _ = bench_in(tmp_path / "home", server, prices=PRICES)
    (tmp_path / "a.txt").write_bytes(story(1))
    build = ["build", str(tmp_path / "a.txt"), "--out", str(tmp_path / "index"), "--model", "openai:m", "--batch"]
    build += ["--chunk-tokens", "64", "--overlap-tokens", "8"]
    held, server.batches = server.batches, None
    assert main(build) == 2
    assert "takes no batches" in capsys.readouterr().err
    server.batches = held
    assert main(build) == 0
    assert "calls in batches are answered" in capsys.readouterr().err
    assert batches_of(server).made
    assert main(["forecast", str(tmp_path / "a.txt"), "--model", "openai:m", "--seed", "3", "--json"]) == 0
    totals = json.loads(capsys.readouterr().out)["totals"]
    assert totals["dollars_as_batches"]["expected"] == pytest.approx(totals["dollars"]["expected"] / 2)
    bench.calls.close()
