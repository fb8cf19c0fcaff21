"""Whole builds with models at an endpoint: no call is paid twice, no answer is lost, every loss is reported."""

import json
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.__main__ import main
from leanrag_core.answering.written import answer_messages
from leanrag_core.checking.check import check_index
from leanrag_core.errors import EndpointError, InvalidConfig
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.jobs.events import read_events
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.prompts.book import PromptBook
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.job import JobState
from leanrag_core.types.settings import Price, Settings
from leanrag_core.types.spending import Budget
from tests.endpoint import faults
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer

CONFIG = IndexConfig(model="openai:m", embedding="openai:e", cluster_size=5, chunk_tokens=64, overlap_tokens=8)
PEOPLE = ["Ada Thornbury", "Bela Kraus", "Carl Ohm", "Dora Lind", "Edgar Moss", "Flora Penn", "Gustav Rau"]
PLACES = ["Marram Point", "Holm Rock", "Grey Harbour", "Teeth Reef", "Corisande Bay"]
WORKS = ["Lantern House", "Signal Tower", "Fog Bell", "Tide Mill"]
KINDS = tuple(kind for kind in faults.KINDS if kind not in (*faults.USABLE, faults.INJECTION, faults.LONG_NAMES))
KEY = "sk-planted-fedcba9876543210"


def story(number: int) -> bytes:
    lines = []
    for n in range(12):
        who, where = PEOPLE[(number + n) % 7], PLACES[(number * 3 + n) % 5]
        work, other = WORKS[(number + 2 * n) % 4], PEOPLE[(number + 3 * n + 1) % 7]
        lines.append(f"In year {n} {who} built the {work} at {where} together with {other} of {PLACES[n % 5]}.")
    return "\n\n".join(lines).encode()


def bench_in(root: Path, server: EndpointServer, **more: object) -> tuple[Workbench, str]:
    bench = Workbench.default(root)
    bench.save_settings(Settings(base_url=server.url, timeout_seconds=2, **{"retries": 4, **more}))  # type: ignore[arg-type]
    return bench, bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(6)]).corpus_id


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


def files_of(bench: Workbench) -> dict[str, bytes]:
    (index,) = bench.indexes()
    return {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()}


def ended(bench: Workbench, job_id: str, seconds: float = 90) -> JobState:
    deadline = time.monotonic() + seconds
    while (state := bench.job(job_id)).status in ("queued", "running"):
        assert time.monotonic() < deadline, f"{state.status} in {state.current}: {bench.job_log(job_id)}"
        time.sleep(0.03)
    return state


@pytest.mark.slow
def test_only_what_a_setting_changes_is_asked_again(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    built = bench.build(corpus, CONFIG)
    assert built.manifest.kind == "LLM graph"
    assert all(check.ok for check in check_index(built))
    asked = Counter(call.kind for call in server.answered())
    assert asked["extract_graph"] == asked["glean_graph"] == built.chunks.num_rows
    assert asked["aggregate_entity"] > 3

    server.clear()
    bench.build(corpus, CONFIG)
    assert server.log == [], "the same build asks nothing"

    bench.build(corpus, IndexConfig(**{**vars(CONFIG), "tau": 1}))
    assert {call.kind for call in server.log} == {"aggregate_relation"}

    server.clear()
    bench.build(corpus, IndexConfig(**{**vars(CONFIG), "cluster_size": 3}))
    kinds = {call.kind for call in server.log}
    assert "aggregate_entity" in kinds
    assert not kinds & {"extract_graph", "glean_graph", "merge_descriptions"}


@pytest.mark.slow
def test_a_build_does_not_depend_on_the_number_of_workers(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path / "one", server, concurrency=1)
    bench.build(corpus, CONFIG)
    many, corpus_of_many = bench_in(tmp_path / "many", server, concurrency=16)
    many.build(corpus_of_many, CONFIG)
    first, second = files_of(bench), files_of(many)
    del first["manifest.json"], second["manifest.json"]  # it contains the corpus's random id
    assert first == second


@pytest.mark.slow
def test_every_loss_is_reported_with_its_chunk_and_nothing_else_is_missing(
    server: EndpointServer, tmp_path: Path
) -> None:
    bench, corpus = bench_in(tmp_path / "good", server)
    whole = bench.build(corpus, CONFIG)
    chunk_ids = whole.chunks["id"].to_pylist()
    server.plan = FaultPlan(
        share=0.2, kinds=KINDS, recover_after=None, seed=5, stall_seconds=2.5, tasks=("extract_graph", "glean_graph")
    )
    other, same = bench_in(tmp_path / "bad", server, retries=1)
    built = other.build(same, CONFIG)
    assert all(check.ok for check in check_index(built))
    lost = {re.search(r"chunk-[0-9a-f]+", dropped.item)[0] for dropped in built.report.dropped["extract"]}  # type: ignore[index]
    assert lost
    assert lost < set(chunk_ids)
    assert built.report.empty_chunks
    assert set(built.report.empty_chunks) <= lost
    named = {name for chunks, name in _chunks_and_names(whole, chunk_ids) if not chunks <= lost}
    assert named <= set(built.layers[0].entities["name"].to_pylist())


def _chunks_and_names(index: object, ids: list[str]) -> Iterator[tuple[set[str], str]]:
    entities = index.layers[0].entities  # type: ignore[attr-defined]
    for chunks, name in zip(entities["chunks"].to_pylist(), entities["name"].to_pylist(), strict=True):
        yield {ids[row] for row in chunks}, name


@pytest.mark.slow
def test_a_spent_budget_stops_a_job_and_a_larger_one_ends_it(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server, prices={"m": Price(10.0, 10.0), "e": Price()})
    job = ended(bench, bench.start_build(corpus, CONFIG, budget=Budget(dollars=0.05)))
    assert job.status == "stopped"
    assert job.error is not None
    assert job.error.code == "budget.dollars_spent"
    assert job.spending.usage.cost > 0
    assert job.forecast is not None
    assert {stage.stage for stage in job.forecast.stages} >= {"extract", "aggregate entities", "embed"}
    assert set(job.spending.by_stage) <= {"extract", "embed"}
    assert bench.indexes() == []
    paid = {call.key for call in server.answered("extract_graph")}
    again = ended(bench, bench.start_build(corpus, CONFIG))
    assert again.status == "done"
    repeated = [key for key, n in Counter(call.key for call in server.answered("extract_graph")).items() if n > 1]
    assert paid
    assert repeated == []


def test_an_index_answers_with_its_own_prompt(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    own = "Say who did it, as a poem.\n\nContext:\n<<<\n{context}\n>>>\n\nQuestion: {question}\n"
    built = bench.build(corpus, replace(CONFIG, prompts=(("answer", own),)))
    trace = bench.retrieve(built, "Who built the Lantern House?")
    assert bench.kept_answer(built, trace) is None
    pieces: list[str] = []
    answer = bench.stream_answer(built, trace, pieces.append)
    assert bench.kept_answer(built, trace) == answer
    assert answer.text == bench.answer(built, trace).text
    messages, task = answer_messages(trace, PromptBook((("answer", own),)))
    assert messages[0]["content"].startswith("Say who did it, as a poem.")
    assert [entry.task for entry in bench.calls.entries() if entry.task.startswith("answer")] == [task]


@pytest.mark.slow
def test_a_planted_key_is_in_no_file(server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.api_key = KEY
    bench, corpus = bench_in(tmp_path, server, retries=0)
    assert ended(bench, bench.start_build(corpus, CONFIG)).status == "done"
    [built] = bench.indexes()
    assert ended(bench, bench.start_part(built.id, "chroma")).status == "done"
    bench.build_part(bench.open(built.id), "chroma", {"recall": 95})  # in this process, which has the key
    assert len(list(tmp_path.rglob("chroma.sqlite3"))) == 2
    server.api_key = "another"
    job = ended(bench, bench.start_build(corpus, IndexConfig(**{**vars(CONFIG), "cluster_size": 4})))
    assert job.status == "failed"
    assert job.error is not None
    assert "refuses the key" in sentence(job.error)
    bench.calls.export(tmp_path / "export.jsonl")
    bench.calls.close()
    files_with_key = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert files_with_key == []
    assert sum(path.is_file() for path in tmp_path.rglob("*")) > 20


@pytest.mark.slow
def test_a_build_killed_again_and_again_ends_in_the_same_index_and_asks_nothing_twice(tmp_path: Path) -> None:
    # Of a reply that was cut what is complete is kept. Its client may be killed before that, and the next reply be
    # whole: then the index rightly is another one. So none is cut here.
    kinds = tuple(kind for kind in KINDS if kind not in (faults.CUT_JSON, faults.REPEATED_LOOP))
    plan = {"share": 0.2, "kinds": kinds, "recover_after": 1, "seed": 3, "stall_seconds": 2.5}
    with EndpointServer(plan=FaultPlan(**plan), latency_seconds=0.02) as undisturbed:
        bench, corpus = bench_in(tmp_path / "home", undisturbed, concurrency=4)
        assert ended(bench, bench.start_build(corpus, CONFIG)).status == "done"
        expected = files_of(bench)
        bench.delete_index(bench.indexes()[0].id)
        bench.calls.delete()
        bench.calls.close()
    chance = random.Random(11)
    killed = 0
    with EndpointServer(plan=FaultPlan(**plan), latency_seconds=0.02) as server:
        bench.save_settings(Settings(base_url=server.url, timeout_seconds=2, retries=4, concurrency=4))
        job = bench.start_build(corpus, CONFIG)
        for _ in range(8):
            pid = _started(bench, job)
            time.sleep(chance.uniform(0.05, 1.5))
            if bench.job(job).status == "running":
                os.kill(pid, signal.SIGKILL)
                killed += 1
            if ended(bench, job).status == "done":
                bench.delete_index(bench.indexes()[0].id)
            job = bench.resume(job)
        assert ended(bench, job).status == "done"
        assert files_of(bench) == expected
        assert killed >= 3
        # What was answered, but had not reached the disk when its client died, is asked once more: up to eight calls
        # are in flight at a kill, hardly any of them answered.
        keys = [call.key for call in server.answered()]
        assert len(keys) - len(set(keys)) <= 2 * killed


def _started(bench: Workbench, job: str) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for event in read_events(bench.root / "jobs" / job):
            if event.event == "started" and event.pid is not None:
                return event.pid
        time.sleep(0.02)
    raise AssertionError(json.dumps(bench.job_log(job)))


@pytest.mark.slow
def test_page_and_command_line_build_the_same_index(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, corpus = bench_in(tmp_path / "home", server)
    assert ended(bench, bench.start_build(corpus, CONFIG)).status == "done"
    folder = tmp_path / "documents"
    folder.mkdir()
    for n in range(6):
        (folder / f"s{n}.txt").write_bytes(story(n))
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "other"))
    Workbench.default().save_settings(Settings(base_url=server.url))
    options = ["--cluster-size", "5", "--chunk-tokens", "64", "--overlap-tokens", "8"]
    models = ["--model", "openai:m", "--embedding", "openai:e"]
    assert main(["build", str(folder), "--out", str(tmp_path / "index"), *options, *models]) == 0
    assert "LLM graph" in capsys.readouterr().out
    made = {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir() if path.is_file()}
    expected = files_of(bench)
    manifests = [json.loads(files.pop("manifest.json")) for files in (made, expected)]
    assert made == expected
    for manifest in manifests:
        del manifest["name"], manifest["corpus"], manifest["sha256"]
    assert manifests[0] == manifests[1]


@pytest.mark.slow
def test_chunks_in_which_nothing_was_found_are_asked_again_alone(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    bench.add_documents(corpus, [("dull.txt", b"nothing here is named at all, and so it goes on and on.")])
    built = bench.build(corpus, CONFIG)
    empty = built.report.empty_chunks
    assert len(empty) == 1
    server.clear()
    assert ended(bench, bench.run_empty_chunks_again(bench.indexes()[0].id)).status == "done"
    assert [call.kind for call in server.log] == ["extract_graph"]


@pytest.mark.slow
def test_jobs_beyond_two_wait_for_their_turn_and_may_be_cancelled_there(server: EndpointServer, tmp_path: Path) -> None:
    server.latency_seconds = 0.3
    bench, corpus = bench_in(tmp_path, server, concurrency=1)
    jobs = [bench.start_build(corpus, IndexConfig(**{**vars(CONFIG), "seed": seed})) for seed in range(3)]
    deadline = time.monotonic() + 60
    while Counter(bench.job(job).status for job in jobs) != {"running": 2, "queued": 1}:
        assert time.monotonic() < deadline, [bench.job(job) for job in jobs]
        time.sleep(0.05)
    for job in sorted(jobs, key=lambda job: bench.job(job).status != "queued"):
        bench.cancel(job)
    assert {ended(bench, job).status for job in jobs} == {"cancelled"}
    assert bench.indexes() == []


@pytest.mark.parametrize("name", ["gpt", "openai:", "builtin"])
def test_an_aggregation_model_that_cannot_be_meant_is_refused_before_anything_is_asked(
    server: EndpointServer,
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bench, corpus = bench_in(tmp_path, server)
    config = replace(CONFIG, aggregation_model=name)
    with pytest.raises(InvalidConfig):
        bench.start_build(corpus, config)
    with pytest.raises(InvalidConfig):
        bench.build(corpus, config)
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    options = ["--model", "openai:m", "--embedding", "openai:e", "--aggregation-model", name]
    assert main(["build", str(tmp_path / "none"), "--out", str(tmp_path / "index"), *options]) == 2
    assert "openai:NAME" in capsys.readouterr().err
    assert server.log == []
    assert bench.jobs() == []


def test_a_budget_in_dollars_without_a_price_is_refused_with_what_to_do(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, corpus = bench_in(tmp_path, server, prices={"m": Price(10.0, 10.0)})
    with pytest.raises(InvalidConfig, match=r"no price is known for e.*--budget-tokens"):
        bench.start_build(corpus, CONFIG, budget=Budget(dollars=5.0))
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    (tmp_path / "story.txt").write_bytes(story(1))
    arguments = ["build", str(tmp_path / "story.txt"), "--out", str(tmp_path / "index"), "--model", "openai:new"]
    assert main([*arguments, "--budget", "5"]) == 2
    assert "no price is known for new" in capsys.readouterr().err
    assert server.log == []
    assert main([*arguments, "--budget-tokens", "1", "--chunk-tokens", "64", "--overlap-tokens", "8"]) == 1
    assert "the budget of 1 tokens is spent" in capsys.readouterr().err


@pytest.mark.parametrize("refused", [False, True])
def test_when_every_chunk_fails_the_error_quotes_the_server(
    server: EndpointServer, tmp_path: Path, refused: bool
) -> None:
    bench, corpus = bench_in(tmp_path, server, retries=0)
    config, words = replace(CONFIG, embedding="builtin", chunk_tokens=512), "does not answer: is it running"
    if refused:
        server.refuses, words = (
            {"PASSAGE": (400, "odd", "The moon is in the wrong house.")},
            "moon is in the wrong house",
        )
    else:
        bench.save_settings(replace(bench.settings(), base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(EndpointError, match=words):
        bench.build(corpus, config)
    assert bench.indexes() == []


def test_a_reply_cut_in_half_is_asked_again_and_never_kept_for_good(server: EndpointServer, tmp_path: Path) -> None:
    language = bench_in(tmp_path, server)[0].models().language("openai:m")
    assert isinstance(language, RemoteLanguageModel)
    text = story(1).decode()
    chunk = Chunk("c", "d", 0, 0, len(text), 200, text)
    server.plan = FaultPlan(share=1.0, kinds=(faults.CUT_STOP,), recover_after=None)
    lost = LLMExtractor(language, gleaning_rounds=0).extract_chunk(chunk)
    assert len(server.log) == 2
    assert "breaks off" in lost.drops[0].reason
    assert len(language.memory) == 0  # type: ignore[arg-type]
    server.plan = FaultPlan()
    server.clear()
    whole = LLMExtractor(language, gleaning_rounds=0).extract_chunk(chunk)
    assert len(server.log) == 1
    assert whole.drops == ()
    assert len(whole.relations) > len(lost.relations)
    assert lost.mentions


@pytest.mark.slow
def test_a_server_that_disappears_after_extraction_is_reported_where_the_graph_is_named(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, _ = bench_in(tmp_path, server, retries=0)
    (tmp_path / "story.txt").write_bytes(story(1))
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    out = bench.root / "indexes" / "story"
    out.parent.mkdir(exist_ok=True)
    arguments = ["build", str(tmp_path / "story.txt"), "--out", str(out), "--cluster-size", "5"]
    options = ["--model", "openai:m", "--chunk-tokens", "128", "--overlap-tokens", "8"]
    server.plan = FaultPlan(1.0, (faults.HTTP_500,), None, tasks=("aggregate_entity",))
    assert main([*arguments, *options]) == 0
    closing = capsys.readouterr().out
    (summary,) = bench.indexes()
    assert summary.kind == "LLM graph"
    assert summary.builtin_texts == len(server.failed()) > 0
    assert f"LLM graph ({summary.builtin_texts} of its texts by the built-in writer" in closing
    assert main(["show", str(out)]) == 0
    assert "by the built-in writer" in capsys.readouterr().out
    server.plan = FaultPlan()
    assert main([*arguments, *options]) == 0
    assert "built-in writer" not in capsys.readouterr().out
    assert bench.indexes()[0].builtin_texts == 0
