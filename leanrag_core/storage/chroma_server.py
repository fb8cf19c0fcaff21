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
from leanrag_core.storage.layout import CHROMA, read_manifest
from leanrag_core.storage.search_index import Connect, Connection, connect_to_files

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,120}")
_DATABASE = "tenants/default_tenant/databases/default_database"
_PATIENCE_SECONDS = 5.0  # for a look at the server; somebody waits before a page
_turn = threading.Lock()
_clients: dict[str, Any] = {}


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
    SearchIndexFailed where no Chroma server answers in time."""
    import httpx

    host, port, encrypted = _parts(url)
    if host in _LOOPBACK:
        _without_proxy(host)
    named = f"[{host}]" if ":" in host else host
    base = f"{'https' if encrypted else 'http'}://{named}:{port}/api/v2"
    try:
        with httpx.Client(timeout=_PATIENCE_SECONDS) as client:
            started = time.perf_counter()
            beat = client.get(f"{base}/heartbeat")
            seconds = time.perf_counter() - started
            int(_told(beat)["nanosecond heartbeat"])
            version = str(_told(client.get(f"{base}/version")))
            count = int(
                _told(client.get(f"{base}/tenants/default_tenant/databases/default_database/collections_count"))
            )
    except httpx.TransportError as error:
        raise _no_answer(url, host, port) from error
    except (httpx.HTTPError, ValueError, TypeError, KeyError) as error:
        raise SearchIndexFailed(
            f"what answers at {url} is no Chroma server of version 1 that lets everybody in: correct the address, or "
            f"start one with 'chroma run --path DIR --host {host} --port {port}'"
        ) from error
    return ChromaSeen(url, version, count, seconds, "uvicorn" in beat.headers.get("server", "").lower())


def _told(response: Any) -> Any:
    """The JSON of an answer that is one."""
    return response.raise_for_status().json()


def connect_to_server(url: str) -> Connect:
    """How write_search_index() and connect_by() reach the collections that the server at that address holds.

    An index's collections begin with its manifest's id, so one server holds the search indexes of many, and copies of
    an index share them. Nothing is asked before the first connection. Raises InvalidConfig for an address that is none.
    """
    _parts(url)

    def connect(directory: Path) -> Connection:
        return Connection(_client(url), prefix=_prefix(str(read_manifest(directory)["id"])), own=False)

    return connect


def connect_where_it_stands(url: str) -> Connect:
    """How open_search() reaches a search index that may have been built before the server was: in its files where it
    has some, else on the server."""
    at_server = connect_to_server(url)
    return lambda directory: (connect_to_files if _has_files(directory) else at_server)(directory)


def _has_files(directory: Path) -> bool:
    return (directory / CHROMA / "chroma.sqlite3").is_file()


def remove_collections(url: str, index_id: str) -> int:
    """The server holds nothing of the index with that manifest id any more; returns how many collections it held."""
    client, prefix = _client(url), _prefix(index_id)
    names = sorted(held.name for held in client.list_collections() if held.name.startswith(prefix))
    for name in names:
        client.delete_collection(name)
    return len(names)


def _prefix(index_id: str) -> str:
    if not _NAME.fullmatch(index_id):
        raise SearchIndexFailed(f"the index id {index_id!r} cannot name a collection: build the index again")
    return f"{index_id}."


def _parts(url: str) -> tuple[str, int, bool]:
    """Host, port and whether the connection is encrypted."""
    try:
        split = urlsplit(url)
        host, port = split.hostname or "", split.port
    except ValueError as error:
        raise InvalidConfig(f"chroma_url is {url!r}, which is no address ({error})") from error
    if split.scheme not in ("http", "https") or not host or split.path.strip("/") or split.username or split.query:
        raise InvalidConfig(f"chroma_url is {url!r}: write http://HOST:PORT, with nothing behind it")
    return host, port or (443 if split.scheme == "https" else 8000), split.scheme == "https"


def _client(url: str) -> Any:
    """The client for that server, one a process; any number of threads may use it."""
    import chromadb
    from chromadb.config import Settings

    host, port, encrypted = _parts(url)
    with _turn:
        if url not in _clients:
            if host in _LOOPBACK:
                _without_proxy(host)
            try:
                _clients[url] = chromadb.HttpClient(
                    host=host, port=port, ssl=encrypted, settings=Settings(anonymized_telemetry=False)
                )
            except Exception as error:  # chromadb raises a bare ValueError, httpx its own kinds
                raise _no_answer(url, host, port) from error
        return _clients[url]


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
