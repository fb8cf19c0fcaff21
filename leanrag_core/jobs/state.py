"""The state of a job, as it follows from its events."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from leanrag_core.errors import InvalidConfig, JobUnknown, RecordDamaged
from leanrag_core.files.records import from_json, json_bytes
from leanrag_core.jobs import events as job_events
from leanrag_core.jobs.events import EventReader, JobEvent, JobSpec, read_spec
from leanrag_core.jobs.kinds import KINDS
from leanrag_core.jobs.outlook import outlook
from leanrag_core.messages.message import Message, message
from leanrag_core.types.calls import NO_SPENDING, Budget
from leanrag_core.types.job import NO_REPORT, JobKind, JobState, StageState, Written

_RECENT = 8
_START_SECONDS = 20.0  # a process that has not taken its lock by then never started
_ENDINGS = ("done", "failed", "cancelled", "stopped")


def kind_of(spec: JobSpec, kinds: Sequence[JobKind] = KINDS) -> JobKind:
    """Return the kind of the job. Raises JobUnknown for a kind that this version does not have."""
    kind = next((kind for kind in kinds if kind.name == spec.kind), None)
    if kind is None:
        raise JobUnknown("job.kind_unknown", job=spec.id, kind=spec.kind)
    return kind


def budget_of(spec: JobSpec) -> Budget:
    """Return what the job may spend. Raises JobUnknown for a record of another version."""
    try:
        return from_json(Budget, json_bytes(spec.arguments.get("budget") or {}))
    except (RecordDamaged, InvalidConfig) as error:
        raise JobUnknown("job.record_other_version", job=spec.id) from error


def read_state(folder: Path, kinds: Sequence[JobKind] = KINDS, reader: EventReader | None = None) -> JobState:
    """Read how far the job is; one that this version does not understand is `unknown`. Raises JobNotFound.

    reader: of the job's events, to be used again.
    """
    try:
        spec = read_spec(folder)
        return _state(spec, kind_of(spec, kinds), folder, reader or EventReader(folder))
    except JobUnknown as error:
        return _unknown(folder, error.message)
    except (RecordDamaged, ValueError):
        return _unknown(folder, message("job.events_unreadable", job=folder.name))


def _unknown(folder: Path, error: Message) -> JobState:
    """Return the state of a job of which no more is known than that it is there."""
    created = datetime.fromtimestamp((folder / "spec.json").stat().st_mtime, UTC)
    return JobState(
        id=folder.name,
        kind=JobKind(""),
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


def _state(spec: JobSpec, kind: JobKind, folder: Path, reader: EventReader) -> JobState:
    running = job_events.is_running(folder)
    events = reader.read()  # after the lock: a job that ends in between has written its end before it lets go
    created = datetime.fromisoformat(spec.created).timestamp()
    started = next((event.at for event in events if event.event == "started"), None)
    ending = next((event for event in reversed(events) if event.event in _ENDINGS), None)
    turn = next((event.event for event in reversed(events) if event.event in ("waiting", "turn")), "turn")
    status = ending.event if ending else _unfinished(created, running=running, started=started is not None)
    waits_for_index = status == "running" and turn == "waiting"
    until = ending.at if ending else (events[-1].at if status == "interrupted" and events else time.time())
    progress = [event for event in events if event.event == "progress"]
    stages = _stages(kind, progress, until, finished=status == "done")
    seconds = max(0.0, until - (started or created))
    forecast = next((event.forecast for event in events if event.forecast), None)
    spending = next((event.spent for event in reversed(events) if event.spent), NO_SPENDING)
    ahead = outlook(kind, forecast, spending, stages)
    share, left = _share_and_left(kind, stages, seconds, ahead.seconds_left if ahead else None)
    recent = [Written(event.stage, event.current) for event in progress if event.current]
    return JobState(
        id=spec.id,
        kind=kind,
        title=spec.title,
        status="queued" if waits_for_index else status,
        stages=stages,
        started=spec.created,
        seconds=seconds,
        share=1.0 if status == "done" else share,
        seconds_left=left if status == "running" else None,
        current=progress[-1].stage if progress else "",
        recent=tuple(dict.fromkeys(reversed(recent)))[:_RECENT],
        corpus_id=spec.corpus_id,
        config=spec.config,
        error=_error(ending),
        details=ending.details if ending else "",
        result=ending.result if ending else None,
        report=(ending.report if ending else None) or NO_REPORT,
        forecast=forecast,
        spending=spending,
        heard=max(0.0, time.time() - events[-1].at) if events else 0.0,
        budget=budget_of(spec),
        waits_for_index=waits_for_index,
    )


def _error(ending: JobEvent | None) -> Message | None:
    if ending is None or not ending.error:
        return None
    return message("plain", text=ending.error) if isinstance(ending.error, str) else ending.error


def _unfinished(created: float, *, running: bool, started: bool) -> str:
    if running:
        return "running" if started else "queued"
    return "queued" if not started and time.time() - created < _START_SECONDS else "interrupted"


def _stages(kind: JobKind, progress: Sequence[JobEvent], until: float, *, finished: bool) -> tuple[StageState, ...]:
    """Return the stages. A stage's seconds are those between its events and the next event of any stage. Stages that
    the kind does not list follow those that it lists."""
    names = tuple(dict.fromkeys([*(stage.name for stage in kind.stages), *(event.stage for event in progress)]))
    seconds = dict.fromkeys(names, 0.0)
    last: dict[str, JobEvent] = {}
    for event, following in zip(progress, [*progress[1:], None], strict=False):
        seconds[event.stage] += (following.at if following else until) - event.at
        last[event.stage] = event
    current = progress[-1].stage if progress else None
    states = []
    for name in names:
        latest = last.get(name)
        if latest is None:
            states.append(StageState(name, "done" if finished else "waiting"))
        else:
            status = "running" if name == current and not finished else "done"
            amounts = latest.done, latest.total, latest.unit, seconds[name]
            states.append(StageState(name, status, *amounts, latest.found or 0, latest.relations or 0))
    return tuple(states)


def _share_and_left(
    kind: JobKind, stages: tuple[StageState, ...], seconds: float, expected_left: float | None
) -> tuple[float, float | None]:
    """Return the share of the job that is done, and seconds ahead: by the outlook where there is one, else by the
    stages' usual shares of the time."""
    if expected_left is not None:
        return min(0.99, seconds / max(1e-6, seconds + expected_left)), expected_left
    share = _share(kind, stages)
    return share, seconds * (1 - share) / share if share and (share > 0.05 or seconds > 20) else None


def _share(kind: JobKind, stages: tuple[StageState, ...]) -> float:
    """Return the share of the whole job that is done, from each stage's usual share of the time."""
    done = 0.0
    for stage in stages:
        part = 1.0 if stage.status == "done" else stage.done / stage.total if stage.total else 0.0
        done += kind.stage(stage.name).share * min(1.0, part)
    return min(0.99, done)
