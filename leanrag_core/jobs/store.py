"""The job store: below one folder, a folder for each job."""

import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leanrag_core.errors import JobNotFound, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import writing
from leanrag_core.files.records import plain
from leanrag_core.files.written_paths import is_one_name
from leanrag_core.jobs import events, runner, state
from leanrag_core.jobs.growth import read_growth
from leanrag_core.jobs.kinds import BUILD, KINDS
from leanrag_core.messages.message import message
from leanrag_core.types.calls import Budget
from leanrag_core.types.growth import Growth
from leanrag_core.types.job import JobKind, JobState

_ENDED = ("done", "failed", "cancelled", "stopped", "unknown")  # an interrupted one may be slow to take its lock


class JobStore:
    """Begins, lists and cancels jobs; each runs in a process of its own and outlives this one.

    kinds: of the jobs that it understands, those of this version by default; it shows others and leaves them alone.
    """

    def __init__(self, root: Path, package_root: Path, kinds: Sequence[JobKind] | None = None) -> None:
        self.root, self._package_root, self._kinds = root, package_root, KINDS if kinds is None else kinds
        private.tighten(root)
        self._ended: dict[str, tuple[tuple[object, ...], JobState]] = {}
        self._readers: dict[str, events.EventReader] = {}  # of jobs that are under way

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job. Raises JobNotFound for an id that could leave the store."""
        if not is_one_name(job_id):
            raise JobNotFound("job.invalid_id", job=job_id)
        return self.root / job_id

    def begin(
        self,
        title: str,
        corpus_id: str,
        config: Mapping[str, Any],
        arguments: Mapping[str, Any],
        kind: JobKind = BUILD,
    ) -> str:
        """Make a job and start its process; returns its id. config, arguments: JSON values.

        Raises StorageFailed.
        """
        now = datetime.now(UTC)
        job_id = f"{now.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        spec = events.JobSpec(job_id, title, corpus_id, config, arguments, now.isoformat(), kind.name)
        events.create_job(self.folder(job_id), spec)
        with writing(message("what.job", title=title, folder=str(self.root)), message("kept.nothing_begun")):
            try:
                runner.launch(self.folder(job_id), self._package_root)
            except BaseException:  # there is no process yet, so no other process uses the folder
                shutil.rmtree(self.folder(job_id), ignore_errors=True)
                raise
        return job_id

    def repeat(self, job_id: str, budget: Budget | None = None) -> str:
        """Begin a new job that does the same as that one; returns its id. budget: what it may spend, as much by
        default.

        Raises JobNotFound, JobUnknown, StorageFailed.
        """
        spec = self.spec(job_id)
        arguments = spec.arguments if budget is None else {**spec.arguments, "budget": plain(budget)}
        return self.begin(spec.title, spec.corpus_id, spec.config, arguments, state.kind_of(spec, self._kinds))

    def spec(self, job_id: str) -> events.JobSpec:
        """Return what the job was to do. Raises JobNotFound, JobUnknown for a job of another kind."""
        spec = events.read_spec(self.folder(job_id))
        state.kind_of(spec, self._kinds)
        return spec

    def all(self) -> list[JobState]:
        """Return all jobs, the newest first."""
        states = []
        for folder in sorted((path.parent for path in self.root.glob("*/spec.json")), reverse=True):
            with suppress(JobNotFound, FileNotFoundError):  # deleted just now
                states.append(self._read(folder))
        return states

    def is_under_way(self, kind: JobKind, config: Mapping[str, Any]) -> bool:
        """Tell whether a job of that kind with that config waits or runs."""
        return any(job.live and job.kind.name == kind.name and job.config == config for job in self.all())

    def _read(self, folder: Path) -> JobState:
        """Return the job's state; that of one that has ended is kept until its events or its record change."""
        stamp = tuple(_changed(folder / name) for name in ("spec.json", "events.jsonl"))
        kept = self._ended.get(folder.name)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        job = self.job(folder.name)
        if job.status in _ENDED:
            self._ended[folder.name] = stamp, job
        return job

    def job(self, job_id: str) -> JobState:
        """Return the state of a job. Raises JobNotFound."""
        folder = self.folder(job_id)
        reader = self._readers.setdefault(job_id, events.EventReader(folder))
        job = state.read_state(folder, self._kinds, reader)
        if not job.live:
            self._readers.pop(job_id, None)
        return job

    def growth(self, job_id: str) -> Growth:
        """Return what is drawn of the graph that the job builds, as it is by now; nothing of a record of another
        version."""
        try:
            return read_growth(self.folder(job_id))
        except RecordDamaged:
            return Growth()

    def log(self, job_id: str) -> str:
        """Return what the job's process printed."""
        path = self.folder(job_id) / "log.txt"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def cancel(self, job_id: str) -> None:
        """Ask the job to stop, see runner.ask_to_cancel(); nothing is left half-finished. Raises JobNotFound,
        JobUnknown."""
        self.spec(job_id)
        runner.ask_to_cancel(self.folder(job_id))


def _changed(path: Path) -> tuple[int, int] | None:
    """Return size and time of a file; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
