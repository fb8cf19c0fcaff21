"""Whole builds with models at an endpoint: no call is paid twice, no answer is lost, every loss is reported."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.__main__ import main
from leanrag_core.answering.written import answer_messages
from leanrag_core.checking.check import check_index
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from tests.endpoint import faults
from tests.endpoint.coast import CONFIG, bench_in, files_of, story
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer
from tests.waiting import ended

pytestmark = pytest.mark.slow

KINDS = tuple(kind for kind in faults.KINDS if kind not in (*faults.USABLE, faults.INJECTION, faults.LONG_NAMES))


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


@dataclass(frozen=True)
class Built:
    """An index that one call after the other has made. asked: how many calls of each kind that took."""

    server: EndpointServer
    bench: Workbench
    corpus: str
    index: Index
    files: dict[str, bytes]
    asked: Counter[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    with EndpointServer() as server:
        bench, corpus = bench_in(tmp_path_factory.mktemp("whole"), server, concurrency=1)
        index = bench.build(corpus, CONFIG)
        asked = Counter(call.kind for call in server.answered())
        yield Built(server, bench, corpus, index, files_of(bench), asked)


def test_only_what_a_setting_changes_is_asked_again(whole: Built) -> None:
    server, bench, corpus, built = whole.server, whole.bench, whole.corpus, whole.index
    assert built.manifest.kind == "LLM graph"
    assert all(check.ok for check in check_index(built))
    assert whole.asked["extract_graph"] == whole.asked["glean_graph"] == built.chunks.num_rows
    assert whole.asked["aggregate_entity"] > 3

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


def test_a_build_does_not_depend_on_the_number_of_workers(whole: Built, server: EndpointServer, tmp_path: Path) -> None:
    many, corpus_of_many = bench_in(tmp_path, server, concurrency=16)
    many.build(corpus_of_many, CONFIG)
    first, second = dict(whole.files), files_of(many)
    del first["manifest.json"], second["manifest.json"]  # it contains the corpus's random id
    assert first == second


def test_every_loss_is_reported_with_its_chunk_and_nothing_else_is_missing(
    whole: Built, server: EndpointServer, tmp_path: Path
) -> None:
    chunk_ids = whole.index.chunks["id"].to_pylist()
    server.plan = FaultPlan(
        share=0.2, kinds=KINDS, recover_after=None, seed=5, stall_seconds=2.5, tasks=("extract_graph", "glean_graph")
    )
    other, same = bench_in(tmp_path, server, retries=1, timeout_seconds=2)
    built = other.build(same, CONFIG)
    assert all(check.ok for check in check_index(built))
    lost = {re.search(r"chunk-[0-9a-f]+", dropped.item)[0] for dropped in built.report.dropped["extract"]}
    assert lost
    assert lost < set(chunk_ids)
    assert built.report.empty_chunks
    assert set(built.report.empty_chunks) <= lost
    named = {name for chunks, name in _chunks_and_names(whole.index, chunk_ids) if not chunks <= lost}
    assert named <= set(built.layers[0].entities["name"].to_pylist())


def _chunks_and_names(index: object, ids: list[str]) -> Iterator[tuple[set[str], str]]:
    entities = index.layers[0].entities
    for chunks, name in zip(entities["chunks"].to_pylist(), entities["name"].to_pylist(), strict=True):
        yield {ids[row] for row in chunks}, name


def test_an_index_answers_with_its_own_prompt(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    own = "Say who did it, as a poem.\n\nContext:\n<<<\n{context}\n>>>\n\nQuestion: {question}\n"
    built = bench.build(corpus, replace(CONFIG, prompts=(("answer", own),)))
    trace = bench.retrieve(built, "Who built the Lantern House?")
    assert bench.questions.kept_answer(built, trace) is None
    pieces: list[str] = []
    answer = bench.questions.stream_answer(built, trace, pieces.append)
    assert bench.questions.kept_answer(built, trace) == answer
    assert answer.text == bench.answer(built, trace).text
    messages, task = answer_messages(trace, PromptBook((("answer", own),)))
    assert messages[0]["content"].startswith("Say who did it, as a poem.")
    assert [entry.task for entry in bench.calls.entries() if entry.task.startswith("answer")] == [task]


def test_page_and_command_line_build_the_same_index(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, corpus = bench_in(tmp_path / "home", server)
    assert ended(bench, bench.builds.start(corpus, CONFIG)).status == "done"
    folder = tmp_path / "documents"
    folder.mkdir()
    for n in range(6):
        (folder / f"s{n}.txt").write_bytes(story(n))
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "other"))
    Workbench.default().settings.save(Settings(base_url=server.url))
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


def test_chunks_in_which_nothing_was_found_are_asked_again_alone(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    bench.add_documents(corpus, [("dull.txt", b"nothing here is named at all, and so it goes on and on.")])
    built = bench.build(corpus, CONFIG)
    empty = built.report.empty_chunks
    assert len(empty) == 1
    server.clear()
    assert ended(bench, bench.builds.start_with_empty_chunks(bench.indexes.all()[0].id)).status == "done"
    assert [call.kind for call in server.log] == ["extract_graph"]


def test_a_reply_cut_in_half_is_asked_again_and_never_kept_for_good(server: EndpointServer, tmp_path: Path) -> None:
    language = bench_in(tmp_path, server)[0].models.make().language("openai:m")
    assert isinstance(language, RemoteLanguageModel)
    text = story(1).decode()
    chunk = Chunk("c", "d", 0, 0, len(text), 200, text)
    server.plan = FaultPlan(share=1.0, kinds=(faults.CUT_STOP,), recover_after=None)
    lost = LLMExtractor(language, gleaning_rounds=0).extract_chunk(chunk)
    assert len(server.log) == 2
    assert "breaks off" in lost.drops[0].reason
    assert len(language.memory) == 0
    server.plan = FaultPlan()
    server.clear()
    whole = LLMExtractor(language, gleaning_rounds=0).extract_chunk(chunk)
    assert len(server.log) == 1
    assert whole.drops == ()
    assert len(whole.relations) > len(lost.relations)
    assert lost.mentions


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
    (summary,) = bench.indexes.all()
    assert summary.kind == "LLM graph"
    assert summary.builtin_texts == len(server.failed()) > 0
    assert f"LLM graph ({summary.builtin_texts} of its texts by the built-in writer" in closing
    assert main(["show", str(out)]) == 0
    assert "by the built-in writer" in capsys.readouterr().out
    server.plan = FaultPlan()
    assert main([*arguments, *options]) == 0
    assert "built-in writer" not in capsys.readouterr().out
    assert bench.indexes.all()[0].builtin_texts == 0
