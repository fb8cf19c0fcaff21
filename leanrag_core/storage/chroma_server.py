"""Search indexes on a Chroma server (`chroma run`), instead of files in the index directory.

Several processes and machines may ask one server, while only one process may use Chroma's files.
"""

import re
import threading
import time
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import SearchIndexFailed
from leanrag_core.messages.message import Message
from leanrag_core.storage.chroma_address import (
    TIMEOUT_SECONDS,
    ChromaSeen,
    look_at_server,
    no_server,
    server_address,
)
from leanrag_core.storage.layout import read_manifest
from leanrag_core.storage.search_connection import Connection, SearchPlace, connect_to_files
from leanrag_core.storage.search_index import run_with_timeout

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,120}")
_REMOVE_SECONDS = 30.0  # timeout of a request to list and delete what a server has of an index


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
        """What the server says about itself. Raises InvalidConfig, SearchIndexFailed; see look_at_server()."""
        seen = look_at_server(url, timeout_seconds=self.timeout_seconds)
        with self._lock:
            self._failures.pop(url, None)
        return seen

    def server(self, url: str) -> "AtServer":
        """How to reach the collections that the server at that address has; nothing is sent before the first question.

        The names of an index's collections begin with its manifest's id, so one server has the search indexes of many
        indexes, and copies of an index share them. Raises InvalidConfig for an invalid address.
        """
        server_address(url)
        return AtServer(url, self)

    def files_or_server(self, url: str) -> "FilesOrServer":
        """How to reach a search index that may be older than the server: in its files when it has some, else on the
        server. Raises InvalidConfig for an invalid address."""
        server_address(url)
        return FilesOrServer(url, self)

    def client(self, url: str) -> Any:
        """The client for that server. Questions that come while another one waits for a silent server fail with it.

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
        """Deletes what the server has of the index with that manifest id; returns how many collections it had.

        Raises SearchIndexFailed when the server does not do it before the timeout.
        """
        client, prefix = self.client(url), _prefix(index_id)

        def remove() -> int:
            names = sorted(collection.name for collection in client.list_collections())
            own = [name for name in names if name.startswith(prefix)]
            for name in own:
                client.delete_collection(name)
            return len(own)

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
