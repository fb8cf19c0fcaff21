"""What providers answer, as their documents and their users' reports have it, and what is made of it."""

import json
import re
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from leanrag_core.errors import (
    CallFailed,
    EndpointBusy,
    EndpointError,
    EndpointPaused,
    EndpointRefusal,
    LeanRAGError,
)
from leanrag_core.models.connection import azure_address
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.endpoint_errors import LONGEST_WAIT, ErrorAnswer, error_of
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.system.addresses import ENDPOINT, Fault, fault_of
from leanrag_core.types.calls import Budget
from leanrag_core.types.settings import Settings

HELLO = [{"role": "user", "content": "Hello there"}]
USAGE = {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4}
MESSAGE = {"role": "assistant", "content": "Good day"}
CHOICE = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
REPLY = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE], "usage": USAGE}


@dataclass(frozen=True)
class Provider:
    """An answer of a provider. wait: seconds that it asks for. words: of our message."""

    name: str
    status: int
    body: Any
    error: type[EndpointError]
    words: str
    wait: float | None = None
    headers: dict[str, str] = field(default_factory=dict)


def openai_form(message: str, **more: str) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


GEMINI_MINUTE = {
    "code": 429,
    "status": "RESOURCE_EXHAUSTED",
    "message": "You exceeded your current quota, please check your plan and billing details. Please retry in 41.2s.",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "41s"}],
}
GEMINI_KEY = {
    "code": 400,
    "status": "INVALID_ARGUMENT",
    "message": "API key not valid. Please pass a valid API key.",
    "details": [{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
}
PROVIDERS = (
    Provider(
        "OpenAI, no credit, in type",
        429,
        openai_form("You exceeded it", type="insufficient_quota"),
        EndpointPaused,
        "no credit left",
    ),
    Provider(
        "OpenAI, no credit, in code",
        429,
        openai_form("You exceeded it", code="insufficient_quota"),
        EndpointPaused,
        "You exceeded it",
    ),
    Provider(
        "OpenAI, hard limit",
        400,
        openai_form("Billing hard limit has been reached", code="billing_hard_limit_reached"),
        EndpointPaused,
        "hard limit",
    ),
    Provider(
        "OpenAI, inactive account",
        429,
        openai_form("Your account is not active", code="billing_not_active"),
        EndpointPaused,
        "not active",
    ),
    Provider(
        "OpenAI, tokens a minute",
        429,
        openai_form("Rate limit reached. Please try again in 1m30s.", code="rate_limit_exceeded"),
        EndpointBusy,
        "slow down",
        90.0,
    ),
    Provider(
        "OpenAI, milliseconds",
        429,
        openai_form("Rate limit reached. Please try again in 250ms."),
        EndpointBusy,
        "slow down",
        0.25,
    ),
    Provider(
        "OpenAI, wrong key",
        401,
        openai_form("Incorrect API key provided", code="invalid_api_key"),
        EndpointError,
        "refuses the key",
    ),
    Provider(
        "OpenAI, country",
        403,
        openai_form("Country not supported", code="unsupported_country"),
        EndpointError,
        "does not allow",
    ),
    Provider(
        "OpenAI, unknown model",
        404,
        openai_form("The model does not exist", code="model_not_found"),
        EndpointError,
        "does not know",
    ),
    Provider(
        "OpenAI, prompt too long",
        400,
        openai_form("Maximum context length is 8192", code="context_length_exceeded"),
        EndpointRefusal,
        "8192",
    ),
    Provider(
        "DeepSeek, no balance",
        402,
        openai_form("Insufficient Balance", type="unknown_error"),
        EndpointPaused,
        "Insufficient Balance",
    ),
    Provider(
        "OpenRouter, no credits", 402, openai_form("This request requires more credits"), EndpointPaused, "more credits"
    ),
    Provider(
        "Anthropic, no credit",
        400,
        openai_form("Your credit balance is too low to access the API.", type="invalid_request_error"),
        EndpointPaused,
        "credit balance",
    ),
    Provider("Anthropic, overloaded", 529, openai_form("Overloaded", type="overloaded_error"), EndpointBusy, "529"),
    Provider("Gemini, a minute's quota", 429, {"error": GEMINI_MINUTE}, EndpointBusy, "slow down", 41.0),
    Provider("Gemini, in a list", 429, [{"error": GEMINI_MINUTE}], EndpointBusy, "exceeded your current quota", 41.0),
    Provider("Gemini, wrong key", 400, {"error": GEMINI_KEY}, EndpointError, "refuses the key"),
    Provider(
        "Groq, a day's limit",
        429,
        openai_form("Limit 500000. Please try again in 2h13m20s."),
        EndpointPaused,
        "133 minutes",
    ),
    Provider(
        "Mistral, flat body",
        429,
        {"object": "error", "message": "Requests rate limit exceeded", "type": "rate"},
        EndpointBusy,
        "rate limit",
        7.0,
        {"Retry-After": "7"},
    ),
    Provider(
        "Together, in seconds",
        429,
        openai_form("Too many requests, retry after 12 seconds"),
        EndpointBusy,
        "slow down",
        12.0,
    ),
    Provider(
        "Azure, throttled",
        429,
        openai_form("Please retry after 9 seconds.", code="429"),
        EndpointBusy,
        "slow down",
        9.0,
    ),
    Provider(
        "Azure, filtered",
        400,
        openai_form("The response was filtered", code="content_filter"),
        EndpointRefusal,
        "filtered",
    ),
    Provider("vLLM, plain text", 500, "Internal Server Error", EndpointBusy, "Internal Server Error"),
    Provider(
        "A proxy that wants a password",
        407,
        "<html><title>Proxy</title>Authentication required</html>",
        EndpointError,
        "HTTPS_PROXY",
    ),
    Provider("A gateway's page", 502, "<html><body><h1>Bad gateway</h1></body></html>", EndpointBusy, "Bad gateway"),
)


class Scripted(BaseHTTPRequestHandler):
    """Answers with what the server holds, and writes down what it was asked."""

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server: Any = self.server
        if not re.search("/models|/api/|/props", self.path):  # questions about its window
            server.asked.append((self.path, dict(self.headers), json.loads(body) if body else {}))
        status, headers, reply = server.answers(json.loads(body) if body else {})
        payload = reply.encode() if isinstance(reply, str) else json.dumps(reply).encode()
        kind = "text/html" if isinstance(reply, str) and reply.startswith("<") else "application/json"
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(payload)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Write nothing to stderr."""


@pytest.fixture
def server() -> Iterator[Any]:
    http: Any = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    http.asked, http.answers = [], lambda body: (200, {}, REPLY)
    http.url = f"http://127.0.0.1:{http.server_address[1]}"
    Thread(target=http.serve_forever, daemon=True).start()
    yield http
    http.shutdown()
    http.server_close()


def endpoint(server: Any, path: str = "/v1") -> Endpoint:
    return Endpoint(Settings(base_url=server.url + path, timeout_seconds=5, retries=2, key_variable="LEANRAG_TEST_KEY"))


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_what_a_provider_answers_is_understood(server: Any, provider: Provider) -> None:
    server.answers = lambda body: (provider.status, provider.headers, provider.body)
    with pytest.raises(EndpointError) as caught:
        endpoint(server).chat("m", HELLO)
    assert type(caught.value) is provider.error
    assert provider.words in str(caught.value)
    if isinstance(caught.value, EndpointBusy):
        assert caught.value.retry_after == provider.wait
    assert len(server.asked) == 1


def test_a_wait_that_is_too_long_stops_the_work_and_a_shorter_one_does_not() -> None:
    def answer(seconds: float) -> EndpointError:
        headers = {"retry-after": str(seconds)}
        return error_of(ErrorAnswer(429, {}, headers), "http://here", "KEY")

    assert isinstance(answer(LONGEST_WAIT), EndpointBusy)
    assert isinstance(answer(LONGEST_WAIT + 1), EndpointPaused)


@pytest.mark.slow
def test_without_credit_at_most_three_requests_are_made(server: Any, tmp_path: Path) -> None:
    server.answers = lambda body: (429, {}, openai_form("You exceeded it", type="insufficient_quota"))
    settings = Settings(base_url=f"{server.url}/v1", timeout_seconds=5, concurrency=16)
    language = Models(settings, CallStore(tmp_path / "calls"), Budget(), "an index").language("openai:m")

    def ask(number: int) -> bool:
        with pytest.raises(EndpointPaused):
            language.complete([{"role": "user", "content": f"Question {number}"}])
        return True

    with ThreadPoolExecutor(16) as pool:
        n_paused = sum(pool.map(ask, range(16)))
    assert n_paused == 16
    # Those that stood at the limit of two calls in flight are told; one that comes later may ask once more.
    assert len(server.asked) <= 3


def test_an_error_in_a_reply_with_status_200_is_that_error(server: Any) -> None:
    for code, kind in ((402, EndpointPaused), (429, EndpointBusy), ("overloaded", EndpointBusy)):
        server.answers = lambda body, code=code: (200, {}, {"error": {"code": code, "message": "Provider says no"}})
        with pytest.raises(kind, match="Provider says no"):
            endpoint(server).chat("m", HELLO)


def test_a_page_in_the_place_of_a_reply_is_called_one(server: Any) -> None:
    server.answers = lambda body: (200, {}, "<html><body>Sign in to the network</body></html>")
    with pytest.raises(EndpointBusy, match="perhaps the page of a proxy"):
        endpoint(server).chat("m", HELLO)


@pytest.mark.slow
def test_a_model_that_declines_is_a_loss_of_this_call_alone(server: Any, tmp_path: Path) -> None:
    declined = {**CHOICE, "message": {"role": "assistant", "content": None, "refusal": "I cannot help with that."}}
    server.answers = lambda body: (200, {}, {**REPLY, "choices": [declined]})
    settings = Settings(base_url=f"{server.url}/v1", timeout_seconds=5)
    language = Models(settings, CallStore(tmp_path / "calls"), Budget(), "an index").language("openai:m")
    with pytest.raises(CallFailed, match="declines to answer: I cannot help"):
        language.complete(HELLO)
    assert len(server.asked) == 1


def test_the_full_stop_of_a_server_does_not_stand_within_our_sentence() -> None:
    def told(text: str) -> str:
        return str(error_of(ErrorAnswer(400, openai_form(text), {}), "http://here", "KEY"))

    assert told("Too long. Be brief.").endswith("(status 400: Too long. Be brief)")
    assert told("Wait ...").endswith("(status 400: Wait ...)")


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_key_that_the_server_repeats_is_in_no_message_and_no_traceback(
    server: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_TEST_KEY", "sk-planted-0123456789")
    server.answers = lambda body: (status, {}, openai_form("Incorrect key provided: sk-planted-0123456789."))
    for call in (
        lambda: endpoint(server).chat("m", HELLO),
        lambda: endpoint(server).stream("m", HELLO, lambda text: None),
        lambda: endpoint(server).embed("m", ["bees"]),
    ):
        with pytest.raises(EndpointError) as caught:
            call()
        told = "".join(traceback.format_exception(caught.value)) + getattr(caught.value, "server_text", "")
        assert "planted" not in told


@pytest.mark.parametrize("refuses", [True, False])
def test_a_server_that_does_not_stream_answers_in_one_piece(server: Any, refuses: bool) -> None:
    def answers(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        if body.get("stream") and refuses:
            return 400, {}, openai_form("Unsupported value: streaming is not supported by this model", param="stream")
        return 200, {}, REPLY

    server.answers = answers
    asked, pieces = endpoint(server), list[str]()
    assert asked.stream("m", HELLO, pieces.append).text == "Good day"
    assert pieces == ["Good day"]
    assert [bool(body.get("stream")) for _, _, body in server.asked] == [True, False]
    asked.stream("m", HELLO, pieces.append)
    assert not server.asked[-1][2].get("stream"), "it is known by now"


def test_classic_azure_is_asked_by_deployment_version_and_its_own_header(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_TEST_KEY", "planted-key")
    for path in ("?api-version=2024-10-21", "/openai/deployments/my-gpt?api-version=2024-10-21"):
        asked = endpoint(server, path)
        assert asked.chat("my-gpt", HELLO).text == "Good day"
        where, headers, _ = server.asked[-1]
        assert where == "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
        assert headers["api-key"] == "planted-key"
        assert "api-version" not in asked.address


def test_classic_azure_is_known_by_its_host_and_the_newer_form_is_not_taken_for_it() -> None:
    classic = azure_address("https://mine.openai.azure.com")
    assert classic == {"azure_endpoint": "https://mine.openai.azure.com", "api_version": "2024-10-21"}
    assert azure_address("https://mine.openai.azure.com/openai/v1/") is None
    assert azure_address("https://api.example.com/v1") is None
    assert fault_of("https://mine.example.com?api-version=2024-10-21", ENDPOINT) is None
    for address in ("https://mine.example.com?api-key=1", "https://mine.example.com/?api-version=1&key=2"):
        assert fault_of(address, ENDPOINT) is Fault.MORE


def test_a_server_on_this_machine_is_not_asked_through_a_proxy(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert endpoint(server).chat("m", HELLO).text == "Good day"


def test_a_proxy_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with pytest.raises(LeanRAGError, match="HTTPS_PROXY"):
        Endpoint(Settings(base_url="https://models.example.com/v1", timeout_seconds=5)).chat("m", HELLO)
