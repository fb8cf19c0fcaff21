"""Build and Ask over an index that a scripted model on the loopback wrote."""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import EndpointRefusal
from leanrag_core.jobs.events import JobLog, JobSpec, create_job, job_lock, read_spec
from leanrag_core.jobs.kinds import REWRITE
from leanrag_core.messages.message import message
from leanrag_core.models.endpoint import Endpoint, Reply
from leanrag_core.storage import layout
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.types.calls import Spending, Usage
from leanrag_core.types.forecast import Forecast, Range, StageForecast
from leanrag_core.types.job import JobReport, Progress
from leanrag_core.types.settings import Price, Settings
from leanrag_core.types.summary import IndexSummary
from leanrag_core.workbench.questions import Questions
from tests.app import drawn
from tests.app.conftest import CONFIG, CORPUS
from tests.endpoint import faults
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer

Visit = Callable[..., AppTest]
FORM = {"b_engine": "Endpoint", "b_model": "scripted-chat", "b_chunk_tokens": "64", "b_overlap_tokens": "8"}
QUESTION = "What do beekeepers use against Varroa destructor?"
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) $a$"
LONG_AGO = "2026-01-02T03:04:05+00:00"


def the_index(bench: Workbench) -> IndexSummary:
    [index] = bench.indexes.all()
    return index


# Settings


def test_the_check_of_a_model_is_ready_as_soon_as_the_samples_are_read(
    llm_home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as first_start:
        first_start.setattr(CorpusStore, "documents", lambda store, corpus_id: [])
        app = visit("settings", llm_home)
        assert app.text_area("check_passage").value == ""
        assert app.button("check_now").disabled
    app.number_input("set_concurrency").set_value(4).run()
    drawn.assert_sound(app)
    assert "Varroa destructor" in app.text_area("check_passage").value
    assert not app.button("check_now").disabled
    app.text_area("check_passage").input("A passage of one's own.").run()
    app.number_input("set_retries").set_value(2).run()
    assert app.text_area("check_passage").value == "A passage of one's own."


# Build


def a_job(bench: Workbench, *events: tuple[str, dict[str, Any]], name: str = "one", budget: int = 0) -> Path:
    folder = bench.root / "jobs" / name
    arguments = {"name": "Bees", "budget": {"dollars": 0.0, "tokens": budget}}
    create_job(folder, JobSpec(name, "Bees", CORPUS, asdict(CONFIG), arguments, LONG_AGO))
    log = JobLog(folder)
    for kind, facts in events:
        log.write(kind, **facts)
    return folder


def foreseen() -> tuple[str, dict[str, Any]]:
    def stage(name: str, calls: float) -> StageForecast:
        exactly = Range(calls, calls, calls)
        return StageForecast(name, exactly, exactly.scaled(1000), Range(), exactly.scaled(0.01))

    stages = (stage("extract", 20), stage("merge", 0), stage("aggregate entities", 6), stage("aggregate relations", 4))
    return "forecast", {"forecast": Forecast(10, 0, Range(30, 30, 30), stages, Range(60, 60, 60))}


def taken(calls: int, tokens: int) -> Spending:
    usage = Usage(calls, tokens, seconds=1.0, cost=0.2)
    return Spending(usage, {"extract": usage}, reused=2, faults=1, last_faults=(HOSTILE,))


STARTED: tuple[str, dict[str, Any]] = ("started", {"pid": 1})


def halfway() -> tuple[str, dict[str, Any]]:
    return "progress", Progress("extract", 5, 10, "chunks", "Honey bees", taken(10, 20_000)).record()


def test_a_running_build_shows_what_it_will_have_taken_and_that_its_budget_is_short(
    llm_home: Workbench, visit: Visit
) -> None:
    folder = a_job(llm_home, STARTED, foreseen(), halfway(), budget=30_000)
    with job_lock(folder).acquire():
        app = visit("build", llm_home)
        drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Extract, calls201020" in page_text, "forecast, so far, by the end"
    # 10 calls ahead at (20,000 + 3 x 1,000) / 13 tokens, and the other stages' 10 calls of 1,000 tokens
    assert "Tokens30 k20 k48 k" in page_text
    assert "The budget is too small: the build needs about 48 k tokens where 30 k are allowed." in page_text
    assert "10 calls, 20 k tokens of 30 k, $0.20, 2 answers reused, 1 fault" in page_text
    assert "Honey bees" in page_text
    assert HOSTILE in page_text, "the last faults of the server are text"


@pytest.mark.parametrize(
    ("language", "told", "cost"),
    [
        (
            "en",
            "23 calls, 23,000 tokens, $0.23 when it was reached; calls that were under way then are added.",
            "25 calls",
        ),
        ("zh", "23 次调用，23,000 个词元，$0.23（达到预算时）；当时尚在进行的调用会另外计入。", "25 次调用"),
    ],
)
def test_a_stopped_build_says_why_its_cost_is_above_that_at_its_budget(
    language: str, told: str, cost: str, llm_home: Workbench, visit: Visit
) -> None:
    error = message("budget.dollars_spent", dollars=0.22, calls=23, tokens=23_000, cost=0.23)
    a_job(llm_home, STARTED, ("spent", {"spent": taken(25, 25_000)}), ("stopped", {"error": error}))
    app = visit("build", llm_home, job="one", lang=language)
    drawn.assert_sound(app)
    assert told in drawn.text(app)
    assert cost in drawn.text(app)


def test_a_build_that_the_server_stopped_is_not_said_to_be_at_its_budget(llm_home: Workbench, visit: Visit) -> None:
    error = message("endpoint.no_credit", address="http://there/v1", reason="no funds")
    a_job(llm_home, STARTED, ("stopped", {"error": error}), budget=30_000)
    app = visit("build", llm_home, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Bees stopped: the server takes no calls for now" in page_text
    assert "says that the account has no credit left: no funds" in page_text
    assert "udget is spent" not in page_text
    assert "at its budget" not in page_text
    assert not app.button("resume_one").disabled
    assert not any(field.label == "Tokens for the rest" for field in app.number_input)


def test_a_build_that_is_done_shows_forecast_and_actual_by_stage(llm_home: Workbench, visit: Visit) -> None:
    done = ("done", {"result": the_index(llm_home).id, "report": JobReport()})
    a_job(llm_home, STARTED, foreseen(), ("spent", {"spent": taken(19, 21_000)}), done)
    app = visit("build", llm_home, job="one")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Forecast and actual" in page_text
    assert "Extract, calls2019" in page_text
    assert "Aggregate entities, calls60" in page_text
    assert "All calls3019" in page_text
    assert "Tokens30 k21 k" in page_text


def test_a_job_that_reads_no_documents_does_not_say_so_before_its_first_text(llm_home: Workbench, visit: Visit) -> None:
    folder = llm_home.root / "jobs" / "one"
    create_job(folder, JobSpec("one", "Bees", CORPUS, asdict(CONFIG), {}, LONG_AGO, REWRITE.name))
    JobLog(folder).write("started", pid=1)
    with job_lock(folder).acquire():
        page_text = drawn.text(visit("build", llm_home, job="one"))
    assert "What is written is listed here." in page_text
    assert "documents are being read" not in page_text


def test_jobs_that_wait_tell_their_place(llm_home: Workbench, visit: Visit) -> None:
    folders = [a_job(llm_home, name=name) for name in ("a", "b", "c")]
    with job_lock(folders[0]).acquire(), job_lock(folders[1]).acquire(), job_lock(folders[2]).acquire():
        app = visit("build", llm_home, job="b")
        drawn.assert_sound(app)
        assert "Bees waits for its turn, second of 3" in drawn.text(app)
        waiting = [label.replace("\\", "") for label in drawn.labels(app) if label.startswith("Waiting")]
    assert waiting == ["Waiting: Bees, first of 3", "Waiting: Bees, third of 3"]


def test_empty_chunks_are_listed_and_run_again_alone(llm_home: Workbench, visit: Visit, launched: list[Path]) -> None:
    index = the_index(llm_home)
    a_job(llm_home, STARTED, ("done", {"result": index.id, "report": JobReport()}))
    app = visit("build", llm_home, job="one")
    drawn.assert_sound(app)
    [listed] = [body for body in drawn.html(app) if "<th>Begins</th>" in body]
    assert listed.count("<tr>") == 2
    assert '<td dir="auto">void</td>' in listed
    assert '<td dir="auto">it was so, and then it was not so.' in listed
    stored = len(llm_home.calls)
    app.button("retry_empty").click().run()
    drawn.assert_sound(app)
    assert stored - len(llm_home.calls) == 1, "its first reply is forgotten, and no other"
    assert read_spec(launched[0]).config["model"] == "openai:scripted-chat"


def test_a_rebuild_with_the_same_settings_is_forecast_as_a_bound(llm_home: Workbench, visit: Visit) -> None:
    app = visit("build", llm_home, corpus=CORPUS, **FORM, b_cluster_size="3")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "There is an index with exactly these settings." in page_text
    assert "Callsup to " in page_text

    app = visit("build", llm_home, corpus=CORPUS, **FORM, b_cluster_size="4")
    page_text = drawn.text(app)
    assert "How many of them can be reused is known once the clusters are" in page_text

    llm_home.calls.delete()
    app = visit("build", llm_home, corpus=CORPUS, **FORM, b_cluster_size="3")
    assert "up to" not in drawn.text(app)


def test_the_settings_of_an_index_can_be_taken_into_the_form(llm_home: Workbench, visit: Visit) -> None:
    folder = the_index(llm_home).path
    manifest = layout.read_manifest(folder)
    config = replace(manifest.config, gleaning_rounds=2, prompts=(("answer", "Of {context}: {question}"),))
    layout.write_manifest(folder, replace(manifest, config=config))
    app = visit("build", llm_home)
    app.button("duplicate_index").click().run()
    drawn.assert_sound(app)
    assert app.number_input("lr_b_chunk_tokens").value == 64
    assert app.number_input("lr_b_cluster_size").value == 3
    assert app.number_input("lr_b_gleaning_rounds").value == 2
    assert app.query_params["b_model"] == "scripted-chat"
    assert app.query_params["b_engine"] == "Endpoint"
    assert app.text_input("index_name").value == "Bees, changed"
    assert "Prompts, 1 edited" in [fold.label for fold in app.expander], "its own prompt for answers among them"


def test_a_prompt_is_tried_on_a_chosen_chunk_and_its_markup_is_text(
    llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    app = visit("build", llm_home, corpus=CORPUS, **FORM)
    assert "Varroa destructor" in app.text_area(f"preview_passage_{CORPUS}").value
    notes = next(document.id for document in llm_home.corpora.documents(CORPUS) if document.name == "notes.txt")
    app.selectbox(f"preview_document_{CORPUS}").set_value(notes).run()
    first = app.text_area(f"preview_passage_{CORPUS}").value
    assert "Marie Curie" in first
    app.number_input(f"preview_number_{CORPUS}").set_value(2).run()
    second = app.text_area(f"preview_passage_{CORPUS}").value
    assert second
    assert second != first
    text = app.text_area("prompt_extract_graph").value
    app.text_area("prompt_extract_graph").input(text.replace("# Rules", f"# Rules {HOSTILE}")).run()
    drawn.assert_sound(app)
    endpoint.clear()
    app.button("preview_now").click().run()
    drawn.assert_sound(app)
    assert len(endpoint.answered("extract_graph")) == 2
    assert "Your prompt against the catalog's" in drawn.text(app)


def test_a_resume_that_cannot_be_is_reported(llm_home: Workbench, visit: Visit) -> None:
    folder = a_job(llm_home, STARTED, ("cancelled", {"error": "Stopped as asked."}))
    app = visit("build", llm_home, job="one")
    shutil.rmtree(folder)
    app.button("resume_one").click().run()
    drawn.assert_sound(app)
    assert "no job 'one'" in drawn.text(app).lower()


def test_a_server_that_does_not_answer_leaves_the_form_usable(llm_home: Workbench, visit: Visit) -> None:
    llm_home.settings.save(Settings(base_url="http://127.0.0.1:1/v1"))
    app = visit("build", llm_home, corpus=CORPUS, **FORM)
    drawn.assert_sound(app)
    assert "The endpoint does not answer." in drawn.text(app)


# Ask


def asked(app: AppTest, question: str) -> AppTest:
    app.text_area("lr_draft").input(question)
    return next(button for button in app.button if button.label == "Ask").click().run()


def test_an_answer_is_written_once_and_then_remembered(
    llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    app = asked(visit("ask", llm_home), QUESTION)
    drawn.assert_sound(app)
    assert drawn.component(app, "lr_citations")
    assert "Written by scripted-chat from the context alone" in drawn.text(app)
    app = visit("ask", llm_home, q=QUESTION)
    assert drawn.component(app, "lr_citations")
    assert len(endpoint.answered("answer")) == 1


def test_a_link_to_a_question_calls_nobody(llm_home: Workbench, endpoint: EndpointServer, visit: Visit) -> None:
    app = visit("ask", llm_home, q=QUESTION)
    drawn.assert_sound(app)
    assert endpoint.answered("answer") == []
    app.button("write_answer").click().run()
    assert drawn.component(app, "lr_citations")


def test_a_second_window_joins_the_answer_that_is_being_written(
    llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    endpoint.latency_seconds = 4.0
    first = visit("ask", llm_home)
    first.text_area("lr_draft").input(QUESTION)
    button = next(widget for widget in first.button if widget.label == "Ask").click()
    with contextlib.suppress(RuntimeError):
        button.run(timeout=2)  # the window is closed while the model writes
    second = visit("ask", llm_home, q=QUESTION)
    drawn.assert_sound(second)
    assert drawn.component(second, "lr_citations")
    assert len(endpoint.answered("answer")) == 1


@pytest.mark.parametrize(
    ("kind", "expected_text"),
    [
        (faults.RESET, "http://127.0.0.1"),
        (faults.HTML_200, "perhaps the page of a proxy"),  # no piece of a stream: it is asked in one piece
        (faults.HTTP_500, "fails with status 500"),
        (faults.EMPTY_CONTENT, "The reply is empty"),
    ],
)
def test_a_server_that_fails_while_it_answers_is_reported_and_can_be_asked_again(
    kind: str, expected_text: str, llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    endpoint.plan = FaultPlan(share=1.0, kinds=(kind,), recover_after=None)
    app = asked(visit("ask", llm_home), QUESTION)
    drawn.assert_sound(app)
    assert "No answer was written." in drawn.text(app)
    assert expected_text in drawn.text(app)
    assert "Retrieval is complete" in drawn.text(app)
    endpoint.plan = FaultPlan()
    app.button("retry_answer").click().run()
    drawn.assert_sound(app)
    assert drawn.component(app, "lr_citations")


def test_a_question_that_could_not_be_embedded_is_answered_by_another_try(
    llm_home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object) -> None:
        raise EndpointRefusal("embedding.failed", problem="it is down")

    app = visit("ask", llm_home)
    with monkeypatch.context() as down:
        down.setattr(Questions, "question_vector", fails)
        app = asked(app, QUESTION)
        drawn.assert_sound(app)
        assert "The question could not be embedded. It is down. Without vectors nothing goes on" in drawn.text(app)
    app.button("retry_retrieval").click().run()
    drawn.assert_sound(app)
    assert drawn.component(app, "lr_citations")


@pytest.mark.parametrize("kind", [faults.HTTP_500, faults.EMPTY_CONTENT])
def test_a_follow_up_that_the_model_cannot_rewrite_is_asked_by_the_rule(
    kind: str, llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    llm_home.settings.change(lambda settings: replace(settings, retries=0))
    app = asked(visit("ask", llm_home), QUESTION)
    endpoint.plan = FaultPlan(share=1.0, kinds=(kind,), recover_after=None)
    app.text_input("follow_text").input("When do they treat it?")
    next(button for button in app.button if button.label == "Ask a follow-up").click().run()
    drawn.assert_sound(app)
    assert "The model could not rewrite it (" in drawn.text(app)
    assert "When do they treat it?" in app.query_params["q"]


def test_a_model_that_is_gone_is_reported(llm_home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*arguments: object, **options: object) -> Reply:
        raise EndpointRefusal("http://127.0.0.1:9/v1 does not know the model or the address (status 404)")

    monkeypatch.setattr(Endpoint, "stream", refuses)
    app = asked(visit("ask", llm_home), QUESTION)
    drawn.assert_sound(app)
    assert "No answer was written." in drawn.text(app)
    assert "does not know the model" in drawn.text(app)


def test_an_answer_that_is_markup_is_text(llm_home: Workbench, endpoint: EndpointServer, visit: Visit) -> None:
    endpoint.plan = FaultPlan(share=1.0, kinds=(faults.INJECTION,), recover_after=None)
    app = asked(visit("ask", llm_home), QUESTION)
    drawn.assert_sound(app)
    assert "<script>alert(1)</script>" in drawn.text(app)


def test_an_index_that_is_deleted_while_it_is_asked_is_reported_and_no_other_is_asked(
    llm_home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    index = the_index(llm_home)
    other = index.path.with_name("other")
    shutil.copytree(index.path, other)
    llm_home.indexes.rename("other", "The other")
    app = visit("ask", llm_home, index=index.id)
    llm_home.indexes.delete(index.id)
    app = asked(app, QUESTION)
    drawn.assert_sound(app)
    assert f"This index is not here. The index {index.id} was deleted" in drawn.text(app)
    assert endpoint.answered("answer") == []


def test_the_built_in_embedding_is_named_by_the_choice_of_its_language_alone(llm_home: Workbench, visit: Visit) -> None:
    app = visit("build", llm_home, **FORM)
    drawn.assert_sound(app)
    offered = next(box.options for box in app.selectbox if box.label == "Embedding")
    assert "Built-in" in offered
    assert not any("MiniLM" in name for name in offered), "the choice below says which one, and it may be the other"


def test_the_effect_of_clustersize_goes_by_the_chunks_that_were_read_for_the_forecast(
    llm_home: Workbench, visit: Visit
) -> None:
    text = " ".join(f"In year {year} Ada Lovelace wrote to Charles Babbage of Hive {year}." for year in range(600))
    corpus = llm_home.add_documents("Letters", [("letters.txt", text.encode())]).corpus_id
    app = visit("build", llm_home, corpus=corpus, **FORM, b_cluster_size="2")
    [before] = drawn.component(app, "size_effect")
    assert "estimated from its tokens" in before["basis"]
    app.button("dry_run").click().run()
    drawn.assert_sound(app)
    config = IndexConfig(model="openai:scripted-chat", chunk_tokens=64, overlap_tokens=8, cluster_size=2)
    expected = llm_home.builds.forecast(corpus, config)
    assert 0 < expected.sampled < expected.chunks
    [after] = drawn.component(app, "size_effect")
    n = round(expected.entities.expected)
    assert after["basis"] == f"over about {n:,} entities, estimated from the chunks that were read"
    assert after["rows"] != before["rows"]
    [written] = [stage for stage in expected.stages if stage.stage == "aggregate relations"]
    [relations] = [summarised for size, _, _, summarised in after["rows"] if size == config.cluster_size]
    assert relations == round(written.calls.expected), "relations as the forecast beside it has them"


def test_a_price_makes_the_forecast_say_dollars(llm_home: Workbench, visit: Visit) -> None:
    llm_home.calls.delete()
    settings = replace(llm_home.settings.read(), prices={"scripted-chat": Price(1000.0, 1000.0)})
    llm_home.settings.save(settings)
    app = visit("build", llm_home, corpus=CORPUS, **FORM)
    drawn.assert_sound(app)
    assert "$" in drawn.text(app)


def test_a_graph_that_the_built_in_writer_wrote_in_part_says_so_on_every_page(
    llm_home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = llm_home.indexes.all()[0]
    assert summary.builtin_texts == 0
    assert "built-in writer" not in drawn.text(visit("explore", llm_home, index=summary.id))
    read = layout.read_manifest
    st.cache_resource.clear()  # the app's own store has read the manifest as it is
    monkeypatch.setattr(layout, "read_manifest", lambda path: replace(read(path), builtin_texts=7))
    for page in ("explore", "ask"):
        text = drawn.text(visit(page, llm_home, index=summary.id))
        assert "7 of its texts built-in" in text
        assert "The model failed at 7 aggregated texts, which the built-in writer wrote" in text


def test_a_name_that_turns_the_direction_of_a_text_is_shown_as_such_among_stored_calls(
    llm_home: Workbench, visit: Visit
) -> None:
    llm_home.indexes.rename(the_index(llm_home).id, "Bees \u202eseeb")
    app = visit("settings", llm_home)
    [names] = [frame.value["Index"].tolist() for frame in app.dataframe if "Index" in frame.value]
    app.button("delete_calls").click().run()
    drawn.assert_sound(app)
    for shown in (*names, *app.selectbox("delete_index_calls").options):
        assert "\u202e" not in shown
    assert "Bees [U+202E]seeb" in names
