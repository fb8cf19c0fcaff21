"""Jobs of a kind that this version does not have: through store, runner, queue and records of older versions."""

import errno
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.errors import JobUnknown, StorageFailed
from leanrag_core.jobs import runner
from leanrag_core.jobs.events import EventReader, JobLog, JobSpec, create_job, job_lock
from leanrag_core.jobs.kinds import BUILD, KINDS
from leanrag_core.jobs.runner import _SLOTS, Done, RunningJob
from leanrag_core.jobs.state import read_state
from leanrag_core.jobs.store import JobStore
from leanrag_core.messages.message import message
from leanrag_core.types.calls import Budget, Spending, Usage
from leanrag_core.types.forecast import Range
from leanrag_core.types.job import JobReport, Progress
from tests.jobs.survey import SURVEY

NOW = "2026-11-22T00:00:00+00:00"


class Doing:
    """Work that a function does."""

    def __init__(self, run: Callable[[RunningJob], Done]) -> None:
        self.run = run

    def clean_up(self, spec: JobSpec) -> None:
        raise AssertionError("nothing had to be cleaned up")


def a_job(root: Path, name: str, kind: str = SURVEY.name) -> Path:
    create_job(root / name, JobSpec(name, "Survey of bees", "", {"values": 3}, {}, NOW, kind))
    return root / name


def test_a_job_of_any_kind_runs_with_its_own_stages_and_report(tmp_path: Path) -> None:
    folder = a_job(tmp_path, "job-1")
    store = JobStore(tmp_path, tmp_path, (*KINDS, SURVEY))
    seen: list[tuple[float, str]] = []

    def work(job: RunningJob) -> Done:
        job.report(Progress("settings", 1, 1))
        job.report(Progress("answers", 5, 10, "answers", "the queen"))
        state = store.job("job-1")
        seen.append((state.share, state.status))
        return Done("survey-1", JobReport({"answers": 10}))

    assert runner.run(folder, {SURVEY.name: Doing(work)}) == 0
    assert seen == [(pytest.approx(0.1 + 0.9 / 2), "running")]
    job = store.job("job-1")
    assert (job.kind, job.status, job.result, job.builds_index) == (SURVEY, "done", "survey-1", False)
    assert [stage.name for stage in job.stages] == ["settings", "answers"]
    assert job.report.counts == {"answers": 10}


def test_a_job_of_a_newer_version_is_neither_run_nor_changed_and_takes_no_slot(tmp_path: Path) -> None:
    folder = a_job(tmp_path, "job-1")
    with pytest.raises(JobUnknown, match="of the kind 'survey'"):
        runner.run(folder, {BUILD.name: Doing(lambda job: Done("never"))})
    assert [path.name for path in folder.iterdir()] == ["spec.json"]
    state = read_state(folder)
    assert (state.status, state.error) == ("unknown", message("job.kind_unknown", job="job-1", kind="survey"))


def test_a_job_whose_process_does_not_start_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: Path, package_root: Path) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(runner, "launch", refused)
    store = JobStore(tmp_path / "jobs", tmp_path)
    with pytest.raises(StorageFailed, match="Bees"):
        store.begin("Bees", "", {}, {})
    assert store.all() == []
    assert not list(store.root.glob("*/spec.json"))


def test_resuming_a_job_of_another_kind_does_the_same_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "launch", lambda folder, package_root: None)
    store = JobStore(tmp_path, tmp_path, (*KINDS, SURVEY))
    first = store.begin("Survey of bees", "", {"values": 3}, {"budget": {"dollars": 0.0, "tokens": 9}}, SURVEY)
    again = store.spec(store.repeat(first, Budget(tokens=70)))
    assert (again.kind, again.title, again.config) == (SURVEY.name, "Survey of bees", {"values": 3})
    assert store.job(again.id).budget == Budget(tokens=70)


def test_jobs_that_wait_for_another_build_of_their_index_leave_their_slots(tmp_path: Path) -> None:
    """Let as many jobs as there are slots wait for an index; a later job for another index still gets its turn."""
    built, other_ran = threading.Event(), threading.Event()
    waiting = {f"job-{n}": threading.Event() for n in range(_SLOTS)}

    def waits(job: RunningJob) -> Done:
        job.report(Progress("settings", 0, 1, waiting=True))
        waiting[job.spec.id].set()
        while not built.wait(0.02):
            job.report(Progress("settings", 0, 1, waiting=True))
        job.report(Progress("settings", 1, 1))
        return Done("same")

    def other(job: RunningJob) -> Done:
        other_ran.set()
        return Done("other")

    folders = [a_job(tmp_path, name) for name in waiting]
    later = a_job(tmp_path, "later")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(_SLOTS + 1) as pool:
        patch.setattr(runner.signal, "signal", lambda number, handler: handler)  # only the main thread may
        ends = [pool.submit(runner.run, folder, {SURVEY.name: Doing(waits)}) for folder in folders]
        assert all(event.wait(60) for event in waiting.values())
        try:
            ends.append(pool.submit(runner.run, later, {SURVEY.name: Doing(other)}))
            assert other_ran.wait(60), "the slots were held by jobs that did nothing"
            state = read_state(folders[0], (SURVEY,))
            assert (state.status, state.waits_for_index) == ("queued", True)
        finally:
            built.set()
        assert [end.result(60) for end in ends] == [0] * (_SLOTS + 1)
    state = read_state(folders[0], (SURVEY,))
    assert (state.status, state.result, state.waits_for_index) == ("done", "same", False)


def test_a_job_can_be_cancelled_while_it_waits_for_its_index(tmp_path: Path) -> None:
    folder = a_job(tmp_path, "job-1")

    def waits(job: RunningJob) -> Done:
        job.report(Progress("settings", 0, 1, waiting=True))
        (folder / "cancel").touch()
        job.report(Progress("settings", 0, 1, waiting=True))
        raise AssertionError("the report should have stopped this")

    assert runner.run(folder, {SURVEY.name: Doing(waits)}) == 1
    assert read_state(folder, (SURVEY,)).status == "cancelled"


def exactly(value: float) -> dict[str, float]:
    return {"low": value, "expected": value, "high": value}


def old_job(root: Path, *events: dict[str, Any]) -> Path:
    """Write a job as versions before kinds stored it."""
    folder = root / "old"
    folder.mkdir(parents=True)
    spec = {"id": "old", "title": "Bees", "corpus_id": "mine", "config": {"tau": None}, "created": NOW}
    arguments = {"name": "", "budget": {"dollars": 2.0, "tokens": 0}}
    (folder / "spec.json").write_text(json.dumps({**spec, "arguments": arguments}))
    lines = [json.dumps({"at": 100.0 + 10 * n, **event}) for n, event in enumerate(events)]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_the_record_of_an_older_version_still_reads(tmp_path: Path) -> None:
    usage = {"calls": 3, "prompt_tokens": 40, "completion_tokens": 5, "seconds": 1.5, "cost": 0.25}
    spent = {"usage": usage, "by_stage": {"extract": usage}, "reused": 2, "faults": 1, "last_faults": ["busy"]}
    stage = {"stage": "extract", "calls": exactly(4), "prompt_tokens": exactly(40), "completion_tokens": exactly(5)}
    forecast = {"chunks": 2, "sampled": 0, "entities": exactly(9), "seconds": exactly(8)}
    counts = {"documents": 1, "chunks": 2, "layers": 2, "entities": [9, 3], "relations": [7, 0], "drops": {"merge": 1}}
    folder = old_job(
        tmp_path,
        {"event": "queued", "pid": 1},
        {"event": "started", "pid": 1},
        {"event": "forecast", "forecast": {**forecast, "stages": [{**stage, "dollars": exactly(0.3), "saved": 1}]}},
        {"event": "progress", "stage": "extract", "done": 2, "total": 2, "unit": "chunks", "current": "ant"},
        {"event": "heartbeat"},
        {"event": "spent", "spent": spent},
        {"event": "done", "result": "mine-1", "report": {"counts": counts, "spent": spent}},
    )
    job = read_state(folder)
    assert (job.kind, job.status, job.result, job.seconds) == (BUILD, "done", "mine-1", 50.0)
    assert job.budget == Budget(dollars=2.0)
    assert job.spending == Spending(
        Usage(3, 40, 5, 1.5, 0.25), {"extract": Usage(3, 40, 5, 1.5, 0.25)}, 2, 1, ("busy",)
    )
    assert job.forecast is not None
    assert job.forecast.calls == Range(4, 4, 4)
    assert [planned.stage for planned in job.forecast.calling] == ["extract"]
    assert job.report.drops == {"merge": 1}
    assert job.report.counts["entities"] == (9, 3)


def test_the_error_of_an_older_version_is_shown_as_it_was_written(tmp_path: Path) -> None:
    folder = old_job(tmp_path, {"event": "started", "pid": 1}, {"event": "failed", "error": "no room", "details": "x"})
    job = read_state(folder)
    assert (job.status, job.error, job.details) == ("failed", message("plain", text="no room"), "x")


def test_events_of_a_running_job_are_written_without_what_they_do_not_say(tmp_path: Path) -> None:
    folder = a_job(tmp_path, "job-1")
    JobLog(folder).progress(Progress("answers", 3, 10, "answers"))
    [line] = (folder / "events.jsonl").read_text().splitlines()
    values = json.loads(line)
    assert {name: values[name] for name in values if name != "at"} == {
        "event": "progress",
        "stage": "answers",
        "done": 3,
        "total": 10,
        "unit": "answers",
    }
    with job_lock(folder).acquire():
        assert read_state(folder, (SURVEY,)).stages[1].done == 3


def test_a_reader_takes_each_event_once_and_keeps_the_last_reading_of_the_meter(tmp_path: Path) -> None:
    folder = a_job(tmp_path, "job-1")
    log, reader = JobLog(folder), EventReader(folder)
    assert reader.read() == ()
    for n in (1, 2):
        log.write("spent", spent=Spending(Usage(calls=n)))
    log.write("heartbeat")
    assert [event.spent and event.spent.usage.calls for event in reader.read()] == [None, 2, None]
    with log.path.open("ab") as file:
        file.write(b'{"at": 3.0, "event": "hea')
    assert len(reader.read()) == 3, "a line that is being written is left for the next time"
    with log.path.open("ab") as file:
        file.write(b'rtbeat"}\n')
    assert [event.event for event in reader.read()] == ["spent", "spent", "heartbeat", "heartbeat"]
    log.path.write_text("")
    assert reader.read() == (), "the file is another one"
