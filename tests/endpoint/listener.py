"""An HTTP server on the loopback that keeps what it is sent and replies by a function."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Failure:
    """A reply with that status."""

    status: int
    cells: Any


@dataclass
class Heard:
    """What a server was sent. read: paths of requests without a body."""

    url: str = ""
    read: list[str] = field(default_factory=list)
    keys_of_reads: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@contextmanager
def listener(
    reply: Callable[[str, dict[str, Any]], Any], about: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[Heard]:
    """Run a server that keeps what it is sent. reply: (path, body) -> JSON, or a Failure. about: what it tells of
    itself, by path; other paths are not found."""
    heard = Heard()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Write nothing to stderr."""

        def do_GET(self) -> None:
            heard.read.append(self.path)
            heard.keys_of_reads.append(self.headers.get("Authorization", ""))
            cells = about.get(self.path)
            self._send(404 if cells is None else 200, cells or {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.paths.append(self.path)
            heard.bodies.append(body)
            heard.keys.append(self.headers.get("Authorization", ""))
            cells = reply(self.path, body)
            if isinstance(cells, Failure):
                self._send(cells.status, cells.cells)
            else:
                self._send(200, cells)

        def _send(self, status: int, cells: Any) -> None:
            payload = json.dumps(cells).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    heard.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
