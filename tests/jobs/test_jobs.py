import json
import os
import re
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.errors import JobNotFound, JobUnknown, ModelUnavailable
from leanrag_core.jobs import events, runner, state
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.jobs.runner import Done, RunningJob, Slot
from leanrag_core.jobs.store import JobStore
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.batches import BatchProgress
from leanrag_core.types.calls import Spending, Usage
from leanrag_core.types.forecast import Forecast, StageForecast, exactly
from leanrag_core.types.job import JobReport, Progress, Written
from tests.waiting import until

LONG_AGO = "2026-01-02T03:04:05+00:00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    spec = events.JobSpec("job-1", "bees", "corpus-1", {"tau": 3}, {"name": ""}, datetime.now(UTC).isoformat())
    events.create_job(tmp_path / "job-1", spec)
    return tmp_path / "job-1"


class Doing:
    """Work that a function does."""

    def __init__(self, run: Callable[[RunningJob], Done]) -> None:
        self.run = run

    def clean_up(self, spec: events.JobSpec) -> None:
        raise AssertionError("nothing had to be cleaned up")


def do(folder: Path, run: Callable[[RunningJob], Done]) -> int:
    return runner.run(folder, {"build": Doing(run)})


def error_of(folder: Path) -> str:
    error = state.read_state(folder).error
    return sentence(error) if error else ""


def test_a_job_that_ends_well_is_done_and_names_its_result(folder: Path) -> None:
    def work(job: RunningJob) -> Done:
        job.report(Progress("parse", 2, 2, "documents"))
        job.report(Progress("extract", 3, 12, "chunks", "queen"))
        return Done("index-1", JobReport({"chunks": 12, "entities": (3, 1)}, {"merge": 2}))

    assert do(folder, work) == 0
    job = state.read_state(folder)
    assert (job.status, job.result, job.share) == ("done", "index-1", 1.0)
    assert job.report == JobReport({"chunks": 12, "entities": (3, 1)}, {"merge": 2})
    assert job.recent == (Written("extract", "queen"),)
    assert {stage.name: stage.status for stage in job.stages}["extract"] == "done"


def test_a_known_error_keeps_its_code_and_the_details(folder: Path) -> None:
    def work(job: RunningJob) -> Done:
        raise ModelUnavailable("budget.invalid", dollars=-1.0, tokens=0)

    assert do(folder, work) == 1
    job = state.read_state(folder)
    assert job.status == "failed"
    assert job.error == message("budget.invalid", dollars=-1.0, tokens=0)
    assert "Traceback" in job.details


def test_a_full_disk_is_reported_with_the_remedy(folder: Path) -> None:
    def work(job: RunningJob) -> Done:
        raise OSError(28, "No space left on device")

    do(folder, work)
    assert "No space left on device. Free some space" in error_of(folder)


def test_a_request_to_cancel_stops_the_work_at_its_next_report(folder: Path) -> None:
    def work(job: RunningJob) -> Done:
        (folder / "cancel").touch()
        job.report(Progress("extract", 1, 9))
        raise AssertionError("the report should have stopped this")

    do(folder, work)
    assert state.read_state(folder).status == "cancelled"


def test_a_job_that_does_not_listen_is_cleaned_up_before_it_is_cancelled(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exits, seen = threading.Event(), list[str]()

    class Deaf:
        """Work that looks at no request to cancel."""

        def run(self, job: RunningJob) -> Done:
            (folder / "cancel").touch()
            assert exits.wait(60)
            seen.append(state.read_state(folder).status)
            return Done("index-1")

        def clean_up(self, spec: events.JobSpec) -> None:
            seen.append(state.read_state(folder).status)

    monkeypatch.setattr(os, "_exit", lambda code: exits.set())
    monkeypatch.setattr(runner, "_GRACE_SECONDS", 0.0)
    runner.run(folder, {"build": Deaf()})
    assert seen == ["running", "cancelled"]


def test_a_job_that_ends_in_its_grace_time_is_neither_cleaned_up_nor_marked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = events.read_spec(folder)
    finished, ending = threading.Event(), threading.Lock()
    (folder / "cancel").touch()
    monkeypatch.setattr(runner, "_GRACE_SECONDS", 0.0)
    with ending:  # as while the work's own end is written
        args = (folder, job, events.JobLog(folder), Doing(lambda job: Done("")), finished, ending)
        watcher = threading.Thread(target=runner._watch, args=args)
        watcher.start()
        finished.set()
    watcher.join()
    assert not events.JobLog(folder).path.exists()


def test_a_running_job_shows_stage_share_and_time_left(folder: Path) -> None:
    log = events.JobLog(folder)
    now = time.time()
    for kind, facts in (
        ("started", {"pid": 1}),
        ("progress", Progress("parse", 2, 4, "documents").record()),
        ("progress", Progress("parse", 4, 4, "documents").record()),
        ("progress", Progress("extract", 50, 100, "chunks").record()),
    ):
        log.write(kind, **facts)
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    log.path.write_text("".join(json.dumps({**line, "at": now - 40 + 10 * i}) + "\n" for i, line in enumerate(lines)))
    with events.job_lock(folder).acquire():
        job = state.read_state(folder)
    assert job.status == "running"
    stages = {stage.name: stage for stage in job.stages}
    assert (stages["parse"].status, stages["extract"].status, stages["embed"].status) == ("done", "running", "waiting")
    assert (stages["extract"].done, stages["extract"].total) == (50, 100)
    assert stages["parse"].seconds == pytest.approx(20, abs=0.1), "the time of both its events"
    assert 0 < job.share < 1
    assert job.seconds_left == pytest.approx(job.seconds * (1 - job.share) / job.share)


@pytest.mark.parametrize(("done", "is_known"), [(0, False), (1, True)])
def test_the_time_left_of_a_long_stage_is_unknown_until_something_is_counted(
    folder: Path, done: int, is_known: bool
) -> None:
    log = events.JobLog(folder)
    log.write("started", pid=1)
    log.write("progress", **Progress("parse", 4, 4, "documents").record())
    log.write("progress", **Progress("extract", done, 900, "chunks").record())
    log.path.write_text(re.sub(r'"at": ?[\d.]+', f'"at": {time.time() - 30}', log.path.read_text()))
    with events.job_lock(folder).acquire():
        job = state.read_state(folder)
    assert job.share < 0.05
    assert (job.seconds_left is not None) == is_known


EXPERIMENT_EVENTS = [Progress("open", 0, 0), Progress("questions", 0, 128), Progress("questions", 120, 128)]
SWEEP_EVENTS = [Progress("open", 0, 0), Progress("build", 0, 0), Progress("questions", 60, 120)]


@pytest.mark.parametrize(
    ("kind", "config", "reports", "share"),
    [
        ("experiment", {"judges": []}, EXPERIMENT_EVENTS, (0.02 + 0.58 * 120 / 128) / (0.02 + 0.58 + 0.02)),
        ("experiment", {"judges": [{}]}, EXPERIMENT_EVENTS, (0.02 + 0.58 * 120 / 128) / (0.02 + 0.58 + 0.3 + 0.02)),
        ("experiment", {"judges": []}, EXPERIMENT_EVENTS[:1], 0.0),  # its parts may still be made
        ("experiment", {"judges": []}, [EXPERIMENT_EVENTS[0], Progress("parts", 1, 2)], (0.02 + 0.04) / 0.7),
        ("sweep", {"corpus": ""}, SWEEP_EVENTS, (0.02 + 0.22) / (0.02 + 0.44 + 0.02)),
    ],
)
def test_stages_that_a_job_does_not_have_are_no_part_of_its_share(
    kind: str, config: dict[str, Any], reports: list[Progress], share: float, tmp_path: Path
) -> None:
    folder, now = tmp_path / "job-1", datetime.now(UTC).isoformat()
    events.create_job(folder, events.JobSpec("job-1", "Trial", "", config, {}, now, kind))
    log = events.JobLog(folder)
    log.write("started", pid=1)
    for progress in reports:
        log.write("progress", **progress.record())
    with events.job_lock(folder).acquire():
        job = state.read_state(folder)
    assert job.share == pytest.approx(share)
    shown = {stage.name for stage in job.stages}
    assert ("judge" in shown) == bool(config.get("judges"))
    assert ("build" in shown) == bool(config.get("corpus"))


def test_a_job_whose_process_died_is_interrupted(folder: Path) -> None:
    events.JobLog(folder).write("started", pid=999999999)
    assert state.read_state(folder).status == "interrupted"


def test_a_job_that_ends_while_it_is_looked_at_is_not_called_interrupted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = events.JobLog(folder)
    log.write("started", pid=1)

    def ends_now(folder: Path) -> bool:
        log.write("done", result="index-1", report=JobReport())
        return False

    monkeypatch.setattr(events, "is_running", ends_now)
    assert state.read_state(folder).status == "done"


def test_a_half_written_last_line_is_passed_over(folder: Path) -> None:
    log = events.JobLog(folder)
    log.write("started", pid=1)
    with log.path.open("a") as file:
        file.write('{"at": 1, "event": "pro')
    assert [event.event for event in events.EventReader(folder).read()] == ["started"]
    events.JobLog(folder).write("started", pid=2)
    assert [event.pid for event in events.EventReader(folder).read()] == [1, 2], "the next one has a line of its own"


def test_progress_that_was_left_out_is_written_while_the_next_is_awaited(folder: Path) -> None:
    def work(job: RunningJob) -> Done:
        for done in range(18):  # stored answers, at once; the call after them takes long
            job.report(Progress("extract", done, 27, "chunks"))
        until(lambda: 17 in [stage.done for stage in state.read_state(folder).stages], seconds=10)
        return Done("index-1")

    assert do(folder, work) == 0


def test_a_job_that_awaits_batches_leaves_its_slot_and_writes_only_what_has_changed(folder: Path) -> None:
    slot = Slot(folder)
    job = RunningJob(folder, events.read_spec(folder), slot, events.JobLog(folder))
    job.report(Progress("extract", 1, 10))
    assert slot.acquired
    for answered in (0, 0, 4, 4):
        job.report(Progress("extract", 1, 10, batch=BatchProgress(1, 10, answered, since=0.0)))
        assert not slot.acquired
    job.report(Progress("extract", 10, 10))
    assert slot.acquired
    slot.release()
    read = events.EventReader(folder).read()
    assert [event.batch.answered for event in read if event.batch is not None] == [0, 4]


def test_cancelling_a_job_that_nobody_runs_marks_it(folder: Path) -> None:
    runner.ask_to_cancel(folder)
    assert state.read_state(folder).status == "cancelled"


def test_an_unknown_job_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(JobNotFound, match="no job 'none'"):
        state.read_state(tmp_path / "none")


def test_of_the_jobs_that_wait_the_oldest_is_next(tmp_path: Path) -> None:
    older, younger = tmp_path / "20260101-a", tmp_path / "20260102-b"
    for waiting in (older, younger):
        waiting.mkdir()
    (older / "waiting").touch()
    (younger / "waiting").touch()
    with events.job_lock(older).acquire():
        assert runner._is_next(older)
        assert not runner._is_next(younger)
    assert runner._is_next(younger), "the process of the older one is gone"


def test_what_was_spent_is_recorded_at_the_end_of_the_work_even_when_it_fails(folder: Path) -> None:
    reading = Spending(Usage(calls=3), {"extract": Usage(calls=3)}, last_faults=("busy",))
    job = RunningJob(folder, events.read_spec(folder), Slot(folder), events.JobLog(folder))
    with pytest.raises(ValueError, match="no"), job.metered(lambda: reading):
        raise ValueError("no")
    assert state.read_state(folder).spending == reading


def test_with_a_forecast_the_time_left_is_that_of_the_calls_ahead(folder: Path) -> None:
    ten = exactly(10.0)
    log = events.JobLog(folder)
    log.write("started", pid=1)
    log.write("forecast", forecast=Forecast(10, 0, ten, (StageForecast("extract", ten, ten, ten, ten),), ten))
    log.write("progress", **Progress("extract", 0, 10, "chunks").record())
    with events.job_lock(folder).acquire():
        job = state.read_state(folder)
    # 10 calls of a second each, and 11 texts of 0.02 s that are embedded here
    assert job.seconds_left == pytest.approx(10.22, rel=1e-3)
    assert job.share == 0.0, "time that went by without a reply is no work"


def change_spec(folder: Path, **values: Any) -> None:
    record = json.loads((folder / "spec.json").read_text())
    (folder / "spec.json").write_text(json.dumps({**record, **values}))


@pytest.mark.parametrize(
    "values",
    [{"kind": "survey"}, {"kind": 7}, {"config": None}, {"arguments": []}, {"title": None}, {"steps": 3}],
)
def test_a_job_of_another_kind_is_unknown_and_hides_no_other(values: dict[str, Any], folder: Path) -> None:
    later = folder.with_name("job-2")
    events.create_job(later, events.JobSpec("job-2", "wasps", "corpus-1", {}, {"name": ""}, LONG_AGO))
    change_spec(folder, **values)
    store = JobStore(folder.parent, folder.parent)
    assert [(job.id, job.status) for job in store.all()] == [("job-2", "interrupted"), ("job-1", "unknown")]
    assert "left alone" in error_of(folder)
    before = {path.name for path in folder.iterdir()}
    for act in (store.cancel, store.spec):
        with pytest.raises(JobUnknown, match="left alone"):
            act("job-1")
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.parametrize("text", ["", "[]", '"job"', "{", "null", "[" * 100_000])
def test_a_job_whose_record_does_not_read_is_unknown(text: str, folder: Path) -> None:
    (folder / "spec.json").write_text(text)
    assert state.read_state(folder).status == "unknown"


def test_a_stage_that_is_not_known_is_shown_after_those_that_are(folder: Path) -> None:
    log = events.JobLog(folder)
    log.write("started", pid=1)
    log.write("progress", **Progress("extract", 3, 12, "chunks").record())
    log.write("progress", **Progress("proof-read", 1, 4, "pages", "a comma").record())
    with events.job_lock(folder).acquire():
        job = state.read_state(folder)
    assert job.status == "running"
    assert [stage.name for stage in job.stages] == [*(stage.name for stage in BUILD.stages), "proof-read"]
    assert (job.stages[-1].status, job.stages[-1].done, job.stages[-1].total) == ("running", 1, 4)
    assert 0 < job.share < 1


@pytest.mark.parametrize(
    "facts",
    [
        {"event": "progress"},
        {"event": "progress", "stage": "extract", "done": "three", "total": 4},
        {"event": "progress", "stage": ["extract"], "done": 3, "total": 4, "unit": ""},
        {"event": "forecast", "forecast": {"stages": [{"stage": "dream"}], "entities": {"expected": 3}}},
        {"event": "forecast", "forecast": 7},
    ],
)
def test_events_that_do_not_read_make_a_job_unknown(facts: dict[str, Any], folder: Path) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps({"at": 1.0, **facts}) + "\n" + json.dumps({"at": 2.0, **facts}) + "\n")
    assert state.read_state(folder).status == "unknown"


def test_the_state_of_an_ended_job_is_read_once_and_again_when_its_events_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, store = events.JobLog(folder), JobStore(folder.parent, folder.parent)
    log.write("started", pid=1)
    log.write("failed", error="no")
    assert [job.status for job in store.all()] == ["failed"]
    with monkeypatch.context() as patch:
        patch.setattr(state, "read_state", lambda folder, kinds: pytest.fail("it was read again"))
        assert [job.error for job in store.all()] == [message("plain", text="no")]
    log.write("failed", error="no, again")
    assert [job.error for job in store.all()] == [message("plain", text="no, again")]
