from pathlib import Path

from leanrag_core.models.listing import context_windows, list_models
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer


def models_at(url: str, folder: Path) -> Models:
    return Models(Settings(base_url=url, timeout_seconds=3, retries=0), CallStore(folder / "calls"))


def test_models_that_write_come_before_those_that_embed(tmp_path: Path) -> None:
    with EndpointServer(models=("bge-m3", "", "qwen", "a-chat"), num_ctx=4096) as server:
        endpoint = models_at(server.url, tmp_path).endpoint
        listed = list_models(endpoint)
        assert (listed.names, listed.writing) == (("a-chat", "qwen", "bge-m3"), ("a-chat", "qwen"))
        assert (listed.address, listed.error) == (server.url, None)
        assert context_windows(endpoint, listed.writing) == {"a-chat": 4096, "qwen": 4096}


def test_an_address_that_the_server_does_not_know_is_distinguished_from_a_server_that_does_not_answer(
    tmp_path: Path,
) -> None:
    with EndpointServer() as server:
        wrong_path = list_models(models_at(server.url.removesuffix("/v1") + "/404", tmp_path).endpoint)
        closed = server.url
    gone = list_models(models_at(f"{closed}/404", tmp_path).endpoint)
    assert (wrong_path.nothing_there, gone.nothing_there) == (True, False)
    assert gone.error is not None
    assert "404" in str(gone.error.values)
    assert context_windows(models_at(closed, tmp_path).endpoint, ("m",)) == {"m": None}
