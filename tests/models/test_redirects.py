"""A redirect of an endpoint: followed on the same server, never to another one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from leanrag_core.errors import EndpointError
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer

HELLO = [{"role": "user", "content": "a private passage"}]


@contextmanager
def redirecting(target: str) -> Iterator[str]:
    """Yield the base URL of a server that sends every request on to the target, below its own path."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(307)
            self.send_header("Location", f"{target}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("streamed", [False, True])
def test_a_redirect_to_another_server_is_refused_before_anything_is_sent_there(streamed: bool) -> None:
    with EndpointServer() as other, redirecting(other.url.removesuffix("/v1")) as url:
        endpoint = Endpoint(Settings(base_url=f"{url}/v1"))
        ask = partial(endpoint.stream, on_text=lambda piece: None) if streamed else endpoint.chat
        with pytest.raises(EndpointError, match=f"sends requests on to http://127.0.0.1:{other.port}") as raised:
            ask("scripted-chat", HELLO)
        assert "Settings" in str(raised.value)
        assert other.log == []


def test_embeddings_are_not_sent_on_either() -> None:
    with EndpointServer() as other, redirecting(other.url.removesuffix("/v1")) as url:
        with pytest.raises(EndpointError, match="sends requests on"):
            Endpoint(Settings(base_url=f"{url}/v1")).embed("scripted-embedding", ["a private passage"])
        assert other.log == []


def test_a_redirect_on_the_same_server_is_followed() -> None:
    class Moved(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            moved = self.path.startswith("/new/")
            answer = b'{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi"}}]}'
            self.send_response(200 if moved else 308)
            if not moved:
                self.send_header("Location", f"/new{self.path}")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer) if moved else 0))
            self.end_headers()
            self.wfile.write(answer if moved and b"a private passage" in body else b"")

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Moved)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        settings = Settings(base_url=f"http://127.0.0.1:{server.server_port}/v1")
        assert Endpoint(settings).chat("m", HELLO).text == "hi"
    finally:
        server.shutdown()
        server.server_close()
