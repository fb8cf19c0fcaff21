"""A slow model: its speed is measured and kept, waits follow from it, and no queue is built that only times out."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import CallFailed, EndpointTimeout, ReplyError
from leanrag_core.indexing.model_check import check_model
from leanrag_core.models.base import Completion
from leanrag_core.models.endpoint import ChatRequest, Endpoint, Reply
from leanrag_core.models.registry import Models
from leanrag_core.models.request_form import Form
from leanrag_core.models.speeds import Speed, Speeds
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.settings import Settings
from tests.endpoint.coast import story
from tests.endpoint.faults import STALL, FaultPlan
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow


def asking(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


@pytest.mark.alone  # its clock is that of the server
def test_the_speed_of_a_model_is_measured_and_kept_in_the_home(tmp_path: Path) -> None:
    with EndpointServer(tokens_per_second=200) as server:
        speeds = Speeds(tmp_path / "speeds.json")
        endpoint = Endpoint(Settings(base_url=server.url), speeds=speeds)
        assert endpoint.speed("m") is None
        for n in range(3):
            endpoint.chat("m", asking(f"Say these words again, please: {n} " + "bee " * 60))
        measured = endpoint.speed("m")
        assert measured is not None
        assert 80 < measured.tokens_per_second <= 205
        assert measured.mean_in_flight == 1.0
        again = Endpoint(Settings(base_url=server.url), speeds=Speeds(tmp_path / "speeds.json")).speed("m")
        assert again is not None
        assert again.tokens_per_second == pytest.approx(measured.tokens_per_second, rel=0.3)
        assert endpoint.speed("another") is None
    (tmp_path / "speeds.json").write_text("no JSON")
    assert Speeds(tmp_path / "speeds.json").of(endpoint.address, "m") is None


def test_later_calls_count_more_than_earlier_ones() -> None:
    speeds = Speeds()
    for _ in range(30):
        speeds.add("here", "m", Speed(1.0, 0.0, 100.0, 1.0, 1.0))
    for _ in range(60):
        speeds.add("here", "m", Speed(1.0, 0.0, 100.0, 10.0, 1.0))
    measured = speeds.of("here", "m")
    assert measured is not None
    assert 10 < measured.tokens_per_second < 11


@pytest.mark.alone  # its clock is that of the work
def test_after_the_check_a_forecast_holds_the_time_that_the_build_takes(tmp_path: Path) -> None:
    with EndpointServer(tokens_per_second=2000, slots=1, num_ctx=32768) as server:
        bench = Workbench.default(tmp_path)
        bench.settings.save(Settings(base_url=server.url))
        corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(6)]).corpus_id
        config = IndexConfig(model="openai:m", chunk_tokens=256)
        check_model(bench.models.make(), "m", story(1).decode(), config)
        made = bench.builds.forecast(corpus, config)
        assert made.basis is not None
        assert made.basis.code == "forecast.at_speed"
        started = time.perf_counter()
        bench.build(corpus, config)
        assert made.seconds.low <= time.perf_counter() - started <= made.seconds.high


@pytest.mark.alone  # calls that wait for a processor would seem slow
@pytest.mark.parametrize(("slots", "told", "most"), [(1, True, 1), (1, False, 2), (4, True, 4)])
def test_no_queue_is_built_before_a_server_with_few_slots(
    slots: int,
    told: bool,
    most: int,
    tmp_path: Path,
) -> None:
    fields: dict[str, Any] = {"slot_n_ctx": 8192} if told else {}
    with EndpointServer(tokens_per_second=300, slots=slots, ollama=False, **fields) as server:
        language = Models(Settings(base_url=server.url, concurrency=8), CallStore(tmp_path)).language("openai:m")
        assert language is not None
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: language.complete(asking(f"{n} " + "bee " * 50)).text, range(16)))
        assert server.most_in_flight == most


@pytest.mark.alone  # calls that wait for a processor would seem slow
def test_more_calls_go_out_while_that_brings_more(tmp_path: Path) -> None:
    with EndpointServer(tokens_per_second=200, slots=4, ollama=False) as server:
        language = Models(Settings(base_url=server.url, concurrency=16), CallStore(tmp_path)).language("openai:m")
        assert language is not None
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda n: language.complete(asking(f"{n} " + "bee " * 50)).text, range(50)))
        assert 4 <= server.most_in_flight <= 8


def test_a_call_that_took_too_long_is_not_repeated_as_it_was(tmp_path: Path) -> None:
    plan = FaultPlan(share=1.0, kinds=(STALL,), recover_after=None, stall_seconds=5.0)
    limits: list[int | None] = []

    class Recorded(Endpoint):
        def _request(self, request: ChatRequest, form: Form) -> dict[str, Any]:
            limits.append(request.max_tokens)
            return super()._request(request, form)

    with EndpointServer(plan=plan, ollama=False) as server:
        settings = Settings(base_url=server.url, timeout_seconds=1, retries=6)
        models = Models(settings, CallStore(tmp_path))
        models.endpoint = Recorded(settings, models.forms, speeds=models.speeds)
        language = models.language("openai:m")
        assert language is not None
        with pytest.raises(CallFailed, match="and again with a quarter of the reply"):
            language.complete(asking("Hello"), max_tokens=800)
        assert limits == [800, 200]


def test_a_cut_reply_to_a_lowered_limit_is_refused_like_any_other(tmp_path: Path) -> None:
    limits: list[int | None] = []

    class Slow(Endpoint):
        def chat(self, *given: Any, max_tokens: int | None = None, **more: Any) -> Reply:
            limits.append(max_tokens)
            if len(limits) == 1:
                raise EndpointTimeout("endpoint.timeout", address=self.address, seconds=1)
            return Reply('{"entities": [', "length", 5, 200)

    def refuse(completion: Completion) -> None:
        raise ReplyError("reply.cut_be_shorter")

    settings = Settings(base_url="http://127.0.0.1:9/v1", retries=6)
    models = Models(settings, CallStore(tmp_path))
    models.endpoint = Slow(settings, models.forms, speeds=models.speeds)
    language = models.language("openai:m")
    assert language is not None
    with pytest.raises(ReplyError):
        language.complete(asking("Hello"), max_tokens=800, accept=refuse)
    assert limits == [800, 200]
    assert models.meter.read().faults
    assert len(CallStore(tmp_path)) == 0


def test_a_slow_reply_is_waited_for_where_the_measured_speed_says_so(tmp_path: Path) -> None:
    with EndpointServer(ollama=False) as server:
        settings = Settings(base_url=server.url, timeout_seconds=1, retries=0, max_reply_tokens=100)
        models = Models(settings, CallStore(tmp_path))
        models.speeds.add(models.endpoint.address, "m", Speed(1.0, 0.0, 50.0, 5.0, 1.0))  # 10 tokens a second
        assert models.endpoint.timeout_seconds("m", asking("Hello"), None) == pytest.approx(25, rel=0.01)
        server.latency_seconds = 2.0
        language = models.language("openai:m")
        assert language is not None
        assert language.complete(asking("Hello")).text
        hurried = Models(replace(settings), CallStore(tmp_path / "other")).language("openai:m")
        assert hurried is not None
        with pytest.raises(CallFailed):
            hurried.complete(asking("Hello"))
