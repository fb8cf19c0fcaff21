"""A real HTTP server on the loopback that speaks OpenAI's protocol: scripted replies, faults on demand, a log of all.

python -m tests.endpoint.server --port 8000 --log requests.jsonl --faults share=0.2,kinds=http_500+reset
"""

import argparse
import json
import socket
import socketserver
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

from tests.endpoint import faults, protocol
from tests.endpoint.batches import ScriptedBatches
from tests.endpoint.faults import FaultPlan
from tests.endpoint.protocol import Refusal, Response
from tests.endpoint.scripted_model import ScriptedModel

ANSWERED = "answered"
_WORK = ("/v1/chat/", "/v1/embeddings")


@dataclass(frozen=True)
class Request:
    """One request, written down just before its answer is sent.

    at: seconds since the epoch of its arrival. key: sha256 of the canonical body. kind: the task that was recognised,
    "embed", "models", "show" or "props". outcome: "answered", the fault's name, or "refused".
    seconds: until the answer.
    """

    at: float
    path: str
    key: str
    kind: str
    outcome: str
    seconds: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


class EndpointServer:
    """Serves while its with-block lasts. url is the base URL for clients; settings may be changed while it runs.

    api_key: asked for when set. latency_seconds: before every answer of chat and embeddings. response_formats: those
    that the server has; asking for another one is refused. max_prompt_tokens: longer prompts are refused. num_ctx,
    context_length: what /api/show tells; num_ctx None: not told; ollama False: no such path. max_model_len: told with
    the models, as vLLM does. slot_n_ctx: told by /props, as llama.cpp does. thoughts: how the model's thoughts are sent
    with every reply of chat (see protocol.with_reasoning); "" for none. refused_options: options of a request that are
    refused by their name. refuses: {text: (status, code, message)}; a chat prompt that holds the text is refused so.
    window: of prompt and reply together; a request for more is refused (see protocol.window_tokens).
    cached_from: the shortest beginning, in tokens, that a prompt shares with an earlier one and is told as read before.
    tokens_per_second: that a reply takes, a token of the prompt being an eighth; slots: replies that are written at one
    time, the others wait; most_in_flight (an attribute): calls that were there at one time.
    batches (an attribute): what is done with files of calls; None for a server without.
    tells_usage (an attribute): whether replies tell their tokens.
    held (an attribute): kinds of requests that get their answer when the kind has been taken out of it again.
    """

    def __init__(
        self,
        model: ScriptedModel | None = None,
        plan: FaultPlan | None = None,
        *,
        port: int = 0,
        api_key: str = "",
        dimension: int = 64,
        latency_seconds: float = 0.0,
        models: tuple[str, ...] = ("scripted-chat", "scripted-embedding"),
        response_formats: tuple[str, ...] = ("json_schema", "json_object", "text"),
        max_prompt_tokens: int | None = None,
        ollama: bool = True,
        num_ctx: int | None = 8192,
        context_length: int = 32768,
        max_model_len: int | None = None,
        slot_n_ctx: int | None = None,
        thoughts: str = "",
        refused_options: tuple[str, ...] = (),
        refuses: dict[str, tuple[int, str, str]] | None = None,
        window: int | None = None,
        cached_from: int | None = None,
        tokens_per_second: float = 0.0,
        slots: int | None = None,
        log_file: Path | None = None,
    ) -> None:
        self.model = model or ScriptedModel()
        self.plan = plan or FaultPlan()
        self.api_key, self.dimension, self.latency_seconds = api_key, dimension, latency_seconds
        self.models, self.response_formats, self.max_prompt_tokens = models, response_formats, max_prompt_tokens
        self.ollama, self.num_ctx, self.context_length, self.max_model_len = (
            ollama,
            num_ctx,
            context_length,
            max_model_len,
        )
        self.thoughts, self.refused_options, self.refuses = thoughts, refused_options, refuses or {}
        self.slot_n_ctx = slot_n_ctx
        self.cached_from = cached_from
        self._read: list[str] = []
        self.window, self.slots, self.tokens_per_second = window, slots, tokens_per_second
        self._slots = threading.Semaphore(slots or 10_000)
        self._waiting = self.most_in_flight = 0
        self.held: frozenset[str] = frozenset()
        self.tells_usage = True
        self.batches: ScriptedBatches | None = None
        self.closing = threading.Event()
        self._log: list[Request] = []
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._file: IO[str] | None = log_file.open("a", encoding="utf-8") if log_file else None
        self._http = _HTTP(("127.0.0.1", port), _Handler)
        self._http.endpoint = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """The base URL that an OpenAI client takes."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def log(self) -> list[Request]:
        """All requests of chat and embeddings so far, in the order of their answers."""
        return [request for request in self.all_requests if request.path.startswith(_WORK)]

    @property
    def all_requests(self) -> list[Request]:
        """All requests so far, those about the server and its models among them."""
        with self._lock:
            return list(self._log)

    def answered(self, kind: str | None = None) -> list[Request]:
        """Return requests that got a usable reply, the merely untidy ones included."""
        usable = {ANSWERED, *faults.USABLE}
        return [call for call in self.log if call.outcome in usable and kind in (None, call.kind)]

    def failed(self, kind: str | None = None) -> list[Request]:
        """Return requests that met a fault and got no usable reply."""
        return [call for call in self.log if faults.is_failure(call.outcome) and kind in (None, call.kind)]

    def clear(self) -> None:
        """Forget the log and how often bodies were seen."""
        with self._lock:
            self._log.clear()
            self._seen.clear()

    def fault_for(self, key: str, task: str) -> str | None:
        """Return the fault that this request meets; count that its messages were seen."""
        with self._lock:
            seen = self._seen[key]
            self._seen[key] += 1
        return self.plan.decide(key, seen, task)

    def read_before(self, text: str) -> int:
        """Return the tokens of a prompt that are told as read before: of the longest beginning that an earlier one
        had."""
        if self.cached_from is None:
            return 0
        with self._lock:
            shared = max((_n_shared(text, earlier) for earlier in self._read), default=0)
            self._read.append(text)
        tokens = protocol.tokens_of(text[:shared])
        return tokens if tokens >= self.cached_from else 0

    def take_time(self, response: Response) -> None:
        """Take the time of the reply, in one of the slots."""
        with self._lock:
            self._waiting += 1
            self.most_in_flight = max(self.most_in_flight, self._waiting)
        with self._slots:
            self.closing.wait((response.completion_tokens + response.prompt_tokens / 8) / self.tokens_per_second)
        with self._lock:
            self._waiting -= 1

    def write_down(self, request: Request) -> None:
        """Add to the log, and to the file when there is one."""
        with self._lock:
            self._log.append(request)
            if self._file:
                self._file.write(json.dumps(asdict(request)) + "\n")
                self._file.flush()

    def start(self) -> "EndpointServer":
        """Serve in a thread of its own."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop the server: no connection is left open, and requests that are stalled end at once."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.close_connections()
        self._thread.join()
        if self._file:
            self._file.close()

    def __enter__(self) -> "EndpointServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _HTTP(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
    block_on_close = False
    endpoint: EndpointServer

    def __init__(self, *arguments: Any) -> None:
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(*arguments)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's own asks the resolver for a name
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        with self._open_lock:
            for connection in self._open:
                _without_error(connection.shutdown, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):  # clients may go as they like
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _HTTP

    def log_message(self, *_: object) -> None:
        """Write nothing to stderr; the log is kept elsewhere."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve_batches(self, method: str, batches: ScriptedBatches, raw: bytes) -> None:
        """Answer a request about files and batches."""
        try:
            if (
                self.server.endpoint.api_key
                and self.headers.get("Authorization") != f"Bearer {self.server.endpoint.api_key}"
            ):
                raise Refusal(401, "invalid_api_key", "Incorrect API key provided. Give the right one.")
            status, payload, lost = batches.respond(self.server.endpoint, method, self.path, raw)
        except Refusal as refusal:
            status, payload, lost = refusal.status, json.dumps(refusal.cells).encode(), False
        self.server.endpoint.write_down(Request(time.time(), self.path, "", "batch", str(status), 0.0))
        self._write(502 if lost else status, "application/json", b"{}" if lost else payload)

    def _serve(self, method: str) -> None:
        endpoint, arrived, at = self.server.endpoint, time.perf_counter(), time.time()
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if endpoint.batches is not None and self.path.startswith(("/v1/files", "/v1/batches")):
            self._serve_batches(method, endpoint.batches, raw)
            return
        key = kind = ""
        try:
            body = protocol.body_of(raw)
            key = protocol.content_key(body)
            kind = protocol.kind_of(method, self.path)
            if endpoint.api_key and self.headers.get("Authorization") != f"Bearer {endpoint.api_key}":
                raise Refusal(401, "invalid_api_key", "Incorrect API key provided. Give the right one.")
            response = protocol.respond(endpoint, kind, body)
        except Refusal as refusal:
            response = Response(kind or "unknown", refusal.status, refusal.cells, outcome="refused")
        fault = response.outcome if response.outcome in faults.WIRE else None
        pause = endpoint.latency_seconds if self.path.startswith(_WORK) else 0.0
        if pause:
            endpoint.closing.wait(pause)
        if endpoint.tokens_per_second and self.path.startswith(_WORK):
            endpoint.take_time(response)
        while response.kind in endpoint.held:
            if endpoint.closing.wait(0.05):
                break
        seconds = time.perf_counter() - arrived
        token_counts = () if fault and fault != faults.STALL else (response.prompt_tokens, response.completion_tokens)
        endpoint.write_down(Request(at, self.path, key, response.kind, response.outcome, seconds, *token_counts))
        if fault == faults.STALL:
            endpoint.closing.wait(endpoint.plan.stall_seconds)
            if endpoint.closing.is_set():
                self.close_connection = True
                return
        self._send_fault(fault, response) if fault and fault != faults.STALL else self._send(response)

    def _send(self, response: Response) -> None:
        if response.events is not None:
            self._stream(response.events)
        else:
            self._write(response.status, "application/json", json.dumps(response.cells).encode())

    def _write(self, status: int, content_type: str, payload: bytes, *headers: str, sent: int | None = None) -> None:
        """Write head and body in one piece. sent: so many bytes of the body, where not all."""
        head = [f"HTTP/1.1 {status} {self.responses[status][0]}", f"Content-Type: {content_type}"]
        head += [f"Content-Length: {len(payload)}", *headers]
        self.wfile.write("\r\n".join([*head, "", ""]).encode() + payload[:sent])

    def _stream(self, events: list[dict[str, Any]], last: int | None = None) -> None:
        """Write server-sent events in chunked coding; last: only so many, and no end."""
        self.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for event in events[:last]:
            self._chunk(f"data: {json.dumps(event)}\n\n".encode())
        if last is None:
            self._chunk(b"data: [DONE]\n\n")
            self._chunk(b"")

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    def _send_fault(self, fault: str, response: Response) -> None:
        if fault == faults.RESET:
            if response.events is not None:
                self._stream(response.events, last=max(1, len(response.events) // 2))
            else:
                payload = json.dumps(response.cells).encode()
                self._write(200, "application/json", payload, sent=len(payload) // 2)
            time.sleep(0.01)  # what was sent arrives before the reset throws it away
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.rfile.close()  # it holds the connection open
            self.connection.close()
        else:
            status, content_type, payload, headers = protocol.failure(fault, self.server.endpoint.plan.retry_after)
            self._write(status, content_type, payload, *headers)


def _n_shared(one: str, other: str) -> int:
    """Return with how many characters both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _without_error(call: Any, *arguments: Any) -> bool:
    """Return whether the call on a socket that may be closed worked."""
    try:
        call(*arguments)
    except OSError:
        return False
    return True


def read_log(path: Path) -> Iterator[Request]:
    """Read the requests of a log file; leave a last line that is still being written for the next time."""
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield Request(**json.loads(line))


def main() -> None:
    """Serve until the process ends; the first line on stdout is the base URL."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--faults", type=FaultPlan.parse, default=FaultPlan())
    parser.add_argument("--api-key", default="")
    parser.add_argument("--dimension", type=int, default=64)
    parser.add_argument("--latency-seconds", type=float, default=0.0)
    parser.add_argument("--glean-one-more", action="store_true")
    given = parser.parse_args()
    server = EndpointServer(
        ScriptedModel(glean_one_more=given.glean_one_more),
        given.faults,
        port=given.port,
        api_key=given.api_key,
        dimension=given.dimension,
        latency_seconds=given.latency_seconds,
        log_file=given.log,
    )
    with server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
