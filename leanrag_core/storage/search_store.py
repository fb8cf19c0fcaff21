"""The opened search indexes of one program, and how they are reached.

A store is an object that the workbench owns; two stores do not share anything. Several threads may use one at a time.
"""

import threading
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import LeanRAGError, SearchIndexFailed
from leanrag_core.storage.cell_search import CELLS, CellSearch
from leanrag_core.storage.chroma_server import ChromaServers
from leanrag_core.storage.coarse_vectors import CoarseStore
from leanrag_core.storage.part_store import PartStore
from leanrag_core.storage.search_connection import (
    ANSWER_SECONDS,
    Connect,
    SearchIndex,
    SearchPlace,
    connect_to_files,
    place_in,
    require_sound,
)

EXACT_UP_TO = 50_000  # rows of a layer; the product with all vectors takes less time than a question to Chroma
_MAX_OPEN = 4  # search indexes; a layer of 100,000 takes some 200 MB while it is open


@dataclass(frozen=True, eq=False)
class _Opened:
    """identity: of the files that were opened; another one means that they were replaced."""

    identity: tuple[str, int, int]
    search: SearchIndex | CellSearch


class SearchStore:
    """Opens search indexes, keeps the last ones open, and closes them.

    answer_seconds: timeout of a question to a server. servers: the Chroma servers of this program. coarse: the copies
    of large arrays of vectors that have no search index, such as those of relations.
    """

    def __init__(self, servers: ChromaServers | None = None, *, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.servers = servers or ChromaServers()
        self.coarse = CoarseStore()
        self._answer_seconds = answer_seconds
        self._lock = threading.Lock()  # guards the fields below; no thread connects or waits while it holds this lock
        self._opened: dict[str, _Opened] = {}  # by directory of the index, the last used at the end
        self._directory_locks: dict[str, threading.Lock] = {}  # so that two questions do not open one index twice
        self._connect: Connect = connect_to_files

    def use_server(self, url: str) -> None:
        """Ask search indexes without files of their own at that server from now on; "" for no server.

        Nothing that is open is closed unless that changes something. Raises InvalidConfig for an invalid address.
        """
        self.connect_with(self.servers.files_or_server(url) if url else connect_to_files)

    def connect_with(self, connect: Connect) -> None:
        """Let open() connect in that way from now on. What was opened otherwise is closed when no thread uses it."""
        with self._lock:
            if connect != self._connect:
                self._opened.clear()
                self._connect = connect

    def for_writing(self, url: str) -> Connect | None:
        """Return how a search index is written to that server; None for "", which is the files of the index."""
        return self.servers.server(url) if url else None

    @property
    def connect(self) -> Connect:
        """How open() connects."""
        return self._connect

    def open(self, directory: Path) -> SearchIndex | CellSearch | None:
        """Return the search index of the index in that directory, opened once, and again when its files were replaced;
        None when it has none. The cells of the clustering go before Chroma's, unless questions are asked of a server.

        Raises SearchIndexFailed when it cannot be reached. Meanwhile the questions to other indexes go on.
        """
        place, cells = place_in(directory), PartStore(directory).newest(CELLS)
        if cells is not None and (place is None or self.connect == connect_to_files):
            place = SearchPlace(directory, cells)
        if place is None:
            return None
        identity, key = _identity(place), _key(directory)
        with self._lock:
            directory_lock = self._directory_locks.setdefault(key, threading.Lock())
        with directory_lock:
            with self._lock:
                connect, known = self._connect, self._opened.pop(key, None)
                if known is not None and known.identity == identity and not known.search.silent:
                    self._opened[key] = known
                    return known.search
            if known is not None and known.identity != identity:
                known.search.close()  # an open client does not see that its files were replaced
            require_sound(place)
            search = self._searching(place, connect, of_cells=place.folder == cells)
            with self._lock:
                if connect == self._connect:
                    self._opened[key] = _Opened(identity, search)
                    while len(self._opened) > _MAX_OPEN:
                        del self._opened[next(iter(self._opened))]
            return search

    def _searching(self, place: SearchPlace, connect: Connect, *, of_cells: bool) -> SearchIndex | CellSearch:
        if not of_cells:
            return SearchIndex(place, connect, answer_seconds=self._answer_seconds)
        try:
            return CellSearch(place.folder)
        except LeanRAGError as error:
            raise SearchIndexFailed("search.part_damaged", reason=error.message, part=CELLS) from error

    def is_open(self, directory: Path) -> bool:
        """Tell whether the search index of that index is kept open."""
        with self._lock:
            return _key(directory) in self._opened

    def close(self, directory: Path) -> None:
        """Close the search index of that index, so that its files can be replaced or deleted."""
        with self._lock:
            known = self._opened.pop(_key(directory), None)
        if known is not None:
            known.search.close()


def _key(directory: Path) -> str:
    return str(directory.resolve())


def _identity(place: SearchPlace) -> tuple[str, int, int]:
    """Return a value that changes when the search index is written again."""
    if place.record.is_file():
        stat = place.record.stat()
        return str(place.folder), stat.st_ino, stat.st_mtime_ns
    # Of format 1: Chroma changes the time of its database when it opens it.
    return str(place.folder), place.database.stat().st_ino, 0
