"""How many tokens of a prompt a server reads, as each kind of server reports it."""

from typing import Any

import pytest

from leanrag_core.models.endpoint import Endpoint
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
        assert {request.path for request in server.log} == {"/v1/models"}
