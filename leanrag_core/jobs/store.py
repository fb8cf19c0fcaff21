"""The job store: one folder each below one folder."""

import secrets
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leanrag_core import private
from leanrag_core.atomic import writing
from leanrag_core.errors import JobNotFound
from leanrag_core.jobs import events, runner
from leanrag_core.types.summary import JobState

_ENDED = ("done", "failed", "cancelled", "stopped", "unknown")  # an interrupted one may be slow to take its lock


class JobStore:
    """Begins, lists and cancels jobs; each runs in a process of its own and outlives this one."""

    def __init__(self, root: Path, package_root: Path) -> None:
        self.root, self._package_root = root, package_root
        private.tighten(root)
        self._ended: dict[str, tuple[tuple[object, ...], JobState]] = {}

    def folder(self, job_id: str) -> Path:
        """The folder of a job. Raises JobNotFound for an id that could leave the store."""
        if not job_id or "/" in job_id or "\\" in job_id or job_id.startswith("."):
            raise JobNotFound(f"no job {job_id!r}: see the list on the Build page")
        return self.root / job_id

    def begin(self, title: str, corpus_id: str, config: dict[str, Any], arguments: dict[str, Any]) -> str:
        """A job is made and its process starts; returns its id. config, arguments: plain JSON values.

        Raises StorageFailed.
        """
        now = datetime.now(UTC)
        job_id = f"{now.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        spec = events.JobSpec(job_id, title, corpus_id, config, arguments, now.isoformat())
        events.create_job(self.folder(job_id), spec)
        with writing(f"the job {title!r} in {self.root}", "Nothing was begun."):
            try:
                runner.launch(self.folder(job_id), self._package_root)
            except BaseException:  # before there is a process, so nobody else knows of the folder
                shutil.rmtree(self.folder(job_id), ignore_errors=True)
                raise
        return job_id

    def spec(self, job_id: str) -> events.JobSpec:
        """What the job was to do. Raises JobNotFound."""
        return events.read_spec(self.folder(job_id))

    def all(self) -> list[JobState]:
        """All jobs, the newest first."""
        states = []
        for folder in sorted((path.parent for path in self.root.glob("*/spec.json")), reverse=True):
            with suppress(JobNotFound):  # deleted just now
                states.append(self._read(folder))
        return states

    def _read(self, folder: Path) -> JobState:
        """The job's state; that of one that has ended is kept until its events or its record change."""
        stamp = tuple(_changed(folder / name) for name in ("spec.json", "events.jsonl"))
        kept = self._ended.get(folder.name)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        state = events.read_state(folder)
        if state.status in _ENDED:
            self._ended[folder.name] = stamp, state
        return state

    def state(self, job_id: str) -> JobState:
        """Where a job stands. Raises JobNotFound."""
        return events.read_state(self.folder(job_id))

    def log(self, job_id: str) -> str:
        """What the job's process printed."""
        path = self.folder(job_id) / "log.txt"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def cancel(self, job_id: str) -> None:
        """The job stops within two seconds and leaves nothing half-finished. Raises JobNotFound."""
        runner.ask_to_cancel(self.folder(job_id))


def _changed(path: Path) -> tuple[int, int] | None:
    """Size and time of a file; None when there is none."""
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns
