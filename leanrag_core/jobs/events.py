"""A job's folder: its specification and its events.

spec.json       what to do; written once by the owner
events.jsonl    what happened, one line each; the truth about the job
lock            held by the process that runs the job; when nobody holds it the process is gone
cancel          exists when the owner wants the job to stop
waiting         exists while its process waits for its turn
growth.jsonl    of a build: what is drawn of its graph (growth.py)
log.txt         what the process printed
"""

import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from leanrag_core.errors import InvalidConfig, JobNotFound, JobUnknown, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import write_json, writing
from leanrag_core.files.records import absent_at_default, from_json, from_values, json_bytes, plain, to_json, values_of
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.messages.message import Message, message
from leanrag_core.types.batches import BatchProgress
from leanrag_core.types.calls import Spending
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.job import JobReport, Progress

T = TypeVar("T")

_REPEATED = ("progress", "heartbeat", "spent")  # a later one replaces what they say
_EVENT_SECONDS = 0.2  # at most one progress event of a stage in that time


@dataclass(frozen=True)
class JobSpec:
    """What a job shall do. config, arguments: JSON values that the work of its kind reads. created: ISO 8601, UTC."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic

    id: str
    title: str
    corpus_id: str
    config: Mapping[str, Any]
    arguments: Mapping[str, Any]
    created: str
    kind: str = BUILD.name

    def argument(self, kind: type[T], name: str) -> T:
        """Read the argument of that name. Raises InvalidConfig for one of another version."""
        return _of_kind(kind, self.arguments.get(name) or {}, name)

    def configured(self, kind: type[T]) -> T:
        """Read what the job shall do from its config. Raises InvalidConfig for a record of another version."""
        return _of_kind(kind, dict(self.config), "config")


def _of_kind(kind: type[T], values: object, name: str) -> T:
    try:
        return from_values(kind, values, name=name, closed=True)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error


@dataclass(frozen=True)
class JobEvent:
    """Something that happened in a job. at: seconds since 1970. event: its name; the other fields go with some names.

    error: a text in records of older versions.
    """

    at: float
    event: str
    pid: int | None = absent_at_default()
    stage: str = absent_at_default("")
    done: int = absent_at_default(0)
    total: int = absent_at_default(0)
    unit: str = absent_at_default("")
    current: str = absent_at_default("")
    found: int | None = absent_at_default()
    relations: int | None = absent_at_default()
    waiting: bool = absent_at_default(False)
    batch: BatchProgress | None = absent_at_default()
    spent: Spending | None = absent_at_default()
    forecast: Forecast | None = absent_at_default()
    error: Message | str | None = absent_at_default()
    details: str = absent_at_default("")
    result: str | None = absent_at_default()
    report: JobReport | None = absent_at_default()


@dataclass(frozen=True)
class _Events:
    events: tuple[JobEvent, ...] = field(default_factory=tuple)


def create_job(folder: Path, spec: JobSpec) -> None:
    """Make the job's folder with its specification, on the disk; on an error no folder is left. Raises
    StorageFailed."""
    with writing(message("what.job", title=spec.title, folder=str(folder.parent)), message("kept.nothing_begun")):
        private.make_folder(folder.parent)
        folder.mkdir(mode=private.FOLDER)
        try:
            write_json(folder / "spec.json", plain(spec), private=True)
        except BaseException:
            folder.rmdir()
            raise


def read_spec(folder: Path) -> JobSpec:
    """Read the job's specification, of whatever kind. Raises JobNotFound, and JobUnknown for a record that does not
    read."""
    try:
        content = (folder / "spec.json").read_bytes()
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        raise JobNotFound("job.not_found", job=folder.name) from error
    try:
        values = values_of(content, name="spec.json")
    except RecordDamaged as error:
        raise JobUnknown("job.record_unreadable", job=folder.name) from error
    kind = values.get("kind", BUILD.name) if isinstance(values, dict) else ""
    try:
        return from_json(JobSpec, content, name="spec.json")
    except RecordDamaged as error:
        if kind != BUILD.name:  # the record of another kind may have other fields
            raise JobUnknown("job.kind_unknown", job=folder.name, kind=str(kind)) from error
        raise JobUnknown("job.record_other_version", job=folder.name) from error


class JobLog:
    """Appends events to a job's log; progress is thinned to a few lines a second.

    Events that decide what a job is (it began, ended, what it was to cost) are on the disk when write() returns. Those
    that are repeated are handed to the system: a killed process loses none of them, a power cut the last ones.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "events.jsonl"
        self._last: tuple[str, float] = ("", 0.0)
        self._left_out: Progress | None = None  # since the last one that was written
        self._of_progress = threading.Lock()

    def write(self, event: str, **fields: Any) -> None:
        """Append an event with those fields of JobEvent. Raises StorageFailed."""
        line = to_json(JobEvent(time.time(), event, **fields))
        with (
            writing(message("what.job_events", job=self.path.parent.name), message("kept.answers")),
            open(self.path, "ab", opener=private.opener) as file,
        ):
            # A line that a full disk cut must not run into this one.
            file.write((b"" if _ends_a_line(self.path) else b"\n") + line + b"\n")
            if event not in _REPEATED:
                file.flush()
                os.fsync(file.fileno())

    def progress(self, progress: Progress, *, at_once: bool = False) -> None:
        """Write the progress, unless the same stage wrote its own a moment ago and is not at its end. at_once: in any
        case."""
        with self._of_progress:
            stage, at = self._last
            ends = progress.total > 0 and progress.done >= progress.total
            if progress.stage == stage and not (ends or at_once) and time.time() - at < _EVENT_SECONDS:
                self._left_out = progress
            else:
                self._write_progress(progress)

    def catch_up(self) -> None:
        """Write the progress that was left out last, where none has followed it: the next call may take minutes."""
        with self._of_progress:
            if self._left_out is not None and time.time() - self._last[1] >= _EVENT_SECONDS:
                self._write_progress(self._left_out)

    def _write_progress(self, progress: Progress) -> None:
        self._last, self._left_out = (progress.stage, time.time()), None
        self.write("progress", **progress.record())


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def job_lock(folder: Path) -> FileLock:
    """Return the lock that the running process holds."""
    return FileLock(str(folder / "lock"), mode=private.FILE)


def is_running(folder: Path) -> bool:
    """Return whether a process holds the job's lock."""
    lock = job_lock(folder)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    except OSError:  # a disk that takes no lock lets no job run either
        return False
    lock.release()
    return False


class EventReader:
    """Reads the events of a job, each line once, since a long job has tens of thousands. For several threads."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "events.jsonl"
        self._lock = threading.Lock()  # guards the fields below
        self._events: list[JobEvent] = []
        self._n_bytes = 0

    def read(self) -> tuple[JobEvent, ...]:
        """Return the job's events so far; a last line that is being written, or that a dying process left, is left
        out.

        Raises RecordDamaged for events that are not of this version.
        """
        with self._lock:
            if not self._path.exists():
                return ()
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._n_bytes:  # another file
                    self._events, self._n_bytes = [], 0
                file.seek(self._n_bytes)
                content = file.read()
            complete_lines = content[: content.rfind(b"\n") + 1]
            self._events += _parsed(complete_lines, self._path.name)
            self._n_bytes += len(complete_lines)
            return tuple(self._events)


def _parsed(content: bytes, name: str) -> list[JobEvent]:
    lines = []
    for line in content.decode("utf-8", errors="replace").split("\n"):
        if line.startswith("{") and line.endswith("}"):
            with suppress(ValueError, RecursionError):  # two lines that ran into each other, or edited by hand
                lines.append(_of_this_version(line, json.loads(line)))
    if not lines:
        return []
    events = from_json(_Events, b'{"events":[' + ",".join(lines).encode() + b"]}", name=name).events
    if any(event.event == "progress" and not event.stage for event in events):
        raise RecordDamaged("job.progress_without_stage", name=name)
    # Of the meter's readings the last one counts; the others would take most of the memory.
    last = max((n for n, event in enumerate(events) if event.spent), default=-1)
    return [replace(event, spent=None) if event.spent and n != last else event for n, event in enumerate(events)]


def _of_this_version(line: str, values: dict[str, Any]) -> str:
    """Return the line with the report of an ended job as this version writes it: older ones had its drops among its
    counts, and the meter's reading, which is an event of its own."""
    report = values.get("report")
    if not (isinstance(report, dict) and isinstance(report.get("counts"), dict)):
        return line
    counts = {name: n for name, n in report["counts"].items() if name != "drops"}
    drops = report["counts"].get("drops") or report.get("drops") or {}
    return json_bytes({**values, "report": {"counts": counts, "drops": drops}}).decode()
