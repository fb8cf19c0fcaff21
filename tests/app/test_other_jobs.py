"""Jobs that are no builds, of another version or of another kind, on every page."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.evaluation.run_titles import with_ids
from leanrag_core.files.records import plain
from leanrag_core.jobs import store as job_store
from leanrag_core.jobs.events import JobLog, JobSpec, create_job, job_lock, read_spec
from leanrag_core.jobs.kinds import EXPERIMENT, KINDS, SWEEP
from leanrag_core.types.experiment import ExperimentSpec, RunSpec
from leanrag_core.types.job import JobReport
from leanrag_core.types.sweep import Axis, SweepSpec
from tests.app import drawn
from tests.app.conftest import CORPUS
from tests.app.job_records import FAILED, HOSTILE, LONG_AGO, STARTED, a_job, progress
from tests.jobs.survey import SURVEY

Visit = Callable[..., AppTest]


@pytest.mark.parametrize("page", ["library", "build", "explore", "ask", "compare", "evaluate", "settings"])
def test_jobs_of_another_version_take_no_page_down(page: str, home: Workbench, visit: Visit) -> None:
    foreign = a_job(home, STARTED, name="foreign")
    record = json.loads((foreign / "spec.json").read_text())
    (foreign / "spec.json").write_text(json.dumps({**record, "kind": HOSTILE}))
    running = a_job(home, STARTED, progress("proof-read", 1, 4, "pages"), name="running")
    with job_lock(running).acquire():
        app = visit(page, home)
    drawn.assert_sound(app)


def test_a_job_of_another_kind_is_shown_and_left_alone(home: Workbench, visit: Visit) -> None:
    foreign = a_job(home, STARTED, name="foreign")
    record = json.loads((foreign / "spec.json").read_text())
    (foreign / "spec.json").write_text(json.dumps({**record, "kind": "survey"}))
    app = visit("build", home, job="foreign")
    drawn.assert_sound(app)
    assert "The job foreign is of the kind 'survey', unknown to this version: it is left alone." in drawn.text(app)
    assert [button.key for button in app.button if button.key and button.key.endswith("_foreign")] == []
    app.button("away").click().run()
    drawn.assert_sound(app)
    assert any(button.key == "earlier_foreign" for button in app.button)


@pytest.mark.parametrize(("language", "written"), [("en", "Index partsRelation vectors"), ("zh", "索引部件关系向量")])
def test_parts_that_a_job_makes_are_named_by_their_titles(
    language: str, written: str, home: Workbench, visit: Visit
) -> None:
    folder = home.root / "jobs" / "one"
    create_job(folder, JobSpec("one", "Bees", "", {}, {}, LONG_AGO, EXPERIMENT.name))
    log = JobLog(folder)
    for event, fields in (STARTED, progress("parts", 0, 2, "parts", "relation_vectors")):
        log.write(event, **fields)
    with job_lock(folder).acquire():
        app = visit("build", home, job="one", lang=language)
    drawn.assert_sound(app)
    assert written in drawn.text(app)
    assert "relation_vectors" not in drawn.text(app)


@pytest.mark.parametrize(
    ("language", "written"),
    [("en", "Questions|LeanRAG, N 20|Questions|LeanRAG, N 10"), ("zh", "问题|LeanRAG，N 20|问题|LeanRAG，N 10")],
)
def test_runs_that_a_job_asks_are_named_by_their_titles(
    language: str, written: str, home: Workbench, visit: Visit
) -> None:
    index = home.indexes.all()[0].id
    runs = (RunSpec("", index, "leanrag"), RunSpec("", index, "leanrag", {"top_n": 20}))
    config = plain(ExperimentSpec("Trial", "sample-agriculture", with_ids(runs), "leanrag"))
    folder = home.root / "jobs" / "one"
    create_job(folder, JobSpec("one", "Trial", "", config, {}, LONG_AGO, EXPERIMENT.name))
    log = JobLog(folder)
    for event, fields in (
        STARTED,
        progress("questions", 1, 6, "results", "leanrag"),
        progress("questions", 3, 6, "results", "leanrag-2"),
    ):
        log.write(event, **fields)
    with job_lock(folder).acquire():
        app = visit("build", home, job="one", lang=language)
    drawn.assert_sound(app)
    [feed] = [each.proto.body for each in app.get("html") if "lr-feed now" in each.proto.body]
    assert re.sub("(<[^>]*>)+", "|", feed.partition('"lr-feed now">')[2]).strip("|") == written


def test_points_that_a_sweep_asks_are_named_by_the_titles_of_their_settings(home: Workbench, visit: Visit) -> None:
    spec = SweepSpec("Sizes", (Axis("cluster_size", (3, 4)),), "sample-agriculture", corpus=CORPUS)
    folder = home.root / "jobs" / "one"
    create_job(folder, JobSpec("one", "Sizes", "", plain(spec), {}, LONG_AGO, SWEEP.name))
    log = JobLog(folder)
    for event, fields in (STARTED, progress("questions", 1, 6, "results", "cluster_size 4")):
        log.write(event, **fields)
    with job_lock(folder).acquire():
        app = visit("build", home, job="one")
    drawn.assert_sound(app)
    assert "Questionsclustersize 4" in drawn.text(app)


@pytest.fixture
def with_sweeps(home: Workbench, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """Return the home in a version that has a third kind of job."""
    monkeypatch.setattr(job_store, "KINDS", (*KINDS, SURVEY))
    return home


def a_sweep(bench: Workbench, *events: tuple[str, dict[str, Any]], name: str = "one") -> Path:
    folder = bench.root / "jobs" / name
    create_job(folder, JobSpec(name, f"Sweep {HOSTILE}", "", {"values": 3}, {}, LONG_AGO, SURVEY.name))
    log = JobLog(folder)
    for event, fields in events:
        log.write(event, **fields)
    return folder


@pytest.mark.parametrize("page", ["library", "build", "explore", "ask", "compare", "evaluate", "settings"])
def test_a_running_job_that_is_no_build_is_shown_on_every_page(page: str, with_sweeps: Workbench, visit: Visit) -> None:
    settings, answers = progress("settings", 1, 1), progress("answers", 5, 10, "answers", "the queen")
    folder = a_sweep(with_sweeps, STARTED, settings, answers)
    with job_lock(folder).acquire():
        app = visit(page, with_sweeps)
        drawn.assert_sound(app)
        if page != "build":
            assert app.button("running_one").label.replace("\\", "") == f"Sweep {HOSTILE}, 55\u00a0%"
            return
    page_text = drawn.text(app)
    assert "Answering questions" in page_text
    assert "55 % of the whole job" in page_text
    assert "Questions5of 10" in page_text
    assert "answeredthe queen" in page_text
    assert "Values 3" in page_text
    assert "Safe to close: the work goes on." in page_text
    assert "Building" not in page_text


def test_a_done_job_that_is_no_build_shows_what_it_made(with_sweeps: Workbench, visit: Visit) -> None:
    report = JobReport({"answers": 1234, "bytes": 3_000_000})
    a_sweep(with_sweeps, STARTED, progress("answers", 10, 10), ("done", {"result": "survey-1", "report": report}))
    app = visit("build", with_sweeps, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert f"Sweep {HOSTILE} is done" in page_text
    assert "Answers given1,234" in page_text
    assert "Size3.0 MB" in page_text
    assert "The index of this build has been deleted." not in page_text
    assert [button.key for button in app.button if button.key in ("explore_one", "ask_one")] == []


def test_the_card_of_an_experiment_says_its_settings_in_words_and_what_is_kept(home: Workbench, visit: Visit) -> None:
    config = {"title": "Trial", "question_set": "sample-agriculture", "runs": [], "answers": False, "seed": 3}
    folder = home.root / "jobs" / "one"
    create_job(folder, JobSpec("one", "Trial", "", config, {}, LONG_AGO, "experiment"))
    log = JobLog(folder)
    log.write("started", pid=1)
    log.write("cancelled", error="Stopped as asked.")
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Random seed 3." in page_text
    assert "What is finished is kept." in page_text
    assert [text for text in ("answers False", "title Trial", "half-finished") if text in page_text] == []


def test_an_ended_job_that_is_no_build_is_resumed_as_what_it_was(
    with_sweeps: Workbench, visit: Visit, launched: list[Path]
) -> None:
    a_sweep(with_sweeps, STARTED, FAILED)
    app = visit("build", with_sweeps, job="one")
    assert f"Sweep {HOSTILE} failed" in drawn.text(app)
    app.button("resume_one").click().run()
    drawn.assert_sound(app)
    [folder] = launched
    assert (read_spec(folder).kind, read_spec(folder).config) == (SURVEY.name, {"values": 3})


def test_a_running_job_that_is_no_build_does_not_promise_an_index(
    empty_home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_store, "KINDS", (*KINDS, SURVEY))
    a_job(empty_home, STARTED, ("cancelled", {}), name="zero")  # so that no sample index is begun
    folder = a_sweep(empty_home, STARTED, progress("answers", 5, 10))
    with job_lock(folder).acquire():
        app = visit("explore", empty_home)
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "The first one is being built." not in page_text
    assert "Build one from a corpus" in page_text


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {"chunk_tokens": "many", "tau": {"a": 1}}},
        {"arguments": {"name": "", "budget": {"dollars": -1.0}}},
        {"arguments": {"name": "", "budget": 7}},
        {"created": "yesterday"},
    ],
)
def test_a_record_with_values_of_another_kind_takes_no_page_down(
    changes: dict[str, Any], home: Workbench, visit: Visit
) -> None:
    folder = a_job(home, STARTED, FAILED)
    record = json.loads((folder / "spec.json").read_text())
    (folder / "spec.json").write_text(json.dumps({**record, **changes}))
    for parameters in ({"job": "one"}, {}):
        app = visit("build", home, **parameters)
        drawn.assert_sound(app)
    assert any((button.key or "") == "earlier_one" for button in app.button)
