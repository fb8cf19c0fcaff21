"""What the runner asks of the work of a kind, and what the work may ask of its job."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from leanrag_core.errors import Cancelled, StorageFailed
from leanrag_core.jobs.events import JobLog, JobSpec
from leanrag_core.jobs.slots import Slot
from leanrag_core.types.calls import Spending
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.job import NO_REPORT, JobReport, Progress

_SPENT_SECONDS = 2.0


@dataclass(frozen=True)
class Done:
    """What a job made. result: its id, of an index for instance."""

    result: str
    report: JobReport = NO_REPORT


class Work(Protocol):
    """Does the jobs of one kind."""

    def run(self, job: "RunningJob") -> Done:
        """Do the job's work. Raises LeanRAGError."""

    def clean_up(self, spec: JobSpec) -> None:
        """Delete what is half made; called when the process must end at once."""


class RunningJob:
    """The job that this process does."""

    def __init__(self, folder: Path, spec: JobSpec, slot: Slot) -> None:
        self.spec = spec
        self._folder, self._slot, self._log = folder, slot, JobLog(folder)
        self._read: Callable[[], Spending] | None = None

    def report(self, progress: Progress) -> None:
        """Write the progress. While the job waits for another build of its index, others may take its slot.

        Raises Cancelled when the owner wants the job to stop.
        """
        if (self._folder / "cancel").exists():
            raise Cancelled("job.cancel_requested")
        if progress.waiting:
            self._give_way()
            return
        if not self._slot.acquired:
            if not self._slot.wait():
                raise Cancelled("job.cancel_requested")
            self._log.write("turn")
        self._log.progress(replace(progress, spent=self._read()) if self._read else progress)

    def _give_way(self) -> None:
        if self._slot.acquired:
            self._log.write("waiting")
            self._slot.release()

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
