"""A server of the API on the loopback, over the prepared index of the beekeeping sample; one for each module."""

from collections.abc import Iterator

import httpx
import pytest

from leanrag_core import Workbench
from leanrag_core.serving.asking import Served
from tests.serving.served import client_of, running


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    bench = Workbench.default(tmp_path_factory.mktemp("home"))
    assert bench.builds.start_first_sample() is None, "the sample has no prepared index"
    return bench


@pytest.fixture(scope="module")
def url(bench: Workbench) -> Iterator[str]:
    with running(Served(bench)) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[httpx.Client]:
    with client_of(url) as client:
        yield client
