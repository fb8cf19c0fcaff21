"""Search indexes on a Chroma server (`chroma run`), instead of files in the index directory; and its address.

Several processes and machines may ask one server, while only one process may use Chroma's files.
"""

import os
import re
import threading
import time
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import InvalidConfig, SearchIndexFailed
from leanrag_core.messages.message import Message
from leanrag_core.storage.layout import read_manifest
from leanrag_core.storage.search_connection import Connection, SearchPlace, connect_to_files, run_with_timeout
from leanrag_core.system.addresses import CHROMA, LOCAL_HOSTS, Fault, fault_of, parts_of
from leanrag_core.text.plain_words import in_words

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,120}")
_REMOVE_SECONDS = 30.0  # timeout of a request to list and delete what a server has of an index
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
    """A Chroma server that answered. seconds: until its heartbeat came. in_python: it is the server in Python, not
    that of `chroma run`."""

    url: str
    version: str
    collections: int
    seconds: float
    in_python: bool = False


def server_address(url: str) -> ServerAddress:
    """Return the parts of the address. Raises InvalidConfig, which does not repeat an invalid address: it may hold a
    password."""
    fault, parts = fault_of(url, CHROMA), parts_of(url)
    if fault in (Fault.SECRET, Fault.MORE):
        raise InvalidConfig("chroma.address_with_more")
    if fault is not None or not url:
        raise InvalidConfig("chroma.address_invalid")
    encrypted = parts.scheme == "https"
    return ServerAddress(parts.host, parts.port or (443 if encrypted else 8000), encrypted)


def look_at_server(url: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> ChromaSeen:
    """Return what the server at that address says about itself. Raises InvalidConfig for an invalid address,
    SearchIndexFailed when no Chroma server has answered before the timeout."""
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
    """Return the error for an address at which no server answers."""
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
    """Return the JSON of a response with a good status."""
    return response.raise_for_status().json()


def _without_proxy(host: str) -> None:
    """Keep requests to this machine from going through a proxy that the environment names for others."""
    for variable in ("NO_PROXY", "no_proxy"):
        hosts = [part for part in os.environ.get(variable, "").split(",") if part]
        if host not in hosts:
            os.environ[variable] = ",".join([*hosts, host])


@dataclass(frozen=True)
class _Failure:
    """When a server did not answer, and the error's message."""

    at: float
    message: Message


class ChromaServers:
    """The clients for Chroma servers, one a server; several threads may use one at a time.

    timeout_seconds: of a look at a server, which comes before each connection, since the client itself has no timeout.
    """

    def __init__(self, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.timeout_seconds = timeout_seconds
        self._lock = threading.Lock()  # guards the fields below; no thread connects while it holds this lock
        self._server_locks: dict[str, threading.Lock] = {}
        self._clients: dict[str, Any] = {}
        self._failures: dict[str, _Failure] = {}

    def look_at(self, url: str) -> ChromaSeen:
        """Return what the server says about itself. Raises InvalidConfig, SearchIndexFailed; see look_at_server()."""
        server_seen = look_at_server(url, timeout_seconds=self.timeout_seconds)
        with self._lock:
            self._failures.pop(url, None)
        return server_seen

    def server(self, url: str) -> "AtServer":
        """Return how to reach the collections that the server at that address has; nothing is sent before the first
        question.

        The names of an index's collections begin with its manifest's id, so one server has the search indexes of many
        indexes, and copies of an index share them. Raises InvalidConfig for an invalid address.
        """
        server_address(url)
        return AtServer(url, self)

    def files_or_server(self, url: str) -> "FilesOrServer":
        """Return how to reach a search index that may be older than the server: in its files when it has some, else on
        the server. Raises InvalidConfig for an invalid address."""
        server_address(url)
        return FilesOrServer(url, self)

    def client(self, url: str) -> Any:
        """Return the client for that server. Questions that come while another one waits for a silent server fail with
        it.

        Raises SearchIndexFailed when the server does not answer.
        """
        with self._lock:
            server_lock = self._server_locks.setdefault(url, threading.Lock())
        with server_lock:
            failure = self._failures.get(url)
            if failure is not None and time.monotonic() - failure.at < self.timeout_seconds:
                raise SearchIndexFailed(failure.message)
            try:
                self.look_at(url)
                if url not in self._clients:
                    self._clients[url] = _new_client(url, self.timeout_seconds)
            except SearchIndexFailed as error:
                self._failures[url] = _Failure(time.monotonic(), error.message)
                raise
            return self._clients[url]

    def remove_collections(self, url: str, index_id: str) -> int:
        """Delete what the server has of the index with that manifest id; returns how many collections it had.

        Raises SearchIndexFailed when the server does not do it before the timeout.
        """
        client, prefix = self.client(url), _prefix(index_id)

        def remove() -> int:
            names = sorted(collection.name for collection in client.list_collections())
            collection_names = [name for name in names if name.startswith(prefix)]
            for name in collection_names:
                client.delete_collection(name)
            return len(collection_names)

        try:
            return run_with_timeout(remove, timeout_seconds=_REMOVE_SECONDS)
        except Exception as error:  # chromadb raises errors of many types, some of them bare
            raise SearchIndexFailed("chroma.not_removed", url=url, prefix=prefix) from error


@dataclass(frozen=True)
class AtServer:
    """Connects to the collections that the server at that address has."""

    url: str
    servers: ChromaServers

    def __call__(self, place: SearchPlace) -> Connection:
        prefix = _prefix(read_manifest(place.index).id)
        return Connection(self.servers.client(self.url), prefix=prefix, own=False)


@dataclass(frozen=True)
class FilesOrServer:
    """Connects to the files of a search index when it has some, else to the server at that address."""

    url: str
    servers: ChromaServers

    def __call__(self, place: SearchPlace) -> Connection:
        return connect_to_files(place) if place.database.is_file() else AtServer(self.url, self.servers)(place)


def _prefix(index_id: str) -> str:
    if not _NAME.fullmatch(index_id):
        raise SearchIndexFailed("chroma.index_id", index=repr(index_id))
    return f"{index_id}."


def _new_client(url: str, timeout_seconds: float) -> Any:
    import chromadb  # before the timeout begins, since importing takes longer than a server may
    from chromadb.config import Settings

    address = server_address(url)
    settings = Settings(anonymized_telemetry=False)

    def connect() -> Any:
        return chromadb.HttpClient(host=address.host, port=address.port, ssl=address.encrypted, settings=settings)

    try:
        return run_with_timeout(connect, timeout_seconds=timeout_seconds)
    except Exception as error:  # chromadb raises a bare ValueError, httpx errors of its own
        raise no_server(url) from error
