"""A real Dask scheduler and workers, as processes on the loopback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import waiting

ROOT = Path(__file__).parents[2]
_LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]


class LoopbackCluster:
    """A scheduler with n workers of one thread each. folder: for its files."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        pytest.importorskip("distributed", reason="Dask is not installed: install requirements-cluster.txt")
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.workers: list[subprocess.Popen[bytes]] = []
        contact = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(contact))

        def has_started() -> bool:
            assert self.scheduler.poll() is None, self.log("scheduler")
            return contact.exists() and bool(contact.read_text())

        waiting.until(has_started, otherwise=lambda: "the scheduler did not start")
        self.address = str(json.loads(contact.read_text())["address"])
        for _ in range(n_workers):
            self.add_worker()

    def add_worker(self, start_in: Path = ROOT) -> None:
        """Add a worker. start_in: the folder that the worker starts in; the program is found from its own alone."""
        place = str(self.folder / f"worker-{len(self.workers)}")
        options = ["--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--local-directory", place]
        self.workers.append(self._start("worker", self.address, *options, "--death-timeout", "60", start_in=start_in))

    def _start(self, role: str, *options: str, start_in: Path = ROOT) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{role}.log").open("ab") as log:
            command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *options, *_LOOPBACK]
            return subprocess.Popen(command, cwd=start_in, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def log(self, role: str) -> str:
        return (self.folder / f"{role}.log").read_text(errors="replace")

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
