"""How many tokens of a prompt a server reads, as each kind of server reports it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from leanrag_core.errors import InvalidConfig, PromptTooLong
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.window import Window, fill_within
from leanrag_core.prompts.catalog import Prompt
from leanrag_core.storage.calls import CallStore
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer


@pytest.mark.parametrize(
    ("fields", "window"),
    [
        ({"max_model_len": 16384, "ollama": False}, 16384),
        ({"slot_n_ctx": 4096, "ollama": False}, 4096),
        ({"num_ctx": 8192}, 8192),
        ({"num_ctx": None}, 2048),
        ({"ollama": False}, None),
    ],
)
def test_the_window_of_each_kind_of_server_is_read(fields: dict[str, Any], window: int | None) -> None:
    with EndpointServer(**fields) as server:
        assert Endpoint(Settings(base_url=server.url)).context_window("scripted-chat") == window
        assert server.answered("chat") == []


def test_a_server_elsewhere_is_asked_only_when_it_says_that_it_is_llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "local", False)
    with EndpointServer(slot_n_ctx=4096) as server:
        assert Endpoint(Settings(base_url=server.url)).context_window("scripted-chat") == 4096
    with EndpointServer() as server:
        assert Endpoint(Settings(base_url=server.url)).context_window("scripted-chat") is None
        assert {request.path for request in server.all_requests} == {"/v1/models"}


@contextmanager
def server_of(pages: dict[str, Any], chat: Callable[[dict[str, Any]], tuple[int, Any]] | None = None) -> Iterator[Any]:
    """Run a server on the loopback with those pages, each a JSON value; every request is in `asked`."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            http.asked.append((self.path, body))
            path = self.path.partition("?")[0]
            page = pages.get(path)
            status, page = (200 if page is not None else 404), page(body) if callable(page) else page
            if path == "/v1/chat/completions" and chat is not None:
                status, page = chat(body)
            payload = json.dumps(page if page is not None else {"error": "no such page"}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Write nothing to stderr."""

    http: Any = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    http.asked, http.url = [], f"http://127.0.0.1:{http.server_address[1]}/v1"
    Thread(target=http.serve_forever, daemon=True).start()
    yield http
    http.shutdown()
    http.server_close()


MODELS = {"/v1/models": {"object": "list", "data": [{"id": "qwen3:4b", "object": "model"}]}}
SHOWN = {"model_info": {"general.architecture": "qwen3"}, "parameters": "num_ctx 16384"}
HELLO = [{"role": "user", "content": "Hello"}]


def test_ollama_is_believed_about_a_model_in_memory_more_than_about_its_file() -> None:
    loaded = {"/api/ps": {"models": [{"model": "qwen3:4b", "context_length": 4096}]}, "/api/show": SHOWN}
    with server_of({**MODELS, **loaded}) as server:
        assert Endpoint(Settings(base_url=server.url)).context_window("qwen3:4b") == 4096
        assert "/api/generate" not in {path for path, _ in server.asked}, "listing windows loads no model"


def test_ollama_loads_a_model_that_is_about_to_be_used_and_then_tells_its_window() -> None:
    running: list[dict[str, Any]] = []

    def load(body: dict[str, Any]) -> dict[str, Any]:
        running.append({"name": body["model"], "context_length": 6144})
        return {"done": True}

    pages = {
        **MODELS,
        "/api/ps": lambda body: {"models": running},
        "/api/show": {**SHOWN, "parameters": ""},
        "/api/generate": load,
    }
    with server_of(pages) as server:
        endpoint = Endpoint(Settings(base_url=server.url))
        window = endpoint.window("qwen3:4b")
        assert window is not None
        assert window.tokens == 6144
        assert endpoint.window("qwen3:4b") == window
        assert [path for path, _ in server.asked].count("/api/generate") == 1


def test_lm_studio_tells_the_window_with_which_a_model_is_loaded() -> None:
    page = {"/api/v0/models/qwen3%3A4b": {"id": "qwen3:4b", "loaded_context_length": 4096, "max_context_length": 40960}}
    with server_of({**MODELS, **page}) as server:
        assert Endpoint(Settings(base_url=server.url)).context_window("qwen3:4b") == 4096


def test_a_window_set_by_hand_holds_where_the_server_says_nothing_and_where_it_says_more() -> None:
    with EndpointServer(ollama=False) as server:
        window = Endpoint(Settings(base_url=server.url, windows={"m": 3000})).window("m")
        assert window is not None
        assert window.tokens == 3000
        assert Endpoint(Settings(base_url=server.url)).window("m") is None
    for said, tokens in ((8192, 3000), (2048, 2048)):
        with EndpointServer(slot_n_ctx=said, ollama=False) as server:
            window = Endpoint(Settings(base_url=server.url, windows={"m": 3000})).window("m")
            assert window is not None
            assert window.tokens == tokens
    with pytest.raises(InvalidConfig, match="is not between 512"):
        Settings(windows={"m": 100})


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", 4096),
        ("the request exceeds the available context size (2048 tokens), try increasing it", 2048),
        (
            "Trying to keep the first 9000 tokens when context the overflows. The context length of only 4,096 tokens",
            4096,
        ),
    ],
)
def test_a_window_is_learnt_from_a_refusal_that_names_it(said: str, tokens: int, tmp_path: Path) -> None:
    def chat(body: dict[str, Any]) -> tuple[int, Any]:
        return 400, {"error": {"message": said, "type": "invalid_request_error", "code": "context_length_exceeded"}}

    with server_of(MODELS, chat) as server:
        models = Models(Settings(base_url=server.url, retries=0), CallStore(tmp_path))
        language = models.language("openai:qwen3:4b")
        assert isinstance(language, RemoteLanguageModel)
        assert language.window is None
        with pytest.raises(PromptTooLong):
            language.complete(HELLO)
        assert language.window is not None
        assert language.window.tokens == tokens
        asked = len(server.asked)
        with pytest.raises(PromptTooLong, match="leaves no room"):
            language.complete([{"role": "user", "content": "Hello there. " * 4000}])
        assert len(server.asked) == asked, "it is not sent a second time"


def test_a_reply_is_limited_to_what_the_prompt_leaves() -> None:
    window = Window(2048, 4096, factor=1.25)
    limit = window.reply_limit([{"role": "user", "content": "word " * 1000}])
    assert limit == 768  # 2048 - 1.25 x (1001 + 16) = 776, in steps of 32
    assert Window(32768, 4096).reply_limit(HELLO) == 4096
    assert window.prompt_tokens == int((2048 - 512) / 1.25) - 16


def test_only_the_longest_fields_of_a_prompt_are_cut_and_the_question_never() -> None:
    class Small:
        window = Window(1024, 256, factor=1.0)
        n_cut = 0

        def on_cut(self) -> None:
            self.n_cut += 1

    model, prompt = Small(), Prompt("t", 1, "Passages: {passages}\nSchema: {schema}\nQuestion: {question}")
    text = fill_within(model, prompt, keep=("question",), passages="bee " * 2000, schema="a b c", question="why? " * 20)
    assert "Schema: a b c\n" in text
    assert text.endswith("why? " * 20)
    assert 730 < count_tokens(text) <= model.window.prompt_tokens
    assert model.n_cut == 1
