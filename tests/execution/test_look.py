"""A look at a real scheduler and its workers, and at what is none."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leanrag_core.errors import ClusterUnavailable, InvalidConfig
from leanrag_core.execution import look
from leanrag_core.execution.cluster import DaskMap
from leanrag_core.execution.look import PROGRAM, PYTHON, SCHEDULER, ClusterSeen, Difference, differences
from tests.execution.cluster import LoopbackCluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    started = LoopbackCluster(tmp_path_factory.mktemp("cluster"), 0)
    yield started
    started.close()


def seen_with(cluster: LoopbackCluster, workers: int) -> ClusterSeen:
    """What is seen once so many workers have come."""
    deadline = time.monotonic() + 60
    while True:
        seen = look.look_at_cluster(cluster.address)
        if seen.workers == workers:
            return seen
        assert time.monotonic() < deadline, cluster.log("worker")
        time.sleep(0.1)


@contextmanager
def listener(said: bytes | None) -> Iterator[str]:
    """Something that takes connections and says that, or nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:  # closed
                    return
                held.append(connection)
                if said is not None:
                    connection.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        for connection in held:
            connection.close()


@pytest.mark.slow
def test_a_look_tells_who_is_there_and_who_could_not_do_the_work(
    cluster: LoopbackCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = look.look_at_cluster(cluster.address)
    assert (empty.workers, empty.threads, empty.fit, empty.differences) == (0, 0, False, ())
    cluster.add_worker()
    seen = seen_with(cluster, 1)
    assert (seen.scheduler, seen.threads, seen.silent, seen.differences) == (cluster.address, 1, (), ())
    assert seen.fit

    with monkeypatch.context() as patch:
        own = look._own_versions()
        patch.setattr(look, "_own_versions", lambda: own | {PYTHON: "3.99.0", "numpy": "0.1"})
        [python, numpy] = look.look_at_cluster(cluster.address).differences
        [worker] = [place for place in python.where if place != SCHEDULER]
        assert python == Difference(PYTHON, "3.99.0", own[PYTHON], (SCHEDULER, worker))
        assert numpy == Difference("numpy", "0.1", own["numpy"], (SCHEDULER, worker))

    cluster.add_worker(within=tmp_path)
    [lacking] = seen_with(cluster, 2).differences
    assert (lacking.library, lacking.there, len(lacking.where)) == (PROGRAM, look.MISSING, 1)
    assert lacking.where != (worker,)

    monkeypatch.setattr(look, "_PATIENCE_SECONDS", 1.0)
    os.kill(cluster.workers[0].pid, signal.SIGSTOP)
    hanging = look.look_at_cluster(cluster.address)
    assert hanging.workers == 2
    assert worker in hanging.silent
    assert not hanging.fit


@pytest.mark.parametrize("said", [None, b"HTTP/1.1 400 Bad Request\r\n\r\n" + b"x" * 200])
def test_what_is_no_scheduler_is_told_in_a_sentence(said: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_PATIENCE_SECONDS", 0.5)
    with listener(said) as address:
        with pytest.raises(ClusterUnavailable, match=address):
            look.look_at_cluster(address)
        with pytest.raises(ClusterUnavailable, match=address):  # and a build does not wait there for ever
            next(DaskMap(address)(str, [1]))


def test_where_nobody_listens_it_is_said_what_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_PATIENCE_SECONDS", 0.5)
    with pytest.raises(ClusterUnavailable, match=r"no scheduler answers at tcp://127\.0\.0\.1:1: start one with"):
        look.look_at_cluster("tcp://127.0.0.1:1")


def test_an_address_with_tls_asks_for_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_PATIENCE_SECONDS", 0.5)
    with pytest.raises(ClusterUnavailable, match="wants certificates"):
        look.look_at_cluster("tls://127.0.0.1:1")


def test_without_dask_it_is_said_which_requirements_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidConfig, match=r"requirements-cluster\.txt"):
        look.look_at_cluster("tcp://127.0.0.1:1")


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
