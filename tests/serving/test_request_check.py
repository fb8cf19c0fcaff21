"""Which requests reach the app, by their Host and Origin headers."""

from collections.abc import Sequence

import pytest

from leanrag_core.serving.request_check import AllowedNames, Refused, refusal

OWN = "http://127.0.0.1:8501"


def refused(
    host: list[str], origin: list[str], hosts: Sequence[str] = (), origins: Sequence[str] = ()
) -> Refused | None:
    return refusal(host, origin, AllowedNames(hosts, origins))


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8501", "localhost:8501", "LOCALHOST", "[::1]:8501", "127.0.0.1", "localhost."]
)
def test_the_loopback_may_ask_under_each_of_its_names(host: str) -> None:
    assert refused([host], []) is None
    assert refused([host], [f"http://{host}".lower()]) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example:8501", "127.0.0.1.evil.example", "localhost.evil.example:8501", "192.168.1.5:8501", "0.0.0.0:8501",
     "127.0.0.1@evil.example", "evil.example#127.0.0.1", "127.0.0.1:port", "", "[::1", "lоcalhost:8501"],
)  # fmt: skip
def test_a_foreign_name_is_refused_even_when_the_page_is_of_the_same_origin(host: str) -> None:
    assert refused([host], []) is Refused.HOST
    assert refused([host], [f"http://{host}"]) is not None


def test_a_request_names_exactly_one_host() -> None:
    assert refused([], []) is not None
    assert refused(["127.0.0.1:8501", "evil.example"], []) is not None


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://evil.example:8501", "null", "http://127.0.0.1:3000", "http://localhost:8501", "",
     "http://127.0.0.1:8501.evil.example", "file://", "http://127.0.0.1:8501/page"],
)  # fmt: skip
def test_a_page_of_another_origin_is_refused(origin: str) -> None:
    assert refused(["127.0.0.1:8501"], [origin]) is Refused.ORIGIN


def test_two_origins_are_refused() -> None:
    assert refused(["127.0.0.1:8501"], [OWN, "http://evil.example"]) is not None


def test_configured_names_and_origins_pass_and_no_others() -> None:
    hosts, origins = ["rag.example.com", "*.lab.example"], ["https://proxy.example"]
    assert refused(["rag.example.com"], ["https://rag.example.com"], hosts, origins) is None
    assert refused(["a.lab.example:80"], [], hosts, origins) is None
    assert refused(["127.0.0.1:8501"], ["https://proxy.example"], hosts, origins) is None
    assert refused(["lab.example"], [], hosts, origins) is not None
    assert refused(["xrag.example.com"], [], hosts, origins) is not None
    assert refused(["rag.example.com"], ["https://evil.example"], hosts, origins) is not None
    assert refused(["any.name"], [], ["*"], []) is None
