"""Starts jobs in processes of their own, runs them there, and stops them."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from filelock import FileLock, Timeout

from leanrag_core.errors import BudgetSpent, Cancelled, EndpointPaused, JobUnknown, LeanRAGError, StorageFailed
from leanrag_core.files import private
from leanrag_core.files.atomic import remedy_of, writing
from leanrag_core.jobs.events import JobLog, JobSpec, is_running, job_lock, read_spec
from leanrag_core.jobs.growth import GrowthLog
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.batches import BatchProgress
from leanrag_core.types.calls import Spending
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.job import NO_REPORT, JobReport, Progress

POLL_SECONDS = 0.2
_WAITING = "waiting"  # a file of a job that waits for a slot
_SLOTS = 2  # jobs at work at one time


class Slot:
    """The place of one job among those at work."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: FileLock | None = None

    @property
    def acquired(self) -> bool:
        """Whether the job may work."""
        return self._lock is not None

    def wait(self) -> bool:
        """Wait until the job has a place; returns False when it was cancelled in the meantime."""
        store = self._folder.parent
        locks = [FileLock(str(store / f".slot-{number}"), mode=private.FILE) for number in range(_SLOTS)]
        waiting = self._folder / _WAITING
        waiting.touch(mode=private.FILE)
        try:
            while not (self._folder / "cancel").exists():
                for lock in locks if _is_next(self._folder) else ():
                    with suppress(Timeout):
                        lock.acquire(blocking=False)
                        self._lock = lock
                        return True
                time.sleep(POLL_SECONDS)
            return False
        finally:
            waiting.unlink(missing_ok=True)

    def release(self) -> None:
        """Release the place for another job."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _is_next(folder: Path) -> bool:
    """Return whether no job that was made earlier still waits. Ids begin with the time."""
    earlier = (path.parent for path in folder.parent.glob(f"*/{_WAITING}") if path.parent.name < folder.name)
    return not any(is_running(other) for other in earlier)


_SPENT_SECONDS = 2.0


@dataclass(frozen=True)
class Done:
    """What a job made. result: its id, of an index for instance."""

    result: str
    report: JobReport = NO_REPORT


@dataclass(frozen=True)
class Work:
    """Does the jobs of one kind: run does a job's work and raises LeanRAGError; clean_up deletes what is half made, and
    is called when the process must end at once."""

    run: Callable[["RunningJob"], Done]
    clean_up: Callable[[JobSpec], None] = lambda spec: None


class RunningJob:
    """The job that this process does."""

    def __init__(self, folder: Path, spec: JobSpec, slot: Slot, log: JobLog) -> None:
        self.spec = spec
        self._folder, self._slot, self._log = folder, slot, log
        self._growth = GrowthLog(folder)
        self._read: Callable[[], Spending] | None = None
        self._batch: BatchProgress | None = None  # as it was written last

    @property
    def cancel_requested(self) -> bool:
        """Whether the owner wants the job to stop."""
        return (self._folder / "cancel").exists()

    def report(self, progress: Progress) -> None:
        """Write the progress. While the job waits for another build of its index, or for batches of calls, others may
        take its slot.

        Raises Cancelled when the owner wants the job to stop.
        """
        if self.cancel_requested:
            raise Cancelled("job.cancel_requested")
        if progress.waiting:
            self._give_way()
            return
        if progress.batch is not None:
            self._await(progress, progress.batch)
            return
        self._batch = None
        if not self._slot.acquired:
            if not self._slot.wait():
                raise Cancelled("job.cancel_requested")
            self._log.write("turn")
        if progress.made is not None:
            self._growth.add(progress.made)
        self._log.progress(replace(progress, spent=self._read()) if self._read else progress)

    def _give_way(self) -> None:
        if self._slot.acquired:
            self._log.write("waiting")
            self._slot.release()

    def _await(self, progress: Progress, batch: BatchProgress) -> None:
        """Write how far the batches are, when that has changed: they may take a day."""
        self._slot.release()
        if batch != self._batch:
            self._batch = batch
            spent = self._read() if self._read else None
            self._log.progress(replace(progress, spent=spent), at_once=True)

    def expect(self, forecast: Forecast) -> None:
        """Write the forecast into the job's record."""
        self._log.write("forecast", forecast=forecast)

    @contextmanager
    def metered(self, read: Callable[[], Spending]) -> Iterator[None]:
        """Write a meter's reading with all progress, every two seconds when it has changed, and at the end, while
        the block lasts: a reader sees what a job pays and which errors it has before its first answer has come."""
        ended = threading.Event()
        self._read = read

        def write_changes() -> None:
            last = read()
            while not ended.wait(_SPENT_SECONDS):
                now = read()
                if now != last:
                    write_in_passing(self._log, "spent", spent=now)
                last = now

        writer = threading.Thread(target=write_changes, daemon=True)
        writer.start()
        try:
            yield
        finally:
            self._read = None
            ended.set()
            writer.join()
            write_in_passing(self._log, "spent", spent=read())


def write_in_passing(log: JobLog, event: str, **fields: Any) -> None:
    """Write an event from a thread beside the work. A full disk is reported by the work itself."""
    with suppress(StorageFailed):
        log.write(event, **fields)


_BEAT_SECONDS = 5.0
_GRACE_SECONDS = 1.2  # from the request to cancel to the end of a process that does not listen
_CANCELLED = message("job.cancelled_cleanly")


def launch(folder: Path, package_root: Path) -> None:
    """Start a process of its own for the job; it outlives this one."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package_root), os.environ.get("PYTHONPATH", "")])}
    with open(folder / "log.txt", "ab", opener=private.opener) as log:
        subprocess.Popen(
            [sys.executable, "-m", "leanrag_core", "run-job", str(folder)],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
        )


def ask_to_cancel(folder: Path) -> None:
    """Ask the job's process to stop, which it does within two seconds, or when the providers of its batches have heard
    of it; mark a job that never started as cancelled."""
    read_spec(folder)
    with writing(message("what.stop_request", job=folder.name), message("kept.job_goes_on")):
        (folder / "cancel").touch(mode=private.FILE)
    if not is_running(folder):
        JobLog(folder).write("cancelled", error=message("job.cancelled_before_start"))


def run(folder: Path, works: Mapping[str, Work]) -> int:
    """Do the job in this process and write its events; returns the exit code. works: the work of each kind of job.

    Raises JobNotFound, JobUnknown for a job of a kind that has no work here: nothing is written then.
    """
    spec, log = read_spec(folder), JobLog(folder)
    if spec.kind not in works:
        raise JobUnknown("job.kind_unknown", job=spec.id, kind=spec.kind)
    work = works[spec.kind]
    with job_lock(folder).acquire(timeout=10):
        log.write("queued", pid=os.getpid())
        slot = Slot(folder)
        if not slot.wait():
            log.write("cancelled", error=message("job.cancelled_in_queue"))
            return 1
        log.write("started", pid=os.getpid())
        finished, ending = threading.Event(), threading.Lock()
        usual = signal.signal(signal.SIGTERM, _raise_cancelled)
        watcher = threading.Thread(target=_watch, args=(folder, spec, log, work, finished, ending), daemon=True)
        watcher.start()
        try:
            event, fields = _result(work, RunningJob(folder, spec, slot, log))
            with ending:  # never released where the watcher ends the process first
                finished.set()
                _write_end(log, event, **fields)
            return 0 if event == "done" else 1
        finally:
            signal.signal(signal.SIGTERM, usual)
            slot.release()


def _result(work: Work, job: RunningJob) -> tuple[str, dict[str, Any]]:
    """Run the work, and return the name of the job's last event, and its fields."""
    try:
        outcome = work.run(job)
    except Cancelled:
        return "cancelled", {"error": _CANCELLED}
    except (BudgetSpent, EndpointPaused) as error:
        return "stopped", {"error": error.message}
    except LeanRAGError as error:
        return "failed", {"error": error.message, "details": traceback.format_exc()}
    except OSError as error:
        remedy = remedy_of(error) or message("job.see_details")
        refused = message("job.os_refused", reason=str(error.strerror or error), remedy=remedy)
        return "failed", {"error": refused, "details": traceback.format_exc()}
    except Exception:
        return "failed", {"error": message("job.unexpected"), "details": traceback.format_exc()}
    return "done", {"result": outcome.result, "report": outcome.report}


def _write_end(log: JobLog, event: str, **fields: Any) -> None:
    """Write the job's end among its events, or, where the disk takes no more, into what its process prints."""
    try:
        log.write(event, **fields)
    except StorageFailed as error:
        reason = sentence(fields["error"]) if "error" in fields else ""
        print(f"{event}: {reason}\n{error}", file=sys.stderr)


def _raise_cancelled(signum: int, frame: FrameType | None) -> None:
    raise Cancelled("job.stopped_by_signal")


def _watch(
    folder: Path, spec: JobSpec, log: JobLog, work: Work, finished: threading.Event, ending: threading.Lock
) -> None:
    """End the process after a grace time: work in a long native call does not look at the cancel file.

    ending: held by the thread that writes the job's end. Whoever reads that a job is cancelled finds it cleaned up.
    """
    beat = time.monotonic()
    while not (folder / "cancel").exists():
        if finished.wait(POLL_SECONDS):
            return
        with ending:
            if finished.is_set():
                return
            with suppress(StorageFailed):  # a full disk is reported by the work itself
                log.catch_up()
        if time.monotonic() - beat > _BEAT_SECONDS:
            beat = time.monotonic()
            write_in_passing(log, "heartbeat")
    deadline = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < deadline:
        if finished.wait(POLL_SECONDS):
            return
    with ending:
        if finished.is_set():
            return
        try:
            try:
                work.clean_up(spec)
            finally:
                _write_end(log, "cancelled", error=_CANCELLED)
        finally:
            os._exit(1)
