"""Model servers on this machine: each kind tells of its models, and what is none is left out, soon."""

import asyncio
import gzip
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler

import pytest

from leanrag_core.models import local_servers
from leanrag_core.models.local_servers import FoundModel, FoundServer, find_servers, settings_with, usual_ports
from leanrag_core.types.settings import Price, Settings
from tests.endpoint.local_servers import (
    KINDS,
    LLAMA_CPP,
    LM_STUDIO,
    OLLAMA,
    VLLM,
    Routes,
    ports,
    scripted_ollama,
    serving,
    write,
)


def found(kind: str, routes: Routes) -> FoundServer | None:
    """Return the server of that kind, as it is detected where these routes are served."""
    with serving(routes) as asked:
        servers = find_servers(ports(**{kind: asked.port})).servers
    assert all(server.kind.name == kind and server.port == asked.port for server in servers)
    return servers[0] if servers else None


def test_ollama_tells_what_writes_what_embeds_what_is_in_memory_and_what_each_reads() -> None:
    server = found("ollama", OLLAMA)
    assert server is not None
    assert server.writing == (
        FoundModel("qwen3:4b", loaded=True, window=16384, n_bytes=2_497_293_931),
        FoundModel("llama3.2:1b", n_bytes=1_321_098_329),
    )
    assert server.embedding == (FoundModel("nomic-embed-text:latest", embeds=True, window=8192, n_bytes=274_302_450),)


def test_lm_studio_offers_what_is_in_memory_with_the_window_it_was_loaded_with() -> None:
    server = found("lmstudio", LM_STUDIO)
    assert server is not None
    assert server.writing == (FoundModel("qwen3-4b", loaded=True, window=8192),)
    assert server.embedding == (FoundModel("text-embedding-bge-m3", embeds=True, loaded=True),)


def test_llama_cpp_tells_its_slots_and_its_model_is_named_without_its_folder() -> None:
    server = found("llamacpp", LLAMA_CPP)
    assert server is not None
    assert server.models == (FoundModel("q.gguf", loaded=True, window=8192, n_bytes=1_100_000_000),)
    assert server.n_slots == 4


def test_vllm_tells_the_window_of_its_model() -> None:
    server = found("vllm", VLLM)
    assert server is not None
    assert server.models == (FoundModel("Qwen/Qwen3-4B", loaded=True, window=16384),)


@pytest.mark.parametrize(
    ("kind", "routes"),
    [
        ("ollama", {**OLLAMA, "/api/tags": {"models": []}}),
        ("lmstudio", {"/api/v0/models": {"data": [{"id": "q", "type": "llm", "state": "not-loaded"}]}}),
        ("llamacpp", {"/props": {"role": "router"}, "/v1/models": {"data": []}}),
    ],
)
def test_a_server_without_a_model_is_found_as_one(kind: str, routes: Routes) -> None:
    server = found(kind, routes)
    assert server is not None
    assert server.models == ()
    assert not server.needs_key


def test_a_server_that_wants_a_key_is_found_and_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    with serving({"/v1/models": lambda handler: write(handler, b"{}", status=401)}) as asked:
        [server] = find_servers(ports(vllm=asked.port)).servers
    assert server.needs_key
    assert "sk-planted" not in str(asked.headers)


def test_a_notebook_whose_event_loop_runs_finds_servers() -> None:
    async def cell(port: int) -> tuple[FoundServer, ...]:
        return find_servers(ports(vllm=port)).servers

    with serving(VLLM) as asked, ThreadPoolExecutor(1) as notebook:
        [server] = notebook.submit(asyncio.run, cell(asked.port)).result()
    assert [model.name for model in server.models] == ["Qwen/Qwen3-4B"]


def test_servers_are_found_beside_each_other_in_the_order_of_the_table() -> None:
    with serving(VLLM) as vllm, serving(OLLAMA) as ollama:
        seen = find_servers(ports(vllm=vllm.port, ollama=ollama.port))
    assert [server.kind.title for server in seen.servers] == ["Ollama", "vLLM"]
    assert seen.free_bytes > 0


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"[" * 65536)


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.02)


def half_a_head(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for n in range(10_000):
        handler.wfile.write(b"X-%d: y\r\n" % n)
        time.sleep(0.02)


def packed(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.end_headers()
    handler.wfile.write(gzip.compress(json.dumps(VLLM["/v1/models"]).encode() + b" " * 50_000_000))


HOSTILE = {
    "a page": lambda handler: write(handler, b"<html><h1>Router</h1></html>", kind="text/html"),
    "no object": lambda handler: write(handler, b'"ok"'),
    "deep": lambda handler: write(handler, b"[" * 500_000),
    "no text": lambda handler: write(handler, b"\xff\xfe\x00"),
    "an error": lambda handler: write(handler, b'{"models": []}', status=500),
    "endless": endless,
    "dripping": dripping,
    "half a head": half_a_head,
    "packed": packed,
}
PATHS = ("/api/version", "/api/tags", "/api/v0/models", "/props", "/v1/models")


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_model_server_is_left_out_within_seconds(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "_SECONDS", 0.4)
    with serving(dict.fromkeys(PATHS, HOSTILE[what])) as asked:
        started = time.perf_counter()
        assert find_servers(dict.fromkeys(KINDS, asked.port)).servers == ()
        assert time.perf_counter() - started < 5
        assert asked.paths


def test_a_server_that_takes_connections_and_says_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert find_servers(ports(ollama=silent.getsockname()[1])).servers == ()


def test_a_redirect_is_not_followed() -> None:
    with serving(VLLM) as other:

        def elsewhere(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(307)
            handler.send_header("Location", f"http://127.0.0.1:{other.port}{handler.path}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        with serving(dict.fromkeys(PATHS, elsewhere)) as asked:
            assert find_servers(dict.fromkeys(KINDS, asked.port)).servers == ()
            assert asked.paths
        assert other.paths == []


def test_models_whose_entries_are_damaged_hide_none_of_the_others() -> None:
    names = ["good", "", None, 7, "x" * 500, "cod\u202efdp.exe", {"a": 1}]
    data = [{"id": name, "owned_by": "vllm", "max_model_len": "many"} for name in names] + ["text", None]
    server = found("vllm", {"/v1/models": {"data": data}})
    assert server is not None
    assert server.models == (FoundModel("good", loaded=True),)


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({}) as proxy, serving(VLLM) as asked:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert find_servers(ports(vllm=asked.port)).servers
        assert proxy.paths == []


def test_other_ports_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(local_servers.PORTS_VARIABLE, "ollama=11500, vllm=0,nobody=1,llamacpp=x,lmstudio=70000")
    assert usual_ports() == {"ollama": 11500, "lmstudio": 1234, "llamacpp": 8080, "vllm": 0}
    monkeypatch.delenv(local_servers.PORTS_VARIABLE)
    assert usual_ports() == {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}


def test_a_look_where_nothing_listens_finds_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert find_servers(dict.fromkeys(KINDS, port)).servers == ()
    assert find_servers(ports()).servers == ()


def test_using_a_server_sets_address_models_calls_in_flight_and_price_and_drops_limits_of_the_service_before() -> None:
    before = Settings(
        base_url="https://api.openai.com/v1",
        concurrency=32,
        requests_per_minute=500,
        tokens_per_minute=90_000,
        prices={"gpt-4o-mini": Price(0.15, 0.6)},
        answer_model="openai:gpt-4o-mini",
    )
    server = found("llamacpp", LLAMA_CPP)
    assert server is not None
    after = settings_with(before, server, model="q.gguf")
    assert after.base_url == f"http://localhost:{server.port}/v1"
    assert after.concurrency == 4
    assert (after.build_model, after.build_embedding) == ("openai:q.gguf", "")
    assert after.prices == {"gpt-4o-mini": Price(0.15, 0.6), "q.gguf": Price()}
    assert (after.requests_per_minute, after.tokens_per_minute, after.answer_model) == (0, 0, "")
    assert after.timeout_seconds == before.timeout_seconds


def test_one_model_of_a_server_in_use_takes_the_place_of_another_and_leaves_the_embedding() -> None:
    server = found("ollama", OLLAMA)
    assert server is not None
    both = settings_with(Settings(), server, "qwen3:4b", "nomic-embed-text:latest")
    other = settings_with(both, server, "llama3.2:1b")
    assert (other.build_model, other.build_embedding) == ("openai:llama3.2:1b", "openai:nomic-embed-text:latest")
    assert other.concurrency == 2


def test_the_scripted_ollama_of_the_browser_test_is_found() -> None:
    with scripted_ollama() as running:
        [server] = find_servers(ports(ollama=running.port)).servers
    assert [model.name for model in server.models] == ["scripted-chat", "scripted-embedding"]
    assert [model.embeds for model in server.models] == [False, True]
    assert server.writing[0].window == 16384
