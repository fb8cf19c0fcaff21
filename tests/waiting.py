"""Waiting for what another thread, process or job does: as short as that takes, and never for ever."""

import time
from collections.abc import Callable
from typing import TypeVar

from leanrag_core import Workbench
from leanrag_core.types.job import JobState

_Value = TypeVar("_Value")


def until(
    ready: Callable[[], _Value],
    *,
    otherwise: Callable[[], object] = lambda: "it did not come",
    seconds: float = 60,
    pause_seconds: float = 0.02,
) -> _Value:
    """Return the first true value of ready(); fail with what otherwise() says when the time is over."""
    deadline = time.monotonic() + seconds
    while not (value := ready()):
        assert time.monotonic() < deadline, otherwise()
        time.sleep(pause_seconds)  # the only way to learn what another process has done is to look again
    return value


def job_when(
    bench: Workbench,
    job_id: str,
    ready: Callable[[JobState], object],
    *,
    seconds: float = 90,
    pause_seconds: float = 0.02,
) -> JobState:
    """Return the state of the job as soon as that is true of it."""

    def state() -> JobState | None:
        job = bench.jobs.job(job_id)
        return job if ready(job) else None

    def log() -> str:
        job = bench.jobs.job(job_id)
        return f"still {job.status} in {job.current}: {bench.jobs.log(job_id)}"

    job = until(state, otherwise=log, seconds=seconds, pause_seconds=pause_seconds)
    assert job is not None
    return job


def ended(bench: Workbench, job_id: str, *, seconds: float = 90) -> JobState:
    """Return the state of the job when it has ended in whatever way."""
    # A look takes a millisecond: five times as seldom, it costs what it should.
    return job_when(bench, job_id, lambda job: not job.live, seconds=seconds, pause_seconds=0.1)
