"""The address of a Chroma server, and a look at what answers there.

Only `chroma run` is meant, which is the server in Rust; the one in Python has a vulnerability (CVE-2026-45829). The
server has no passwords: it belongs on the loopback or in a private network.
"""

import os
import time
from dataclasses import dataclass
from typing import Any

from leanrag_core.addresses import CHROMA, LOCAL_HOSTS, Fault, fault_of, parts_of
from leanrag_core.errors import InvalidConfig, SearchIndexFailed
from leanrag_core.plain_words import in_words
from leanrag_core.storage.search_index import run_with_timeout

TIMEOUT_SECONDS = 5.0  # of a look at the server; a person waits for the page
_DATABASE = "tenants/default_tenant/databases/default_database"


@dataclass(frozen=True)
class ServerAddress:
    """The parts of http://HOST:PORT. encrypted: whether it is https."""

    host: str
    port: int
    encrypted: bool

    @property
    def api(self) -> str:
        """The address below which the server's own API is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.encrypted else 'http'}://{host}:{self.port}/api/v2"


@dataclass(frozen=True)
class ChromaSeen:
    """A Chroma server that answered. seconds: until its heartbeat; in_python: it is not the one of `chroma run`."""

    url: str
    version: str
    collections: int
    seconds: float
    in_python: bool = False


def server_address(url: str) -> ServerAddress:
    """The parts of the address. Raises InvalidConfig, which does not repeat an invalid address: it may hold a
    password."""
    fault, parts = fault_of(url, CHROMA), parts_of(url)
    if fault in (Fault.SECRET, Fault.MORE):
        raise InvalidConfig("chroma.address_with_more")
    if fault is not None or not url:
        raise InvalidConfig("chroma.address_invalid")
    encrypted = parts.scheme == "https"
    return ServerAddress(parts.host, parts.port or (443 if encrypted else 8000), encrypted)


def look_at_server(url: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> ChromaSeen:
    """What the server at that address says about itself. Raises InvalidConfig for an invalid address, SearchIndexFailed
    when no Chroma server has answered before the timeout."""
    import httpx

    address = server_address(url)
    if address.host in LOCAL_HOSTS:
        _without_proxy(address.host)
    try:
        with httpx.Client(timeout=timeout_seconds) as client:  # closed even when a server answers byte by byte
            return run_with_timeout(lambda: _ask(client, url, address.api), timeout_seconds=timeout_seconds)
    except (httpx.TransportError, TimeoutError) as error:
        raise no_server(url) from error
    except httpx.InvalidURL as error:
        raise SearchIndexFailed("chroma.address_impossible", url=url, reason=in_words(error)) from error
    except (httpx.HTTPError, ValueError, TypeError, KeyError) as error:
        raise SearchIndexFailed("chroma.another_server", url=url, host=address.host, port=str(address.port)) from error


def no_server(url: str) -> SearchIndexFailed:
    """The error for an address at which no server answers."""
    address = server_address(url)
    return SearchIndexFailed("chroma.no_server", url=url, host=address.host, port=str(address.port))


def _ask(client: Any, url: str, api: str) -> ChromaSeen:
    started = time.perf_counter()
    heartbeat = client.get(f"{api}/heartbeat")
    seconds = time.perf_counter() - started
    int(_json_of(heartbeat)["nanosecond heartbeat"])
    version = str(_json_of(client.get(f"{api}/version")))
    collections = int(_json_of(client.get(f"{api}/{_DATABASE}/collections_count")))
    return ChromaSeen(url, version, collections, seconds, "uvicorn" in heartbeat.headers.get("server", "").lower())


def _json_of(response: Any) -> Any:
    """The JSON of a response with a good status."""
    return response.raise_for_status().json()


def _without_proxy(host: str) -> None:
    """Requests to this machine do not go through a proxy that the environment names for others."""
    for variable in ("NO_PROXY", "no_proxy"):
        hosts = [part for part in os.environ.get(variable, "").split(",") if part]
        if host not in hosts:
            os.environ[variable] = ",".join([*hosts, host])
