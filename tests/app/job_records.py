"""Jobs written by hand, in every state, without a process."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import JobLog, JobSpec, create_job
from leanrag_core.types.job import Progress
from tests.app.conftest import CORPUS

HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) $a$"
LONG_AGO = "2026-01-02T03:04:05+00:00"


def a_job(bench: Workbench, *events: tuple[str, dict[str, Any]], title: str = "Bees", name: str = "one") -> Path:
    folder = bench.root / "jobs" / name
    config = asdict(IndexConfig(cluster_size=7))
    create_job(folder, JobSpec(name, title, CORPUS, config, {"name": title}, LONG_AGO))
    log = JobLog(folder)
    for kind, facts in events:
        log.write(kind, **facts)
    return folder


def progress(stage: str, done: int, total: int, unit: str = "chunks", current: str = "") -> tuple[str, dict[str, Any]]:
    return "progress", Progress(stage, done, total, unit, current).record()


STARTED: tuple[str, dict[str, Any]] = ("started", {"pid": 1})
FAILED: tuple[str, dict[str, Any]] = (
    "failed",
    {"error": "the disk is full. Free some space, then resume.", "details": f"Traceback: {HOSTILE}"},
)
