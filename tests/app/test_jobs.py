"""Builds in every state, as the Build page shows them: written by hand, without a process."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs import store as job_store
from leanrag_core.jobs.events import JobLog, JobSpec, create_job, job_lock, read_spec
from leanrag_core.jobs.kinds import KINDS
from leanrag_core.types.job import JobReport
from leanrag_core.types.progress import Progress
from tests.app import drawn
from tests.app.conftest import CORPUS
from tests.jobs.survey import SURVEY

Visit = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) $a$"
LONG_AGO = "2026-01-02T03:04:05+00:00"


def a_job(bench: Workbench, *events: tuple[str, dict[str, Any]], title: str = "Bees", name: str = "one") -> Path:
    folder = bench.root / "jobs" / name
    config = asdict(IndexConfig(cluster_size=7))
    create_job(folder, JobSpec(name, title, CORPUS, config, {"name": title}, LONG_AGO))
    log = JobLog(folder)
    for kind, facts in events:
        log.write(kind, **facts)
    return folder


def progress(stage: str, done: int, total: int, unit: str = "chunks", current: str = "") -> tuple[str, dict[str, Any]]:
    return "progress", Progress(stage, done, total, unit, current).__dict__


STARTED: tuple[str, dict[str, Any]] = ("started", {"pid": 1})
FAILED: tuple[str, dict[str, Any]] = (
    "failed",
    {"error": "the disk is full. Free some space, then resume.", "details": f"Traceback: {HOSTILE}"},
)


def test_a_failed_build_says_why_and_what_to_do(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    a_job(home, STARTED, progress("extract", 3, 9), FAILED)
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Bees could not be built" in page_text
    assert "during extract" in page_text
    assert "What went wrong. The disk is full. Free some space, then resume." in page_text
    assert "Nothing half-finished is left behind." in page_text
    assert [block.value for block in app.code] == [f"Traceback: {HOSTILE}"]
    assert any('class="lr-st stopped"' in body for body in drawn.html(app)), "no wheel turns any more"

    app.button("resume_one").click().run()
    drawn.assert_sound(app)
    [again] = launched
    assert read_spec(again).config["cluster_size"] == 7
    assert read_spec(again).corpus_id == CORPUS
    assert app.query_params["job"] == again.name
    assert "Starting the build of Bees" in drawn.text(app)


def test_an_interrupted_build_can_be_resumed(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    a_job(home, STARTED, progress("embed", 10, 40, "texts"))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Bees was interrupted" in page_text
    assert (
        "The build's process ended before it was done. Resuming starts it from the beginning, with the same settings."
        in page_text
    )
    app.button("resume_one").click().run()
    assert len(launched) == 1


def test_a_build_that_never_began_is_interrupted(home: Workbench, visit: Visit) -> None:
    a_job(home)
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    assert "Bees was interrupted" in drawn.text(app)


def test_a_cancelled_build_can_be_resumed(home: Workbench, visit: Visit) -> None:
    a_job(home, STARTED, ("cancelled", {"error": "Stopped as asked."}))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    assert "Bees was cancelled" in drawn.text(app)
    assert not app.button("resume_one").disabled


def test_a_running_build_shows_its_stages_and_can_be_cancelled(home: Workbench, visit: Visit) -> None:
    folder = a_job(home, STARTED, progress("parse", 3, 3, "documents"), progress("extract", 3, 9, current=HOSTILE))
    with job_lock(folder).acquire():
        app = visit("build", home)
        drawn.assert_sound(app)
        page_text = drawn.text(app)
        assert "Extracting entities and relations" in page_text
        assert "3 of 9 chunks" in page_text
        assert HOSTILE in page_text, "what was written just now is shown as it is"
        assert "Safe to close: the build goes on." in page_text
        assert app.query_params["job"] == "one", "the running build is in the link"
        app.button("cancel_one").click().run()
        drawn.assert_sound(app)
    assert (folder / "cancel").exists()


def test_a_build_that_is_done_reports_its_counts(home: Workbench, visit: Visit) -> None:
    [index] = home.indexes()
    drops = JobReport(drops={"merge": 2, HOSTILE: 1})
    a_job(home, STARTED, progress("index", 31, 31, "vectors"), ("done", {"result": index.id, "report": drops}))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Bees is built" in page_text
    assert "Entities21in layer 0" in page_text
    assert "Merge2" in page_text
    app.button("explore_one").click().run()
    drawn.assert_sound(app)
    assert "21 entities in 4 layers" in drawn.text(app)


def test_explore_beside_the_list_opens_the_chosen_index(home: Workbench, visit: Visit) -> None:
    first = home.indexes()[0].path
    shutil.copytree(first, first.with_name("other"))
    home.rename_index("other", "The other")
    app = visit("build", home, index=first.name)
    app.selectbox("index_chosen").set_value("other").run()
    app.button("explore_index").click().run()
    drawn.assert_sound(app)
    assert "The other: 21 entities in 4 layers" in drawn.text(app)
    assert app.query_params["index"] == "other"


def test_a_build_whose_index_was_deleted_says_so(home: Workbench, visit: Visit) -> None:
    a_job(home, STARTED, ("done", {"result": "deleted", "report": JobReport()}))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    assert "The index of this build has been deleted." in drawn.text(app)
    app.button("away").click().run()
    assert "job" not in app.query_params


@pytest.mark.parametrize("events", [(STARTED, FAILED), (STARTED,), ()])
def test_a_hostile_title_of_a_build_is_text(events: Any, home: Workbench, visit: Visit) -> None:
    a_job(home, *events, title=HOSTILE)
    a_job(home, STARTED, ("failed", {"error": HOSTILE, "details": ""}), title=HOSTILE, name="two")
    live = a_job(home, STARTED, progress("parse", 0, 3), title=HOSTILE, name="three")
    with job_lock(live).acquire():
        app = visit("build", home, job="two")
        drawn.assert_sound(app)
        assert f"{HOSTILE} could not be built" in drawn.text(app)
        assert any(label.startswith("Also running") for label in drawn.labels(app))
        assert any(label.startswith("Earlier builds") for label in drawn.labels(app))


def test_pressing_build_starts_a_job_with_the_settings_of_the_form(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    app = visit("build", home, b_cluster_size="7", b_tau="4")
    app.text_input("index_name").input(HOSTILE)
    app.button("primary_build").click().run()
    drawn.assert_sound(app)
    [folder] = launched
    spec = json.loads((folder / "spec.json").read_text())
    assert (spec["title"], spec["config"]["cluster_size"], spec["config"]["tau"]) == (HOSTILE, 7, "4")
    assert f"Starting the build of {HOSTILE}" in drawn.text(app)


def test_a_preset_fills_the_form_with_the_papers_values(home: Workbench, visit: Visit) -> None:
    app = visit("build", home)
    app.pills("preset").set_value("Paper: Legal").run()
    drawn.assert_sound(app)
    names = ("chunk_tokens", "overlap_tokens", "cluster_size")
    assert [app.number_input(f"lr_b_{name}").value for name in names] == [1024, 128, 20]
    assert [app.number_input(f"lr_b_{name}").value for name in ("smoothing", "concatenation_tokens")] == [0, 1000]
    assert app.toggle("lr_b_size_cap").value is False, "the paper's mixture has no cap"
    assert "Top-N 15, top-C 10 and their budgets are set on Ask." in drawn.text(app)
    app.switch_page("../../ask.py").run()
    kept = {name: app.number_input(f"lr_leanrag_{name}").value for name in ("entity_tokens", "chunk_tokens")}
    assert kept == {"entity_tokens": 9000, "chunk_tokens": 12000}
    assert app.slider("lr_n").value == 15
    app.switch_page("../../build.py").run()
    assert app.pills("preset").value == "Paper: Legal"
    app.number_input("lr_b_cluster_size").set_value(8).run()
    assert app.pills("preset").value in (None, []), "the form no longer holds the preset"


def test_another_preset_takes_back_what_the_one_before_set_on_ask(home: Workbench, visit: Visit) -> None:
    app = visit("build", home)
    app.pills("preset").set_value("Paper: Legal").run()
    app.switch_page("../../ask.py").run()
    app.slider("lr_c").set_value(7).run()  # from now on only a person changes it
    app.switch_page("../../build.py").run()
    app.pills("preset").set_value("Default").run()
    drawn.assert_sound(app)
    app.switch_page("../../ask.py").run()
    values = {widget.label: widget.value for widget in app.slider}
    assert values == {"Top-N seeds": 10, "Top-C chunks": 7}


def test_renaming_asks_for_the_name(home: Workbench, visit: Visit) -> None:
    home.rename_index(home.indexes()[0].id, HOSTILE)
    app = visit("build", home)
    app.button("rename_index").click().run()
    drawn.assert_sound(app)
    assert next(element.value for element in app.text_input if element.label == "Name") == HOSTILE


def test_a_deleted_index_can_be_taken_back(home: Workbench, visit: Visit) -> None:
    index = home.indexes()[0]
    home.rename_index(index.id, HOSTILE)
    app = visit("build", home, index=index.id)
    app.button("delete_index").click().run()
    drawn.assert_sound(app)
    assert home.indexes() == []
    assert HOSTILE in drawn.text(app)
    assert "is deleted" in drawn.text(app)
    assert "No index yet." in drawn.text(app)
    app.button(f"take_back_{index.id}").click().run()
    drawn.assert_sound(app)
    assert [each.id for each in home.indexes()] == [index.id]
    assert "is deleted" not in drawn.text(app)


def test_the_space_of_a_deleted_index_can_be_freed_at_once(home: Workbench, visit: Visit) -> None:
    index = home.indexes()[0]
    app = visit("build", home)
    app.button("delete_index").click().run()
    app.button(f"end_deletion_{index.id}").click().run()
    drawn.assert_sound(app)
    assert home.held_deletions() == []
    assert [path for path in home.index_store.root.iterdir() if path.is_dir()] == []


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


def test_a_running_build_names_its_corpus_and_index_and_counts_what_it_has_found(home: Workbench, visit: Visit) -> None:
    read = Progress("extract", 3, 9, "chunks", HOSTILE, found=12, relations=34).__dict__
    folder = a_job(home, STARTED, progress("parse", 3, 3, "documents"), ("progress", read), title=HOSTILE)
    with job_lock(folder).acquire():
        app = visit("build", home)
        drawn.assert_sound(app)
        page_text = drawn.text(app)
        assert f"Index {HOSTILE}from the corpus Bees, 3 documents" in page_text
        assert "Chunks read3of 9" in page_text
        assert "Entities12before merging" in page_text
        assert "Relations34before merging" in page_text
        assert f"found{HOSTILE}" in page_text
        JobLog(folder).write("progress", **Progress("merge", 8, 8, "entities", "ant", found=8, relations=5).__dict__)
        JobLog(folder).write("progress", **Progress("aggregate entities", 2, 3, "clusters", "Hive pests").__dict__)
        page_text = drawn.text(app.run())
        assert "Entities8in layer 0" in page_text
        assert "Aggregated2entities above layer 0" in page_text
        assert "aggregatedHive pests" in page_text


def test_a_build_that_has_found_nothing_yet_says_what_it_is_at(home: Workbench, visit: Visit) -> None:
    folder = a_job(home, STARTED, progress("extract", 0, 9))
    with job_lock(folder).acquire():
        page_text = drawn.text(visit("build", home))
    assert "The documents are being read; names are listed here as they are found." in page_text
    assert "Nothing yet" not in page_text


@pytest.mark.parametrize("page", ["library", "explore", "ask", "compare", "evaluate", "settings"])
def test_a_running_build_is_seen_from_every_page(page: str, home: Workbench, visit: Visit) -> None:
    folder = a_job(home, STARTED, progress("extract", 9, 9))
    with job_lock(folder).acquire():
        app = visit(page, home)
        drawn.assert_sound(app)
        line = app.button("running_one")
        assert re.fullmatch(r"Building Bees, \d+ %", line.label.replace("\\", ""))
        line.click().run()
        drawn.assert_sound(app)
        assert app.query_params["job"] == "one"
        assert "Index Bees" in drawn.text(app), "the link leads to the build"


def test_no_page_mentions_builds_when_none_is_under_way(home: Workbench, visit: Visit) -> None:
    a_job(home, STARTED, FAILED)
    assert [button.key for button in visit("library", home).button if (button.key or "").startswith("running_")] == []


def test_on_a_first_start_the_library_says_that_an_index_is_being_built(empty_home: Workbench, visit: Visit) -> None:
    app = visit("library", empty_home)
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "No index yet.The first one is being built." in page_text
    assert "its index is being built" in page_text
    assert "Build one from a corpus" not in page_text


@pytest.fixture
def with_sweeps(home: Workbench, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """The home in a version that has a third kind of job."""
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
            assert app.button("running_one").label.replace("\\", "") == f"Sweep {HOSTILE}, 55 %"
            return
    page_text = drawn.text(app)
    assert "Answering questions, 55 %" in page_text
    assert "Questions5of 10" in page_text
    assert "answeredthe queen" in page_text
    assert "values 3" in page_text
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


def test_a_build_that_waits_for_another_one_of_its_index_says_so(home: Workbench, visit: Visit) -> None:
    folder = a_job(home, STARTED, ("waiting", {}))
    with job_lock(folder).acquire():
        app = visit("build", home)
        drawn.assert_sound(app)
        assert "Bees waits for another build of the same index" in drawn.text(app)
        JobLog(folder).write("turn")
        JobLog(folder).write("progress", **Progress("parse", 1, 3, "documents").__dict__)
        assert "Reading documents" in drawn.text(app.run())


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
