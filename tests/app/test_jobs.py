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

from leanrag_core import Workbench
from leanrag_core.jobs.events import JobLog, job_lock, read_spec
from leanrag_core.types.calls import Budget, Spending, Usage
from leanrag_core.types.job import JobReport, Progress
from tests.app import drawn
from tests.app.conftest import CORPUS
from tests.app.job_records import FAILED, HOSTILE, STARTED, a_job, progress

Visit = Callable[..., AppTest]


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
        "The build's process ended before it was done. Resuming takes over what is finished and goes on, with the "
        "same settings." in page_text
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


def test_what_a_cancelled_build_has_paid_leaves_out_calls_in_flight_and_says_so(home: Workbench, visit: Visit) -> None:
    spent = ("spent", {"spent": Spending(usage=Usage(calls=3, prompt_tokens=900, completion_tokens=100))})
    a_job(home, STARTED, spent, ("cancelled", {"error": "Stopped as asked."}))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    assert "3 calls" in drawn.text(app)
    assert "without calls that were in flight when it was cancelled" in drawn.text(app)


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
    [index] = home.indexes.all()
    drops = JobReport(drops={"merge": 2, HOSTILE: 1})
    a_job(home, STARTED, progress("index", 31, 31, "vectors"), ("done", {"result": index.id, "report": drops}))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Bees is built" in page_text
    assert f"from the corpus Bees, {index.documents} documents" in page_text
    assert "Entities21in layer 0" in page_text
    assert "Merge2" in page_text
    app.button("explore_one").click().run()
    drawn.assert_sound(app)
    assert "21 entities, " in drawn.text(app)
    assert home.add_documents(CORPUS, [("later.txt", b"Honey bees like clover in June. " * 9)]).added
    told = f"from the corpus Bees, {index.documents} documents"
    assert told in drawn.text(visit("build", home, job="one")), "those that it was built from"


def test_a_build_of_which_few_chunks_gave_entities_is_built_with_gaps(home: Workbench, visit: Visit) -> None:
    [index] = home.indexes.all()
    counts = {"chunks": 8, "relations": (8, 1), "empty_chunks": 5}
    folder = a_job(home, STARTED, ("done", {"result": index.id, "report": JobReport(counts)}))
    gaps = "built with gaps: only 3 of 8 chunks gave entities, 1.0 relations a chunk"
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    assert gaps in drawn.text(app)
    assert "usual" not in drawn.text(app)  # the built-in engine relates what stands together, many times as often
    spec = json.loads((folder / "spec.json").read_text())
    (folder / "spec.json").write_text(json.dumps(spec | {"config": spec["config"] | {"model": "openai:m"}}))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    assert f"{gaps} (usual: 5 to 14)" in drawn.text(app)


def test_explore_beside_the_list_opens_the_chosen_index(home: Workbench, visit: Visit) -> None:
    first = home.indexes.all()[0].path
    shutil.copytree(first, first.with_name("other"))
    home.indexes.rename("other", "The other")
    app = visit("build", home, index=first.name, ticked="other")
    app.button("explore_index").click().run()
    drawn.assert_sound(app)
    assert "The other: 21 entities, " in drawn.text(app)
    assert app.query_params["index"] == "other"


def test_the_sidebar_of_build_chooses_the_index_that_was_just_built(home: Workbench, visit: Visit) -> None:
    first = home.indexes.all()[0].path
    folder = a_job(home, STARTED, progress("extract", 3, 9))
    with job_lock(folder).acquire():
        app = visit("build", home, index=first.name)
        assert app.selectbox("lr_index").value == first.name
    shutil.copytree(first, first.with_name("other"))
    home.indexes.rename("other", "The other")
    JobLog(folder).write("done", result="other", report=JobReport())
    for _ in range(2):
        app.run()
        drawn.assert_sound(app)
        assert app.selectbox("lr_index").value == "other"
        assert app.query_params["index"] == "other"
    app.selectbox("lr_index").set_value(first.name).run()
    assert app.query_params["index"] == first.name, "a person's own choice stays"


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


def test_a_running_build_names_its_corpus_and_index_and_counts_what_it_has_found(home: Workbench, visit: Visit) -> None:
    read = Progress("extract", 3, 9, "chunks", HOSTILE, found=12, relations=34).record()
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
        JobLog(folder).write("progress", **Progress("merge", 8, 8, "entities", "ant", found=8, relations=5).record())
        JobLog(folder).write("progress", **Progress("aggregate entities", 2, 3, "clusters", "Hive pests").record())
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
        assert re.fullmatch(r"Building Bees, \d+\u00a0%", line.label.replace("\\", ""))
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


def test_a_build_that_waits_for_another_one_of_its_index_says_so(home: Workbench, visit: Visit) -> None:
    folder = a_job(home, STARTED, ("waiting", {}))
    with job_lock(folder).acquire():
        app = visit("build", home)
        drawn.assert_sound(app)
        assert "Bees waits for another build of the same index" in drawn.text(app)
        JobLog(folder).write("turn")
        JobLog(folder).write("progress", **Progress("parse", 1, 3, "documents").record())
        assert "Reading documents" in drawn.text(app.run())


def test_a_build_that_spent_its_budget_goes_on_with_a_larger_one(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    a_job(home, STARTED, ("stopped", {"error": "the budget of 5 tokens is spent"}))
    app = visit("build", home, job="one")
    drawn.assert_sound(app)
    app.number_input("more_tokens_one").set_value(300_000).run()
    app.button("resume_one").click().run()
    drawn.assert_sound(app)
    [folder] = launched
    assert read_spec(folder).arguments["budget"] == asdict(Budget(tokens=300_000))
