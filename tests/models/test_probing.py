from collections.abc import Iterator

import pytest

from leanrag_core.errors import EndpointBusy
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.listing import probe_concurrency
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer(latency_seconds=0.2) as endpoint:
        yield endpoint


@pytest.mark.slow
def test_a_server_that_answers_side_by_side_is_given_many_calls(server: EndpointServer) -> None:
    probe = probe_concurrency(Endpoint(Settings(base_url=server.url)), "m")
    assert probe.chosen >= 4
    assert probe.calls_a_second[4] > 2 * probe.calls_a_second[1]


def test_a_server_that_is_not_there_is_reported() -> None:
    with pytest.raises(EndpointBusy, match="is it running"):
        probe_concurrency(Endpoint(Settings(base_url="http://127.0.0.1:9/v1")), "m")
