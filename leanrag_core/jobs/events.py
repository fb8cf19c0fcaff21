"""A job's folder: its specification, its events, and the state that follows from them.

spec.json       what to do; written once by the owner
events.jsonl    what happened, one line each; the truth about the job
lock            held by the process that runs the job; when nobody holds it the process is gone
cancel          exists when the owner wants the job to stop
waiting         exists while its process waits for its turn
log.txt         what the process printed
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from leanrag_core import private
from leanrag_core.atomic import write_json, writing
from leanrag_core.errors import JobNotFound, JobUnknown
from leanrag_core.jobs.outlook import outlook
from leanrag_core.types.progress import Progress
from leanrag_core.types.summary import STAGES, JobState, StageState, Written

_KIND = "build"  # of the jobs there are; a record that names none is of this one
_RECENT = 8
_START_SECONDS = 20.0  # a process that has not taken its lock by then never started
_ENDINGS = ("done", "failed", "cancelled", "stopped")
_REPEATED = ("progress", "heartbeat", "spent")  # the next one says it again
_EVENT_SECONDS = 0.2  # at most one progress event of a stage in that time
# Share of a build with the built-in models that each stage takes, measured on the sample corpora.
_SHARE = {
    "parse": 0.02,
    "chunk": 0.02,
    "extract": 0.25,
    "merge": 0.02,
    "embed": 0.49,
    "cluster": 0.05,
    "aggregate entities": 0.05,
    "aggregate relations": 0.02,
    "index": 0.08,
}


@dataclass(frozen=True)
class JobSpec:
    """What a job shall do. arguments: plain JSON values that the runner of that kind understands."""

    id: str
    title: str
    corpus_id: str
    config: dict[str, Any]
    arguments: dict[str, Any]
    created: str


def create_job(folder: Path, spec: JobSpec) -> None:
    """The job's folder exists with its specification, on the disk, or it does not exist. Raises StorageFailed."""
    with writing(f"the job {spec.title!r} in {folder.parent}", "Nothing was begun."):
        private.make_folder(folder.parent)
        folder.mkdir(mode=private.FOLDER)
        try:
            write_json(folder / "spec.json", spec.__dict__, private=True)
        except BaseException:
            folder.rmdir()
            raise


def read_spec(folder: Path) -> JobSpec:
    """The job's specification. Raises JobNotFound, and JobUnknown for one that this version does not understand."""
    try:
        content = (folder / "spec.json").read_bytes()
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        raise JobNotFound(
            f"no job {folder.name!r}: it may have been deleted; see the list on the Build page"
        ) from error
    try:
        record = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise JobUnknown(f"the record of the job {folder.name} cannot be read: it is left alone") from error
    return _checked(record, folder.name)


def _checked(record: Any, job_id: str) -> JobSpec:
    """The specification that the record holds. Raises JobUnknown."""
    kind = record.get("kind", _KIND) if isinstance(record, dict) else _KIND
    if kind != _KIND:
        raise JobUnknown(f"the job {job_id} is of the kind {kind!r}, unknown to this version: it is left alone")
    types = {field.name: dict if field.name in ("config", "arguments") else str for field in fields(JobSpec)}
    known = {name: value for name, value in record.items() if name != "kind"} if isinstance(record, dict) else {}
    if known.keys() != types.keys() or any(not isinstance(known[name], types[name]) for name in types):
        raise JobUnknown(f"the record of the job {job_id} is not that of a build of this version: it is left alone")
    return JobSpec(**known)


class JobLog:
    """Appends events to a job's log; progress is thinned to a few lines a second.

    Events that decide what a job is (it began, ended, what it was to cost) are on the disk when write() returns. Those
    that come again and again are handed to the system: a killed process loses none of them, a power cut the last ones.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "events.jsonl"
        self._last: tuple[str, float] = ("", 0.0)

    def write(self, kind: str, **facts: Any) -> None:
        """One more event. Raises StorageFailed."""
        line = json.dumps({"at": time.time(), "event": kind, **facts}, ensure_ascii=False)
        with (
            writing(f"what happens in the job {self.path.parent.name}", "What models have answered is kept."),
            open(self.path, "ab", opener=private.opener) as file,
        ):
            # A line that a full disk cut must not run into this one.
            file.write((b"" if _ends_a_line(self.path) else b"\n") + line.encode() + b"\n")
            if kind not in _REPEATED:
                file.flush()
                os.fsync(file.fileno())

    def progress(self, progress: Progress) -> None:
        """The progress is told, unless the same stage told its own a moment ago and is not at its end."""
        stage, at = self._last
        ends = progress.total > 0 and progress.done >= progress.total
        if progress.stage == stage and not ends and time.time() - at < _EVENT_SECONDS:
            return
        self._last = (progress.stage, time.time())
        facts = {name: value for name, value in progress.__dict__.items() if value is not None}
        self.write("progress", **facts)


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def job_lock(folder: Path) -> FileLock:
    """The lock that the running process holds."""
    return FileLock(str(folder / "lock"), mode=private.FILE)


def is_running(folder: Path) -> bool:
    """Whether a process holds the job's lock."""
    lock = job_lock(folder)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    except OSError:  # a disk that takes no lock lets no job run either
        return False
    lock.release()
    return False


def read_events(folder: Path) -> list[dict[str, Any]]:
    """The job's events; a last line that a dying process left half-written is passed over."""
    path = folder / "events.jsonl"
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        if line.startswith("{") and line.endswith("}"):
            with suppress(ValueError, RecursionError):  # two lines that ran into each other, or another hand's
                events.append(json.loads(line))
    return events


def read_state(folder: Path) -> JobState:
    """Where the job stands; one that this version does not understand is `unknown`. Raises JobNotFound."""
    try:
        spec = read_spec(folder)
        return _state(spec, folder)
    except JobUnknown as error:
        return _unknown(folder, str(error))
    except (LookupError, TypeError, ValueError, AttributeError):
        return _unknown(folder, f"the events of the job {folder.name} cannot be read by this version: it is left alone")


def _unknown(folder: Path, error: str) -> JobState:
    """A job of which no more is known than that it is there."""
    created = datetime.fromtimestamp((folder / "spec.json").stat().st_mtime, UTC)
    return JobState(
        id=folder.name,
        title=folder.name,
        status="unknown",
        stages=(),
        started=created.isoformat(timespec="seconds"),
        seconds=0.0,
        share=0.0,
        seconds_left=None,
        current="",
        recent=(),
        corpus_id="",
        config={},
        error=error,
    )


def _state(spec: JobSpec, folder: Path) -> JobState:
    running = is_running(folder)
    events = read_events(folder)  # after the lock: a job that ends in between has told its end before it lets go
    started = next((event["at"] for event in events if event["event"] == "started"), None)
    ending = next((event for event in reversed(events) if event["event"] in _ENDINGS), None)
    status = ending["event"] if ending else _unfinished(spec, running=running, started=bool(started))
    begun = started or datetime.fromisoformat(spec.created).timestamp()
    until = ending["at"] if ending else (events[-1]["at"] if status == "interrupted" and events else time.time())
    progress = [event for event in events if event["event"] == "progress"]
    stages = _stages(progress, until, finished=status == "done")
    seconds = max(0.0, until - begun)
    forecast: dict[str, Any] = next((event["forecast"] for event in events if event["event"] == "forecast"), {})
    spent: dict[str, Any] = next((event["spent"] for event in reversed(events) if event.get("spent")), {})
    ahead = outlook(forecast, spent, stages)
    share, left = _share_and_left(stages, seconds, ahead.seconds_left if ahead else None)
    share, left = (1.0 if status == "done" else share), (left if status == "running" else None)
    recent = [Written(str(event["stage"]), str(event["current"])) for event in progress if event.get("current")]
    return JobState(
        id=spec.id,
        title=spec.title,
        status=status,
        stages=stages,
        started=spec.created,
        seconds=seconds,
        share=share,
        seconds_left=left,
        current=progress[-1]["stage"] if progress else "",
        recent=tuple(dict.fromkeys(reversed(recent)))[:_RECENT],
        corpus_id=spec.corpus_id,
        config=spec.config,
        error=(ending or {}).get("error", ""),
        details=(ending or {}).get("details", ""),
        result=(ending or {}).get("result"),
        report=(ending or {}).get("report", {}),
        forecast=forecast,
        spent=spent,
        heard=max(0.0, time.time() - events[-1]["at"]) if events else 0.0,
        budget=dict(spec.arguments.get("budget") or {}),
    )


def _unfinished(spec: JobSpec, *, running: bool, started: bool) -> str:
    if running:
        return "running" if started else "queued"
    age = datetime.now(UTC).timestamp() - datetime.fromisoformat(spec.created).timestamp()
    return "queued" if not started and age < _START_SECONDS else "interrupted"


def _stages(progress: list[dict[str, Any]], until: float, *, finished: bool) -> tuple[StageState, ...]:
    """A stage's seconds are those between its events and the next event of any stage. Stages that this version does not
    know follow those that it knows."""
    names = tuple(dict.fromkeys([*STAGES, *(str(event["stage"]) for event in progress)]))
    seconds = dict.fromkeys(names, 0.0)
    last: dict[str, dict[str, Any]] = {}
    for event, following in zip(progress, [*progress[1:], None], strict=False):
        seconds[event["stage"]] += (following["at"] if following else until) - event["at"]
        last[event["stage"]] = event
    current = progress[-1]["stage"] if progress else None
    states = []
    for name in names:
        told = last.get(name)
        if told is None:
            states.append(StageState(name, "done" if finished else "waiting"))
        else:
            status = "running" if name == current and not finished else "done"
            found, relations = told.get("found") or 0, told.get("relations") or 0
            amounts = told["done"], told["total"], told["unit"], seconds[name]
            states.append(StageState(name, status, *amounts, found, relations))
    return tuple(states)


def _share_and_left(
    stages: tuple[StageState, ...], seconds: float, foreseen_left: float | None
) -> tuple[float, float | None]:
    """Share of the build that is behind, and seconds ahead: by the outlook where there is one, else by the stages'
    usual shares of the time."""
    if foreseen_left is not None:
        return min(0.99, seconds / max(1e-6, seconds + foreseen_left)), foreseen_left
    share = _share(stages)
    return share, seconds * (1 - share) / share if share and (share > 0.05 or seconds > 20) else None


def _share(stages: tuple[StageState, ...]) -> float:
    """Share of the whole build that is behind, from each stage's usual share of the time."""
    behind = 0.0
    for stage in stages:
        part = 1.0 if stage.status == "done" else stage.done / stage.total if stage.total else 0.0
        behind += _SHARE.get(stage.name, 0.0) * min(1.0, part)
    return min(0.99, behind)
