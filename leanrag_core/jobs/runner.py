"""Starts jobs in processes of their own, runs them there, and stops them."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from filelock import FileLock, Timeout

from leanrag_core import private
from leanrag_core.atomic import remedy_of, writing
from leanrag_core.errors import BudgetSpent, Cancelled, LeanRAGError, StorageFailed
from leanrag_core.jobs.events import JobLog, JobSpec, is_running, job_lock, read_spec
from leanrag_core.types.progress import Progress, Report

_POLL_SECONDS = 0.2
_WAITING = "waiting"  # a file of a job that waits for a slot
_SLOTS = 2  # jobs at work at one time; the others queue
_BEAT_SECONDS = 5.0
_SPENT_SECONDS = 2.0
_GRACE_SECONDS = 1.2  # from the wish to cancel to the end of a process that does not listen

Work = Callable[[JobSpec, Report], tuple[str, dict[str, Any]]]


def launch(folder: Path, package_root: Path) -> None:
    """A process of its own runs the job; it outlives this one."""
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
    """The job's process stops within two seconds; one that never started is marked as cancelled."""
    read_spec(folder)
    with writing(f"the wish to stop the job {folder.name}", "It goes on."):
        (folder / "cancel").touch(mode=private.FILE)
    if not is_running(folder):
        JobLog(folder).write("cancelled", error="stopped before it began")


def run(folder: Path, work: Work, clean_up: Callable[[JobSpec], None]) -> int:
    """Do the job in this process and tell its events; returns the exit code.

    work gives the id of what was made and a report. clean_up removes what is half made; it is called when the
    process must end at once.
    """
    spec, log = read_spec(folder), JobLog(folder)
    with job_lock(folder).acquire(timeout=10):
        log.write("queued", pid=os.getpid())
        slot = _wait_for_slot(folder)
        if slot is None:
            log.write("cancelled", error="Cancelled while it waited for its turn.")
            return 1
        log.write("started", pid=os.getpid())
        finished = threading.Event()
        usual = signal.signal(signal.SIGTERM, _raise_cancelled)
        watcher = threading.Thread(target=_watch, args=(folder, spec, log, clean_up, finished), daemon=True)
        watcher.start()

        def report(progress: Progress) -> None:
            if (folder / "cancel").exists():
                raise Cancelled("cancelled by the user")
            log.progress(progress)

        try:
            result, made = work(spec, report)
            finished.set()
            _tell_end(log, "done", result=result, report=made)
            return 0
        except Cancelled:
            finished.set()
            _tell_end(log, "cancelled", error="Stopped as asked. Nothing half-finished is left.")
        except BudgetSpent as error:
            finished.set()
            _tell_end(log, "stopped", error=str(error))
        except LeanRAGError as error:
            finished.set()
            _tell_end(log, "failed", error=str(error), details=traceback.format_exc())
        except OSError as error:
            finished.set()
            remedy = remedy_of(error) or "See the details"
            said = f"the disk or the system refused: {error.strerror or error}. {remedy}, then resume."
            _tell_end(log, "failed", error=said, details=traceback.format_exc())
        except Exception:
            finished.set()
            said = "something unexpected went wrong. Nothing half-finished is left; the technical details say more."
            _tell_end(log, "failed", error=said, details=traceback.format_exc())
        finally:
            signal.signal(signal.SIGTERM, usual)
            slot.release()
        return 1


def _tell_end(log: JobLog, kind: str, **facts: Any) -> None:
    """The job's end is among its events, or, where the disk takes no more, in what its process printed."""
    try:
        log.write(kind, **facts)
    except StorageFailed as error:
        print(f"{kind}: {facts.get('error', '')}\n{error}", file=sys.stderr)


def _tell_in_passing(log: JobLog, kind: str, **facts: Any) -> None:
    """One more event. The work itself meets a full disk and tells of it; this thread has more to do than to tell."""
    with suppress(StorageFailed):
        log.write(kind, **facts)


def _wait_for_slot(folder: Path) -> FileLock | None:
    """One of the places for jobs at work, the oldest job first; None when the job was cancelled while it waited."""
    slots = [FileLock(str(folder.parent / f".slot-{number}"), mode=private.FILE) for number in range(_SLOTS)]
    waiting = folder / _WAITING
    waiting.touch(mode=private.FILE)
    try:
        while not (folder / "cancel").exists():
            for slot in slots if _is_next(folder) else ():
                try:
                    slot.acquire(blocking=False)
                except Timeout:
                    continue
                return slot
            time.sleep(_POLL_SECONDS)
        return None
    finally:
        waiting.unlink(missing_ok=True)


def _is_next(folder: Path) -> bool:
    """Whether no job that was made earlier still waits. Ids begin with the time."""
    earlier = (path.parent for path in folder.parent.glob(f"*/{_WAITING}") if path.parent.name < folder.name)
    return not any(is_running(other) for other in earlier)


@contextmanager
def telling_what_is_spent(folder: Path, read: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """While the block lasts, a meter's reading is told every two seconds when it has changed, and at the end: what a
    build pays and which faults it meets is seen while its first chunk is still waited for."""
    log, ended = JobLog(folder), threading.Event()

    def tell() -> None:
        told = read()
        while not ended.wait(_SPENT_SECONDS):
            now = read()
            if now != told:
                _tell_in_passing(log, "spent", spent=now)
            told = now

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        _tell_in_passing(log, "spent", spent=read())


def _raise_cancelled(signum: int, frame: FrameType | None) -> None:
    raise Cancelled("stopped by a signal")


def _watch(
    folder: Path, spec: JobSpec, log: JobLog, clean_up: Callable[[JobSpec], None], finished: threading.Event
) -> None:
    """Work in a long native call does not look at the cancel file; after a grace time the process ends here."""
    beat = time.monotonic()
    while not (folder / "cancel").exists():
        if finished.wait(_POLL_SECONDS):
            return
        if time.monotonic() - beat > _BEAT_SECONDS:
            beat = time.monotonic()
            _tell_in_passing(log, "heartbeat")
    deadline = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < deadline:
        if finished.wait(_POLL_SECONDS):
            return
    try:
        _tell_end(log, "cancelled", error="Stopped as asked. Nothing half-finished is left.")
        clean_up(spec)
    finally:
        os._exit(1)
