"""The state of a job, as it follows from its events."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leanrag_core.errors import InvalidConfig, JobUnknown, RecordDamaged
from leanrag_core.files.records import from_json, json_bytes
from leanrag_core.jobs import events as job_events
from leanrag_core.jobs.events import EventReader, JobEvent, JobSpec, read_spec
from leanrag_core.jobs.kinds import KINDS
from leanrag_core.messages.message import Message, message
from leanrag_core.types.calls import NO_SPENDING, NO_USAGE, Budget, Spending, Usage
from leanrag_core.types.forecast import SECONDS_A_TEXT, Forecast, StageForecast, grown
from leanrag_core.types.job import CHUNKS, ENTITIES, NO_REPORT, UNITS, JobKind, JobState, StageState, Written

_PRIOR = 3.0  # calls as forecast that the first real ones are mixed with
_TEXTS_AN_ENTITY = 1.1  # entities of layer 0 and of those above


@dataclass(frozen=True)
class Amount:
    """What calls take. dollars: US dollars."""

    calls: float = 0.0
    tokens: float = 0.0
    dollars: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.dollars + other.dollars)


@dataclass(frozen=True)
class StageOutlook:
    """A stage that calls a model: as forecast, so far, and at its end as it looks now."""

    forecast: StageForecast
    expected: Amount
    so_far: Amount
    at_end: Amount


@dataclass(frozen=True)
class Outlook:
    """The outlook of a running job. seconds_left: None before anything is known."""

    stages: tuple[StageOutlook, ...]
    seconds_left: float | None

    @property
    def so_far(self) -> Amount:
        """What all stages have taken so far."""
        return sum((stage.so_far for stage in self.stages), Amount())

    @property
    def at_end(self) -> Amount:
        """What all stages will have taken at the end."""
        return sum((stage.at_end for stage in self.stages), Amount())


def outlook(
    kind: JobKind, forecast: Forecast | None, spending: Spending, states: Sequence[StageState]
) -> Outlook | None:
    """Forecast the rest of a job from its forecast, the meter's reading and its stages; None where no model is
    called."""
    if forecast is None or not forecast.calling:
        return None
    stages = _Stages(kind, states)
    expected = forecast.entities.expected
    entities = stages.entities(expected)
    ratio = entities / expected if entities and expected else 1.0
    outlooks = []
    for planned in forecast.calling:
        at_start, so_far = _expected(planned), _so_far(spending.by_stage.get(planned.stage, NO_USAGE))
        calls = stages.calls_at_end(forecast, planned.stage, at_start, so_far, ratio)
        outlooks.append(StageOutlook(planned, at_start, so_far, _priced(calls, at_start, so_far)))
    return Outlook(tuple(outlooks), _seconds_left(forecast, outlooks, stages))


class _Stages:
    """The stages of a job by name; one that is not there has not begun."""

    def __init__(self, kind: JobKind, states: Sequence[StageState]) -> None:
        self.kind, self.states = kind, states
        self._state_of: Mapping[str, StageState] = {state.name: state for state in states}

    def state(self, name: str) -> StageState:
        return self._state_of.get(name, StageState(name, "waiting"))

    def ended(self, name: str) -> bool:
        """Return whether the stage makes no more calls."""
        names = [stage.name for stage in self.kind.stages]
        after = self.kind.stage(name).ended_by or (names[names.index(name) + 1 :] if name in names else ())
        return any(self.state(later).status != "waiting" for later in after)

    def entities(self, expected: float) -> float:
        """Estimate the entities at the end of the extraction: counted, or by Heaps' law from the names so far, mixed
        with the forecast."""
        if self.ended("merge"):
            return self.state("merge").total
        extract = self.state("extract")
        if not (extract.found and extract.done):
            return expected
        n = grown(extract.found, extract.done, max(extract.total, extract.done))
        return (extract.done * n + _PRIOR * expected) / (extract.done + _PRIOR)

    def calls_at_end(self, forecast: Forecast, name: str, at_start: Amount, so_far: Amount, ratio: float) -> float:
        """Estimate the calls that the stage will have made. ratio: of entities to be expected now to those of the
        forecast."""
        grows_with, state = self.kind.stage(name).calls, self.state(name)
        if self.ended(name):
            return so_far.calls
        if grows_with == CHUNKS:
            return so_far.calls + at_start.calls * (1 - _share_read(forecast, state))
        if grows_with == UNITS and state.total:
            return so_far.calls + _calls_ahead(state, so_far.calls)
        return max(so_far.calls, at_start.calls * (ratio if grows_with in (ENTITIES, UNITS) else 1.0))


def _expected(stage: StageForecast) -> Amount:
    tokens = stage.prompt_tokens.expected + stage.completion_tokens.expected
    return Amount(stage.calls.expected, tokens, stage.dollars.expected)


def _so_far(usage: Usage) -> Amount:
    return Amount(usage.calls, usage.prompt_tokens + usage.completion_tokens, usage.cost)


def _share_read(forecast: Forecast, state: StageState) -> float:
    """Return the share of the chunks without stored answers that are done, the others being taken first."""
    stored = min(forecast.sampled, forecast.chunks)
    missing = forecast.chunks - stored
    return min(1.0, max(0.0, (state.done - stored) / missing)) if missing else 1.0


def _calls_ahead(state: StageState, calls: float) -> float:
    """Estimate the calls for the units ahead, at the calls a unit so far; stored answers take none."""
    each = (calls + _PRIOR) / (state.done + _PRIOR)
    return max(0, state.total - state.done) * min(1.0, each)


def _priced(calls: float, expected: Amount, so_far: Amount) -> Amount:
    """Estimate tokens and dollars of those calls: what was taken, and the rest at the price of a call so far."""
    ahead = max(0.0, calls - so_far.calls)

    def total(spent: float, planned: float) -> float:
        each = planned / expected.calls if expected.calls else 0.0
        return spent + ahead * (spent + _PRIOR * each) / (so_far.calls + _PRIOR)

    return Amount(calls, total(so_far.tokens, expected.tokens), total(so_far.dollars, expected.dollars))


def _seconds_left(forecast: Forecast, outlooks: Sequence[StageOutlook], stages: _Stages) -> float | None:
    """Estimate the seconds left: calls ahead at the calls a second so far (at first: as forecast), and the texts
    that are embedded here."""
    if all(state.status == "waiting" for state in stages.states):
        return None
    calls_made = sum(stage.so_far.calls for stage in outlooks)
    ahead = sum(max(0.0, stage.at_end.calls - stage.so_far.calls) for stage in outlooks)
    asking = sum(stages.state(stage.forecast.stage).seconds for stage in outlooks)
    planned = sum(stage.expected.calls for stage in outlooks)
    expected = forecast.seconds.expected / planned if planned else 0.0
    # Before the first reply calls that are waited for longer than expected take longer than expected.
    each = (asking + _PRIOR * expected) / (calls_made + _PRIOR) if calls_made else max(expected, asking / _PRIOR)
    left = ahead * each
    embeds_here = any(stage.name == "embed" for stage in stages.kind.stages) and all(
        stage.forecast.stage != "embed" for stage in outlooks
    )
    if embeds_here and not stages.ended("embed"):
        texts = stages.state("embed")
        entities = stages.state("merge").total or stages.entities(forecast.entities.expected)
        slow = texts.seconds / texts.done if texts.done else SECONDS_A_TEXT
        left += max(0.0, (texts.total or _TEXTS_AN_ENTITY * entities) - texts.done) * slow
    return left


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
    stages = _stages(kind, spec.config, progress, until, finished=status == "done")
    seconds = max(0.0, until - (started or created))
    forecast = next((event.forecast for event in events if event.forecast), None)
    spending = next((event.spent for event in reversed(events) if event.spent), NO_SPENDING)
    ahead = outlook(kind, forecast, spending, stages)
    by_stages = _share(kind, stages)
    is_counted = all(stage.done or not stage.total for stage in stages if stage.status == "running")
    share, left = _share_and_left(by_stages, seconds, ahead, is_counted=is_counted)
    if spec.arguments.get("batch"):  # nobody knows when a provider answers
        share, left = by_stages, None
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
        batch=progress[-1].batch if progress and status == "running" else None,
    )


def _error(ending: JobEvent | None) -> Message | None:
    if ending is None or not ending.error:
        return None
    return message("plain", text=ending.error) if isinstance(ending.error, str) else ending.error


def _unfinished(created: float, *, running: bool, started: bool) -> str:
    if running:
        return "running" if started else "queued"
    return "queued" if not started and time.time() - created < _START_SECONDS else "interrupted"


def _stages(
    kind: JobKind, config: Mapping[str, Any], progress: Sequence[JobEvent], until: float, *, finished: bool
) -> tuple[StageState, ...]:
    """Return the stages that a job with this config has. A stage's seconds are those between its events and the next
    event of any stage. Stages that the kind does not list follow those that it lists."""
    names = tuple(dict.fromkeys([*(stage.name for stage in kind.stages), *(event.stage for event in progress)]))
    absent = {stage.name for stage in kind.stages if stage.needs and not config.get(stage.needs)}
    seconds = dict.fromkeys(names, 0.0)
    last: dict[str, JobEvent] = {}
    for event, following in zip(progress, [*progress[1:], None], strict=False):
        seconds[event.stage] += (following.at if following else until) - event.at
        last[event.stage] = event
    current = progress[-1].stage if progress else None
    states = []
    for name in (name for name in names if name not in absent):
        latest = last.get(name)
        if latest is None:
            states.append(StageState(name, "done" if finished else "waiting"))
        else:
            status = "running" if name == current and not finished else "done"
            amounts = latest.done, latest.total, latest.unit, seconds[name]
            states.append(StageState(name, status, *amounts, latest.found or 0, latest.relations or 0))
    return tuple(states)


def _share_and_left(
    by_stages: float, seconds: float, ahead: Outlook | None, *, is_counted: bool
) -> tuple[float, float | None]:
    """Return the share of the job that is done, and seconds ahead: by the outlook where there is one, else by the
    share of its stages. The share is never above that of the tokens that are read and written: time that went by
    without a reply is no work. is_counted: the running stage has done something that is counted."""
    if ahead is not None and ahead.seconds_left is not None:
        by_time = seconds / max(1e-6, seconds + ahead.seconds_left)
        tokens = ahead.at_end.tokens
        return min(0.99, by_time, ahead.so_far.tokens / tokens if tokens else 1.0), ahead.seconds_left
    knows_pace = by_stages and (by_stages > 0.05 or (seconds > 20 and is_counted))
    return by_stages, seconds * (1 - by_stages) / by_stages if knows_pace else None


def _share(kind: JobKind, stages: tuple[StageState, ...]) -> float:
    """Return the share of the whole job that is done, from each stage's usual share of the time. Stages that were
    passed over do not count."""
    job_stages, share_done, share_of_all = _Stages(kind, stages), 0.0, 0.0
    for state in stages:
        if state.status == "waiting" and job_stages.ended(state.name):
            continue
        part = 1.0 if state.status == "done" else state.done / state.total if state.total else 0.0
        share_done += kind.stage(state.name).share * min(1.0, part)
        share_of_all += kind.stage(state.name).share
    return min(0.99, share_done / share_of_all) if share_of_all else 0.0
