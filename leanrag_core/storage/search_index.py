"""The Chroma search index of an index directory: rebuildable, written by the one process that builds the index.

One collection a layer, since a `where` filter costs many times a plain query; embeddings are always ours, and ids are
rows. `chroma/search.json` is written last: it says for each layer how many candidates Chroma must name so that the true
ten nearest are among them (recall), measured against exact search on vectors of the layer. A search index without it is
one of index format 1, whose ids are entity ids.
"""

import contextlib
import sqlite3
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leanrag_core.atomic import write_json
from leanrag_core.errors import InvalidVectors, LeanRAGError, SearchIndexFailed
from leanrag_core.plain_words import in_words
from leanrag_core.storage.json_files import sealed
from leanrag_core.storage.layout import CHROMA, SEARCH, read_index
from leanrag_core.storage.search_apart import exit_code_of, written_or_nothing
from leanrag_core.storage.search_files import (
    DATABASE,
    REMEDY,
    LayerSearch,
    changed_file,
    fingerprint,
    layer_searches,
    recorded,
)
from leanrag_core.storage.search_recall import measured_search
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index

_SYNC_AT_LEAST = 1000  # rows; fewer are read from Chroma's log when it is opened
_KEPT_OPEN = 4  # search indexes; a layer of 100,000 takes some 200 MB while it is open
_ANSWER_SECONDS = 30.0  # for a question to a server: one that is asked first reads its files
_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False)
class Connection:
    """A Chroma client and where an index's collections are in it.

    prefix: what their names begin with. own: whether the client serves this index alone and is closed after use.
    """

    client: Any
    prefix: str = ""
    own: bool = True

    def collection_name(self, layer: int) -> str:
        """Name of a layer's collection."""
        return f"{self.prefix}entities-{layer}"


Connect = Callable[[Path], Connection]


def connect_to_files(directory: Path) -> Connection:
    """Chroma in this process, on the files of the index directory.

    Raises SearchIndexFailed where they do not read, or are not there: Chroma would make empty ones in their place.
    """
    if (directory / SEARCH).is_file() and not has_files(directory):
        raise SearchIndexFailed(
            f"this search index is on a Chroma server, or has lost its files: name the server on Settings, {REMEDY}"
        )
    changed = changed_file(directory, recorded(directory))
    if changed:
        raise SearchIndexFailed(f"{directory / CHROMA / changed} was changed after it was written: {REMEDY}")
    import chromadb
    from chromadb.config import Settings

    path = str(directory.resolve() / CHROMA)
    try:
        return Connection(chromadb.PersistentClient(path=path, settings=Settings(anonymized_telemetry=False)))
    except Exception as error:  # chromadb raises errors of many kinds, some of them bare
        raise SearchIndexFailed(_unread(error, directory / CHROMA / DATABASE)) from error


def _unread(error: Exception, place: Path | None) -> str:
    named = f"the search index in {place}" if place else "the search index"
    return f"{named} does not answer ({in_words(error)}): {REMEDY}"


def has_files(directory: Path) -> bool:
    """Whether the search index of the directory stands in its own files."""
    return (directory / CHROMA / DATABASE).is_file()


def run_with_timeout(call: Callable[[], _Result], *, timeout_seconds: float) -> _Result:
    """Returns what call() returns, or raises what it raises. TimeoutError at the timeout; its thread then runs on."""
    answer: Future[_Result] = Future()

    def wait() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # it belongs to who asked
            answer.set_exception(error)

    threading.Thread(target=wait, daemon=True, name="chroma-question").start()
    return answer.result(timeout=timeout_seconds)


def require_unit_rows(vectors: np.ndarray, what: str) -> None:
    """Raises InvalidVectors when a row is NaN, zero, or not of length 1."""
    norms = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(~(np.abs(norms - 1.0) < 1e-3))
    if len(bad):
        raise InvalidVectors(f"{len(bad)} vectors of {what} are zero, NaN or not normalised (first: row {bad[0]})")


def write_search_index(
    directory: Path, index: Index, report: Callable[[int, int], None], *, connect: Connect = connect_to_files
) -> tuple[LayerSearch, ...]:
    """Every layer's vectors are searchable, in place of what was searchable before; report(done, total) counts rows.

    Returns what was measured, which chroma/search.json also says. A server may take as long as it likes. When it fails
    nothing half written is left, and questions are searched exactly. Raises StorageFailed, SearchIndexFailed.
    """
    _close(directory)
    with written_or_nothing(directory):
        return _written(directory, index, report, connect)


def _written(
    directory: Path, index: Index, report: Callable[[int, int], None], connect: Connect
) -> tuple[LayerSearch, ...]:
    connection = connect(directory)
    client, total, done = connection.client, sum(map(len, index.layers)), 0
    step, measured = client.get_max_batch_size(), []
    for layer in index.layers:
        vectors = np.asarray(layer.vectors)
        require_unit_rows(vectors, f"layer {layer.number}")
        name = connection.collection_name(layer.number)
        if not connection.own and name in {held.name for held in client.list_collections()}:
            client.delete_collection(name)
        # Chroma writes the whole graph anew each time so many rows have come: once, at the end.
        hnsw = {"space": "cosine", "sync_threshold": max(len(vectors), _SYNC_AT_LEAST)}
        collection = client.create_collection(name, embedding_function=None, configuration={"hnsw": hnsw})
        for start in range(0, len(vectors), step):
            rows = range(start, min(start + step, len(vectors)))
            collection.upsert(ids=[str(row) for row in rows], embeddings=vectors[rows.start : rows.stop])
            done += len(rows)
            report(done, total)
        measured.append(measured_search(layer, collection))
    if connection.own:
        client.close()  # the files are closed before the directory is renamed
        with contextlib.closing(sqlite3.connect(directory / CHROMA / DATABASE)) as database:
            database.execute("VACUUM")  # the rows' log has been emptied and would keep its size
    (directory / CHROMA).mkdir(exist_ok=True)
    held = fingerprint(directory) if connection.own else {}
    write_json(directory / SEARCH, sealed({"layers": [one.__dict__ for one in measured], **held}))
    return tuple(measured)


class SearchIndex:
    """An opened search index; any number of threads may ask it. Its files are closed when the last one lets it go."""

    def __init__(self, directory: Path, connect: Connect) -> None:
        self._connection = connect(directory)
        self._place = directory / CHROMA / DATABASE if self._connection.own else None
        self._known = {one.layer: one for one in layer_searches(directory)}
        self._collections: dict[int, Any] = {}
        if self._connection.own:
            self._let_go = weakref.finalize(self, self._connection.client.close)
            self._let_go.atexit = False

    def of_layer(self, layer: int) -> LayerSearch | None:
        """How that layer is searched; None for a search index of format 1."""
        return self._known.get(layer)

    def candidates(self, layer: Layer, vector: np.ndarray, n: int) -> np.ndarray:
        """Rows that hold the n nearest of the layer with the recall that was measured, ascending.

        vector: (d,) float32. Raises SearchIndexFailed when Chroma does not answer, of a server within some seconds.
        """
        known = self._known.get(layer.number)
        wanted = max(known.candidates if known else 128, 4 * n)

        def ask() -> Any:
            collection = self._collection(layer.number)
            return collection.query(query_embeddings=[vector], n_results=min(wanted, len(layer)), include=[])

        try:
            ids = (ask() if self._connection.own else run_with_timeout(ask, timeout_seconds=_ANSWER_SECONDS))["ids"][0]
        except TimeoutError as error:
            _forget(self)  # the next question looks first whether somebody is there
            raise SearchIndexFailed(
                "the Chroma server of the search index took a question and is silent: search exactly, or start it again"
            ) from error
        except Exception as error:  # chromadb raises errors of many kinds, some of them bare
            raise SearchIndexFailed(_unread(error, self._place)) from error
        return _rows_of(layer, ids, known is not None)

    def stored(self, layer: int, n: int) -> np.ndarray:
        """(n, d) float32, the vectors that Chroma holds of the first n rows of the layer; NaN where it has none.

        Raises SearchIndexFailed when Chroma does not answer.
        """
        held, step = np.full((n, 0), np.nan, dtype=np.float32), 1000
        for start in range(0, n, step):
            ids = [str(row) for row in range(start, min(start + step, n))]
            try:
                got = self._collection(layer).get(ids=ids, include=["embeddings"])
            except Exception as error:  # chromadb raises errors of many kinds, some of them bare
                raise SearchIndexFailed(_unread(error, self._place)) from error
            if len(got["ids"]):
                vectors = np.asarray(got["embeddings"], dtype=np.float32)
                if not held.shape[1]:
                    held = np.full((n, vectors.shape[1]), np.nan, dtype=np.float32)
                held[np.array(got["ids"], dtype=np.int64)] = vectors
        return held

    def count(self, layer: int) -> int:
        """How many rows Chroma holds of the layer. Raises SearchIndexFailed when it does not answer."""
        try:
            return int(self._collection(layer).count())
        except Exception as error:  # chromadb raises errors of many kinds, some of them bare
            raise SearchIndexFailed(_unread(error, self._place)) from error

    def _collection(self, layer: int) -> Any:
        if layer not in self._collections:
            name = self._connection.collection_name(layer)
            self._collections[layer] = self._connection.client.get_collection(name, embedding_function=None)
        return self._collections[layer]

    def close(self) -> None:
        """The files are closed, whoever still asks; the object is of no more use."""
        if self._connection.own:
            self._let_go()


def _rows_of(layer: Layer, ids: list[str], are_rows: bool) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if are_rows:
        rows = np.sort(np.array(ids, dtype=np.int64))
        return rows[rows < len(layer)]
    return np.flatnonzero(pc.is_in(layer.entities["id"], value_set=pa.array(ids)).to_numpy())


_lock = threading.Lock()  # of what follows; nobody connects or waits while holding it
_open: dict[str, tuple[tuple[int, int], SearchIndex]] = {}
_turns: dict[str, threading.Lock] = {}  # one an index, so that two questions do not open it twice
_connect: Connect = connect_to_files


def connect_by(connect: Connect) -> None:
    """From now on open_search() connects in that way. What was opened in another is closed by who asks it last."""
    global _connect
    with _lock:
        if connect != _connect:
            _open.clear()
            _connect = connect


def open_search(directory: Path) -> SearchIndex | None:
    """The search index of the directory, opened once, and anew when another one takes its place; None without one.

    Raises SearchIndexFailed when it cannot be reached. Meanwhile the questions of other indexes go on.
    """
    here = _identity(directory)
    if here is None:
        return None
    name = str(directory.resolve())
    with _lock:
        turn = _turns.setdefault(name, threading.Lock())
    with turn:
        with _lock:
            connect, known = _connect, _open.pop(name, None)
            if known is not None and known[0] == here:
                _open[name] = known  # the last used stands last
                return known[1]
        if known is not None:
            known[1].close()  # an open handle does not see that the files were replaced
        opened = SearchIndex(directory, connect)
        with _lock:
            if connect == _connect:
                _open[name] = (here, opened)
                while len(_open) > _KEPT_OPEN:
                    del _open[next(iter(_open))]
        return opened


def _close(directory: Path) -> None:
    """This process has the search index of the directory no longer open."""
    with _lock:
        known = _open.pop(str(directory.resolve()), None)
    if known is not None:
        known[1].close()


def _forget(searcher: SearchIndex) -> None:
    """The next question opens it anew."""
    with _lock:
        for name in [name for name, (_, held) in _open.items() if held is searcher]:
            del _open[name]


def _identity(directory: Path) -> tuple[int, int] | None:
    """Changes when the search index is written anew."""
    for path in (directory / SEARCH, directory / CHROMA / DATABASE):
        if path.is_file():
            stat = path.stat()
            return stat.st_ino, stat.st_mtime_ns if path.name == "search.json" else 0
    return None


if __name__ == "__main__":
    try:
        write_search_index(Path(sys.argv[1]), read_index(Path(sys.argv[1])), lambda done, total: None)
    except LeanRAGError as refusal:
        sys.exit(exit_code_of(refusal))
