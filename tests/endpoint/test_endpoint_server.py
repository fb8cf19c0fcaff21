import http.client
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import waiting
from tests.endpoint import faults
from tests.endpoint.faults import FaultPlan
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer, read_log
from tests.endpoint.test_scripted_model import prompt, user
from tests.endpoint.vectors import vector_of

EMBED = "/v1/embeddings"
CHAT = "/v1/chat/completions"


def call(server: EndpointServer, path: str, body: dict[str, Any] | None, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    method = "GET" if body is None else "POST"
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    return connection.getresponse()


def chat(server: EndpointServer, text: str = "hello", **more: Any) -> http.client.HTTPResponse:
    return call(server, CHAT, {"model": "m", "messages": user(text), **more})


def cells(response: http.client.HTTPResponse) -> Any:
    assert response.status == 200
    return json.loads(response.read())


def content(response: http.client.HTTPResponse) -> str:
    return cells(response)["choices"][0]["message"]["content"]


def troubled(*kinds: str, **more: Any) -> EndpointServer:
    return EndpointServer(plan=FaultPlan(1.0, kinds, **{"recover_after": None, **more}))


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as running:
        yield running


# The protocol


def test_a_chat_reply_has_the_form_of_the_protocol(server: EndpointServer):
    reply = cells(chat(server, "one two three", response_format={"type": "json_object"}))
    assert json.loads(reply["choices"][0]["message"]["content"]) == {"echo": "You said: one two three"}
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert reply["usage"] == {"prompt_tokens": 4, "completion_tokens": 8, "total_tokens": 12}


def test_a_reply_longer_than_allowed_is_cut(server: EndpointServer):
    choice = cells(chat(server, "one two three four five six", max_tokens=4))["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("You said: one", "length")


def test_the_openai_package_reads_replies_streams_vectors_and_models(server: EndpointServer):
    import openai

    client = openai.OpenAI(base_url=server.url, api_key="k", max_retries=0)
    messages: Any = user("a b c d e f")
    plain = client.chat.completions.create(model="m", messages=messages)
    assert plain.choices[0].message.content == "You said: a b c d e f"
    events = list(
        client.chat.completions.create(
            model="m", messages=messages, stream=True, stream_options={"include_usage": True}
        )
    )
    pieces = [event.choices[0].delta.content or "" for event in events if event.choices]
    assert "".join(pieces) == "You said: a b c d e f"
    assert len([piece for piece in pieces if piece]) == 3
    assert events[-2].choices[0].finish_reason == "stop"
    assert events[-1].usage is not None
    assert events[-1].usage.total_tokens == 8 + 11
    floats = client.embeddings.create(model="m", input=["a mill", "b"], encoding_format="float")
    packed = client.embeddings.create(model="m", input=["a mill", "b"])
    assert [vector.index for vector in floats.data] == [0, 1]
    assert packed.data[0].embedding == pytest.approx(floats.data[0].embedding, abs=1e-6)
    assert [model.id for model in client.models.list().data] == ["scripted-chat", "scripted-embedding"]


def test_a_stream_reports_no_usage_unless_asked(server: EndpointServer):
    text = chat(server, "x", stream=True).read().decode()
    assert text.endswith("data: [DONE]\n\n")
    assert "usage" not in text


def test_vectors_are_unit_and_near_for_similar_texts():
    mill, again, other = (
        vector_of(text, 64) for text in ("the old tide mill grinds barley", "tide mill, grinds barley", "a ship sails")
    )
    assert math.hypot(*mill) == pytest.approx(1, abs=1e-5)
    assert sum(x * y for x, y in zip(mill, again, strict=True)) > 0.8
    assert abs(sum(x * y for x, y in zip(mill, other, strict=True))) < 0.4
    assert math.hypot(*vector_of("...", 8)) == pytest.approx(1, abs=1e-5)


def test_ollamas_window_is_reported():
    with EndpointServer(num_ctx=2048, context_length=9000) as running:
        shown = cells(call(running, "/api/show", {"model": "m"}))
        assert shown["parameters"].split()[:2] == ["num_ctx", "2048"]
        assert shown["model_info"]["scripted.context_length"] == 9000
        running.ollama = False
        assert call(running, "/api/show", {"model": "m"}).status == 404


def test_a_key_is_asked_for_when_set():
    with EndpointServer(api_key="secret") as running:
        refused = chat(running)
        assert refused.status == 401
        assert json.loads(refused.read())["error"]["code"] == "invalid_api_key"
        body = {"model": "m", "messages": user("hello")}
        assert call(running, CHAT, body, Authorization="Bearer secret").status == 200
        assert [request.outcome for request in running.log] == ["refused", "answered"]


def test_what_is_wrong_with_a_request_is_said():
    with EndpointServer(response_formats=("json_object",), max_prompt_tokens=5) as running:
        statuses = [
            call(running, "/v1/nothing", {}).status,
            call(running, CHAT, {"messages": []}).status,
            call(running, EMBED, {"input": [""]}).status,
            chat(running, response_format={"type": "json_schema", "json_schema": {}}).status,
            chat(running, "one two three four five").status,
        ]
        assert statuses == [404, 400, 400, 400, 400]


def test_the_log_records_task_outcome_and_tokens(server: EndpointServer):
    server.clear()
    chat(server, prompt("extract_graph")).read()
    call(server, EMBED, {"model": "m", "input": ["a b c"]}).read()
    first, second = server.log
    assert (first.kind, first.outcome, first.path) == ("extract_graph", "answered", CHAT)
    assert (second.kind, second.prompt_tokens) == ("embed", 4)
    assert len(first.key) == 64
    assert len(server.answered()) == 2
    assert len(server.answered("embed")) == 1


def test_a_connection_serves_many_requests(server: EndpointServer):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/v1/models")
        connection.getresponse().read()
        port = connection.sock.getsockname()[1]
    assert connection.sock.getsockname()[1] == port


# Faults


def test_a_plan_is_deterministic_and_keeps_its_share():
    plan = FaultPlan(0.3, recover_after=None, seed=5)
    outcomes = [plan.decide(f"key {n}", 0, "extract_graph") for n in range(2000)]
    assert outcomes == [plan.decide(f"key {n}", 0, "extract_graph") for n in range(2000)]
    assert 0.26 < sum(outcome is not None for outcome in outcomes) / 2000 < 0.34
    assert len(set(outcomes)) > 15
    assert outcomes != [FaultPlan(0.3, seed=6).decide(f"key {n}", 0, "extract_graph") for n in range(2000)]


def test_a_body_recovers_after_so_many_faults():
    with troubled(faults.HTTP_500, recover_after=2) as running:
        assert [chat(running, "same").status for _ in range(4)] == [500, 500, 200, 200]
        assert chat(running, "another").status == 500
        assert [request.outcome for request in running.log] == [
            "http_500",
            "http_500",
            "answered",
            "answered",
            "http_500",
        ]
        assert (len(running.answered()), len(running.failed())) == (2, 3)


def test_faults_fit_the_task():
    every = FaultPlan(1.0, recover_after=None)
    assert {every.decide(f"{n}", 0, "answer") for n in range(500)} == {
        *faults.WIRE, faults.EMPTY_CONTENT, faults.CUT_JSON, faults.REPEATED_LOOP, faults.INJECTION
    }  # fmt: skip
    assert FaultPlan(1.0, (faults.ZERO_VECTOR,)).decide("k", 0, "answer") is None
    assert FaultPlan(1.0, tasks=("embed",)).decide("k", 0, "answer") is None


def test_a_plan_is_read_from_text():
    plan = FaultPlan.parse("share=0.5,kinds=stall+reset,recover_after=never,seed=3,stall_seconds=0.1")
    assert plan == FaultPlan(0.5, ("stall", "reset"), None, 3, 0.1)
    with pytest.raises(ValueError, match="there is no fault flood"):
        FaultPlan.parse("kinds=flood")


@pytest.mark.parametrize(
    ("kind", "status", "wait"),
    [
        (faults.RATE_LIMIT, 429, "0.05"),
        (faults.RATE_LIMIT_BARE, 429, None),
        (faults.HTTP_500, 500, None),
        (faults.HTTP_503, 503, None),
        (faults.HTML_502, 502, None),
        (faults.HTML_200, 200, None),
        (faults.EMPTY_BODY, 200, None),
    ],
)
def test_status_and_body_of_a_failing_server(kind: str, status: int, wait: str | None):
    with troubled(kind) as running:
        response = chat(running)
        body = response.read()
        assert (response.status, response.getheader("Retry-After")) == (status, wait)
        if kind in (faults.HTML_200, faults.HTML_502):
            assert response.getheader("Content-Type") == "text/html"
            assert b"<h1>Bad gateway</h1>" in body
        elif kind == faults.EMPTY_BODY:
            assert body == b""
        else:
            assert json.loads(body)["error"]["code"] == kind


@pytest.mark.parametrize("stream", [False, True])
def test_a_reset_comes_in_the_middle(stream: bool):
    with troubled(faults.RESET) as running:
        response = chat(running, "a b c d e f g h i", stream=stream)
        assert response.status == 200
        assert len(response.read1(20)) == 20
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            response.read()
        assert running.log[0].outcome == "reset"


def test_a_stall_is_in_the_log_before_it_ends():
    with troubled(faults.STALL, stall_seconds=0.4) as running:
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=0.1)
        connection.request("POST", CHAT, json.dumps({"messages": user("x")}))
        with pytest.raises(TimeoutError):
            connection.getresponse()
        assert [request.outcome for request in running.log] == ["stall"]
        started = time.perf_counter()
        assert content(chat(running, "y")) == "You said: y"
        assert time.perf_counter() - started > 0.39


def test_a_server_that_stops_ends_its_stalls():
    running = troubled(faults.STALL).start()
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=5)
    connection.request("POST", CHAT, json.dumps({"messages": user("x")}))
    waiting.until(lambda: running.log)
    running.stop()
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        connection.getresponse()


def test_spoiled_chat_replies_are_what_they_say():
    def spoiled(kind: str, task: str = "extract_graph") -> tuple[str, str]:
        with troubled(kind) as running:
            choice = cells(chat(running, prompt(task), max_tokens=4096))["choices"][0]
            assert [request.outcome for request in running.log] == [kind]
            assert len(running.answered()) == (kind in faults.USABLE)
            return choice["message"]["content"], choice["finish_reason"]

    well = json.loads(ScriptedModel().reply(user(prompt("extract_graph"))).text)
    assert spoiled(faults.EMPTY_CONTENT) == ("", "stop")
    cut, reason = spoiled(faults.CUT_JSON)
    assert reason == "length"
    assert json.dumps(well).startswith(cut)
    fenced, _ = spoiled(faults.FENCED_JSON)
    assert json.loads(fenced.split("```json\n")[1].split("\n```")[0]) == well
    commas, _ = spoiled(faults.TRAILING_COMMAS)
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(commas)
    assert json.loads(commas.replace(",}", "}").replace(",]", "]")) == well
    assert set(json.loads(spoiled(faults.WRONG_KEYS)[0])) == {"my_entities", "my_relations"}
    assert len(json.loads(spoiled(faults.MANY_ENTITIES)[0])["entities"]) == 5000
    loop, reason = spoiled(faults.REPEATED_LOOP)
    assert (len(set(loop.splitlines()[:-1])), reason) == (1, "length")
    assert len(loop.splitlines()) > 300
    doubled = [load["name"] for load in json.loads(spoiled(faults.DUPLICATED_NAMES)[0])["entities"]]
    assert doubled[:2] == ["Carrow", "CARROW"]
    names = [load["name"] for load in json.loads(spoiled(faults.LONG_NAMES)[0])["entities"]]
    assert {len(name) for name in names} == {10_000}
    injected = json.loads(spoiled(faults.INJECTION)[0])["entities"][0]["description"]
    assert "<script>" in injected
    assert "Ignore previous instructions" in injected
    assert "![x](" in injected
    assert "<script>" in spoiled(faults.INJECTION, "answer")[0]
    assert json.loads(spoiled(faults.MEMBER_NAME, "aggregate_entity")[0])["name"] == "Carrow"


def test_spoiled_vectors_are_what_they_say():
    def rows(kind: str) -> list[dict[str, Any]]:
        with troubled(kind) as running:
            return cells(call(running, EMBED, {"model": "m", "input": ["mill", "ship", "rail"]}))["data"]

    mill, ship, rail = (vector_of(text, 64) for text in ("mill", "ship", "rail"))
    assert [len(row["embedding"]) for row in rows(faults.WRONG_DIMENSION)] == [67, 67, 67]
    assert math.isnan(rows(faults.NOT_A_NUMBER)[0]["embedding"][0])
    assert rows(faults.ZERO_VECTOR)[0]["embedding"] == [0.0] * 64
    assert [row["index"] for row in rows(faults.FEWER_VECTORS)] == [0, 1]
    disordered = rows(faults.WRONG_ORDER)
    assert [item["index"] for item in disordered] == [2, 1, 0]
    assert [item["embedding"] for item in disordered] == [rail, ship, mill]


def test_a_process_of_its_own_keeps_a_log_that_outlives_it(tmp_path: Path):
    log = tmp_path / "requests.jsonl"
    arguments = ["--log", str(log), "--faults", "share=1,kinds=http_503,recover_after=1"]
    command = [sys.executable, "-m", "tests.endpoint.server", *arguments]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().strip().removesuffix("/v1").rpartition(":")[2])
            statuses = []
            for _ in range(2):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("POST", CHAT, json.dumps({"messages": user("x")}))
                statuses.append(connection.getresponse().status)
        finally:
            os.kill(process.pid, signal.SIGKILL)
    assert statuses == [503, 200]
    assert [request.outcome for request in read_log(log)] == ["http_503", "answered"]
