"""Servers on the loopback that tell of their models as Ollama, LM Studio, llama.cpp and vLLM do."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.endpoint.server import EndpointServer, _Handler

Answer = Callable[[BaseHTTPRequestHandler], None]
Routes = dict[str, Any]  # path -> JSON, or what answers
KINDS = ("ollama", "lmstudio", "llamacpp", "vllm")


def ports(**given: int) -> dict[str, int]:
    """Return the ports that are looked at; the kinds that are not named are not looked for."""
    return {**dict.fromkeys(KINDS, 0), **given}


class Asked:
    """Where a server listens, and what it was asked."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()


@contextmanager
def serving(routes: Routes) -> Iterator[Asked]:
    """Run a server that answers at these paths, with 404 at any other."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.paths.append(self.path)
            asked.headers.append(dict(self.headers.items()))
            answer = routes.get(self.path)
            if answer is None:
                self.send_error(404)
            elif callable(answer):
                with suppress(OSError):  # a client that has enough goes
                    answer(self)
            else:
                chosen = answer.get(json.loads(sent)["model"]) if self.path == "/api/show" else answer
                write(self, json.dumps(chosen).encode())

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    asked = Asked(server.server_port)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield asked
    finally:
        asked.closing.set()
        server.shutdown()
        server.server_close()


def write(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, kind: str = "application/json") -> None:
    """Send a whole answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


OLLAMA: Routes = {
    "/api/version": {"version": "0.14.2"},
    "/api/tags": {
        "models": [
            {"name": "nomic-embed-text:latest", "size": 274_302_450, "details": {"family": "nomic-bert"}},
            {"name": "qwen3:4b", "size": 2_497_293_931, "details": {"family": "qwen3"}},
            {"name": "llama3.2:1b", "size": 1_321_098_329, "details": {"family": "llama"}},
        ]
    },
    "/api/ps": {"models": [{"name": "qwen3:4b", "size_vram": 0, "context_length": 16384}]},
    "/api/show": {
        "nomic-embed-text:latest": {"capabilities": ["embedding"], "parameters": "num_ctx    8192", "model_info": {}},
        "qwen3:4b": {"capabilities": ["completion", "tools"], "parameters": "stop <|im_end|>", "model_info": {"a": 1}},
        "llama3.2:1b": {"capabilities": ["completion"], "parameters": "", "model_info": {"a": 1}},
    },
}
LM_STUDIO: Routes = {
    "/api/v0/models": {
        "object": "list",
        "data": [
            {
                "id": "qwen3-4b",
                "type": "llm",
                "state": "loaded",
                "max_context_length": 40960,
                "loaded_context_length": 8192,
            },
            {"id": "text-embedding-bge-m3", "type": "embeddings", "state": "loaded", "max_context_length": 8192},
            {"id": "gemma-3-12b", "type": "vlm", "state": "not-loaded", "max_context_length": 131072},
        ],
    }
}
LLAMA_CPP: Routes = {
    "/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 4, "model_path": "/home/ada/m/q.gguf"},
    "/v1/models": {
        "data": [
            {"id": "/home/ada/m/q.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 40960, "size": 1_100_000_000}}
        ]
    },
}
VLLM: Routes = {
    "/v1/models": {"object": "list", "data": [{"id": "Qwen/Qwen3-4B", "owned_by": "vllm", "max_model_len": 16384}]}
}


@contextmanager
def scripted_ollama() -> Iterator[EndpointServer]:
    """Run the scripted endpoint, which also tells of its models as Ollama does."""
    told = {
        "/api/version": {"version": "0.14.2"},
        "/api/tags": {"models": [{"name": "scripted-chat", "size": 2_500_000_000}, {"name": "scripted-embedding"}]},
        "/api/ps": {"models": [{"name": "scripted-chat", "model": "scripted-chat", "context_length": 16384}]},
    }

    class Handler(_Handler):
        def do_GET(self) -> None:  # noqa: N802
            if self.path in told:
                self._write(200, "application/json", json.dumps(told[self.path]).encode())
            else:
                super().do_GET()

    server = EndpointServer()
    server._http.RequestHandlerClass = Handler
    with server:
        yield server
