"""The search index on a Chroma server (`chroma run`), instead of files in the index directory.

Several processes and machines may ask one server, while Chroma's files bear one process alone. The server knows no
passwords: it belongs on the loopback or on a private network. Only `chroma run` is meant, which is the server in Rust;
the one in Python has a hole (CVE-2026-45829).
"""

import os
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from leanrag_core.errors import InvalidConfig, SearchIndexFailed
from leanrag_core.plain_words import in_words
from leanrag_core.storage.layout import read_manifest
from leanrag_core.storage.search_index import Connection, connect_to_files, has_files, run_with_timeout

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,120}")
_DATABASE = "tenants/default_tenant/databases/default_database"
_TIMEOUT_SECONDS = 5.0  # for a look at the server; somebody waits before a page
_ANSWER_SECONDS = 30.0  # for a list of all that a server holds
_turn = threading.Lock()  # of what follows; nobody connects while holding it
_turns: dict[str, threading.Lock] = {}  # one a server
_clients: dict[str, Any] = {}
_failures: dict[str, tuple[float, str]] = {}  # when a server was last found silent, and what was said of it


@dataclass(frozen=True)
class ChromaSeen:
    """A Chroma server that answered. seconds: until its heartbeat; in_python: it is not the one of `chroma run`."""

    url: str
    version: str
    collections: int
    seconds: float
    in_python: bool = False


def look_at_server(url: str) -> ChromaSeen:
    """What the server at that address says of itself. Raises InvalidConfig for an address that is none,
    SearchIndexFailed where no Chroma server has answered within some seconds in all."""
    import httpx

    host, port, encrypted = _parts(url)
    if host in _LOOPBACK:
        _without_proxy(host)
    named = f"[{host}]" if ":" in host else host
    base = f"{'https' if encrypted else 'http'}://{named}:{port}/api/v2"
    try:
        with httpx.Client(timeout=_TIMEOUT_SECONDS) as client:  # closed under whoever answers drop by drop
            seen = run_with_timeout(lambda: _asked(client, url, base), timeout_seconds=_TIMEOUT_SECONDS)
    except (httpx.TransportError, TimeoutError) as error:
        raise _no_answer(url, host, port) from error
    except httpx.InvalidURL as error:
        raise SearchIndexFailed(f"no server can be at {url} ({in_words(error)}): correct the address") from error
    except (httpx.HTTPError, ValueError, TypeError, KeyError) as error:
        raise SearchIndexFailed(
            f"what answers at {url} is no Chroma server of version 1 that lets everybody in: correct the address, or "
            f"start one with 'chroma run --path DIR --host {host} --port {port}'"
        ) from error
    _failures.pop(url, None)
    return seen


def _asked(client: Any, url: str, base: str) -> ChromaSeen:
    started = time.perf_counter()
    beat = client.get(f"{base}/heartbeat")
    seconds = time.perf_counter() - started
    int(_told(beat)["nanosecond heartbeat"])
    version = str(_told(client.get(f"{base}/version")))
    count = int(_told(client.get(f"{base}/{_DATABASE}/collections_count")))
    return ChromaSeen(url, version, count, seconds, "uvicorn" in beat.headers.get("server", "").lower())


def _told(response: Any) -> Any:
    """The JSON of an answer that is one."""
    return response.raise_for_status().json()


@dataclass(frozen=True)
class AtServer:
    """A way to connect: to the collections that the server at that address holds."""

    url: str

    def __call__(self, directory: Path) -> Connection:
        return Connection(_client(self.url), prefix=_prefix(str(read_manifest(directory)["id"])), own=False)


@dataclass(frozen=True)
class WhereItStands:
    """A way to connect: to the files of the index where it has some, else to the server at that address."""

    url: str

    def __call__(self, directory: Path) -> Connection:
        return (connect_to_files if has_files(directory) else AtServer(self.url))(directory)


def connect_to_server(url: str) -> AtServer:
    """How write_search_index() and connect_by() reach the collections that the server at that address holds.

    An index's collections begin with its manifest's id, so one server holds the search indexes of many, and copies of
    an index share them. Nothing is asked before the first connection. Raises InvalidConfig for an address that is none.
    """
    _parts(url)
    return AtServer(url)


def connect_where_it_stands(url: str) -> WhereItStands:
    """How open_search() reaches a search index that may have been built before the server was: in its files where it
    has some, else on the server. Raises InvalidConfig for an address that is none."""
    _parts(url)
    return WhereItStands(url)


def remove_collections(url: str, index_id: str) -> int:
    """The server holds nothing of the index with that manifest id any more; returns how many collections it held.

    Raises SearchIndexFailed when the server does not do it within some seconds.
    """
    client, prefix = _client(url), _prefix(index_id)

    def remove() -> int:
        names = sorted(held.name for held in client.list_collections() if held.name.startswith(prefix))
        for name in names:
            client.delete_collection(name)
        return len(names)

    try:
        return run_with_timeout(remove, timeout_seconds=_ANSWER_SECONDS)
    except Exception as error:  # chromadb raises errors of many kinds, some of them bare
        raise SearchIndexFailed(
            f"the Chroma server at {url} does not remove the collections that begin with {prefix}: look into its log"
        ) from error


def _prefix(index_id: str) -> str:
    if not _NAME.fullmatch(index_id):
        raise SearchIndexFailed(f"the index id {index_id!r} cannot name a collection: build the index again")
    return f"{index_id}."


def _parts(url: str) -> tuple[str, int, bool]:
    """Host, port and whether the connection is encrypted. An address that is refused is not repeated."""
    if set(url) & set("@?#"):
        raise InvalidConfig("chroma_url is more than http://HOST:PORT: take out name, password and what follows ? or #")
    try:
        split = urlsplit(url)
        host, port = split.hostname or "", split.port
    except ValueError:
        host, port = "", None
    if not host or split.scheme not in ("http", "https") or split.path.strip("/") or not url.isprintable():
        raise InvalidConfig("chroma_url is not the address of a server: write http://HOST:PORT, with nothing after it")
    return host, port or (443 if split.scheme == "https" else 8000), split.scheme == "https"


def _client(url: str) -> Any:
    """The client for that server, one a process; any number of threads may use it.

    The server is looked at each time, since the client itself waits for ever. Questions that come while one waits for a
    silent server fail with it.
    """
    with _turn:
        turn = _turns.setdefault(url, threading.Lock())
    with turn:
        when, said = _failures.get(url, (0.0, ""))
        if said and time.monotonic() - when < _TIMEOUT_SECONDS:
            raise SearchIndexFailed(said)
        try:
            look_at_server(url)
            if url not in _clients:
                _clients[url] = _made_client(url)
        except SearchIndexFailed as error:
            _failures[url] = (time.monotonic(), str(error))
            raise
        return _clients[url]


def _made_client(url: str) -> Any:
    import chromadb  # here, since it takes longer than a server may
    from chromadb.config import Settings

    host, port, encrypted = _parts(url)
    told = Settings(anonymized_telemetry=False)
    try:
        return run_with_timeout(
            lambda: chromadb.HttpClient(host=host, port=port, ssl=encrypted, settings=told),
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    except Exception as error:  # chromadb raises a bare ValueError, httpx its own kinds
        raise _no_answer(url, host, port) from error


def _no_answer(url: str, host: str, port: int) -> SearchIndexFailed:
    return SearchIndexFailed(
        f"no Chroma server answers at {url}: start one with 'chroma run --path DIR --host {host} --port {port}', or "
        "correct the address"
    )


def _without_proxy(host: str) -> None:
    """Requests to this machine are not handed to a proxy that the environment names for others."""
    for variable in ("NO_PROXY", "no_proxy"):
        named = [part for part in os.environ.get(variable, "").split(",") if part]
        if host not in named:
            os.environ[variable] = ",".join([*named, host])
