"""The files of a search index, and how it is reached: through them, or on a Chroma server."""

import contextlib
import hashlib
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leanrag_core.errors import IndexDamaged, LeanRAGError, PartDamaged, SearchIndexFailed
from leanrag_core.messages.message import message
from leanrag_core.storage.digests import differing, digests_of, read_object, read_record, require_seal
from leanrag_core.storage.ownership import CHROMA, PARTS
from leanrag_core.storage.part_store import PartStore, fits
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.graph import Layer
from leanrag_core.types.manifest import LayerSearch, SearchRecord

REMEDY = message("search.remedy")
DATABASE = "chroma.sqlite3"
SEARCH = "search.json"
_MAX_BYTES = 16_000_000  # of search.json
_TABLES = ("collections", "segments", "max_seq_id", "embeddings", "embeddings_queue")
_WRITTEN = "index_metadata.pickle"  # Chroma's own file beside a graph that it will not write again; never read here


def layer_searches(folder: Path) -> tuple[LayerSearch, ...]:
    """Return what search.json says of each layer; empty when there is no such file. Raises SearchIndexFailed when it
    does not read."""
    return recorded(folder).layers


def recorded(folder: Path) -> SearchRecord:
    """Return the content of search.json; empty when there is no such file. Raises SearchIndexFailed when it does not
    read."""
    path = folder / SEARCH
    if not path.exists():
        return SearchRecord(())
    try:
        values = read_object(path, max_bytes=_MAX_BYTES)
        record = read_record(SearchRecord, path, values)
        require_seal(values, path)
    except IndexDamaged as error:
        raise SearchIndexFailed("search.record_damaged", file=str(path), remedy=REMEDY) from error
    return record


def fingerprinted(folder: Path, layers: tuple[LayerSearch, ...]) -> SearchRecord:
    """Return the record of the search index of those layers, with what must not change in its files."""
    graphs = [path.parent for path in sorted(folder.glob(f"*/{_WRITTEN}"))]
    names = [f"{graph.name}/{path.name}" for graph in graphs for path in sorted(graph.iterdir())]
    return SearchRecord(layers, digests_of(folder, names), _hash_of_rows(folder / DATABASE))


def changed_file(folder: Path, record: SearchRecord) -> str:
    """Return the first file, below the folder, that is missing or not as recorded; "" when all are as recorded, or
    nothing was recorded of them."""
    if record.rows is None:
        return ""
    try:
        if _hash_of_rows(folder / DATABASE) != record.rows:
            return DATABASE
    except sqlite3.Error:
        return DATABASE
    return next((name for name, _ in differing(folder, record.files or {})), "")


def _hash_of_rows(database: Path) -> str:
    """Return a hash of the rows that a search depends on."""
    digest = hashlib.sha256()
    with contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
        opened.text_factory = bytes  # a changed letter may be no UTF-8
        for table in _TABLES:
            for row in opened.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                digest.update(repr(row).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class SearchPlace:
    """Where a search index is. index: the directory of its index. folder: what holds the files of the search index."""

    index: Path
    folder: Path

    @property
    def database(self) -> Path:
        """Chroma's database, which is not there when the search index is on a server."""
        return self.folder / DATABASE

    @property
    def record(self) -> Path:
        """What is known of the search index; written last."""
        return self.folder / SEARCH


def place_in(directory: Path) -> SearchPlace | None:
    """Return where the search index of the index in that directory is; None when it has none.

    It is a part of the index; in indexes from before there were parts it has a folder of its own.
    """
    part = PartStore(directory).newest(CHROMA)
    place = SearchPlace(directory, part or directory / CHROMA)
    return place if place.record.is_file() or place.database.is_file() else None


def require_sound(place: SearchPlace) -> None:
    """Raise SearchIndexFailed when the search index is a part that is damaged, or was made of other vectors."""
    if place.folder.parent.parent != place.index / PARTS:
        return
    try:
        record = PartStore(place.index).read(place.folder.parent.name, place.folder.name)
    except PartDamaged as error:
        raise SearchIndexFailed("search.part_damaged", reason=error.message, part=place.folder.parent.name) from error
    if not fits(record, place.index):
        raise SearchIndexFailed("search.of_other_vectors", folder=str(place.folder), remedy=REMEDY)


@dataclass(frozen=True, eq=False)
class Connection:
    """A Chroma client and where an index's collections are in it.

    prefix: what their names begin with. own: whether the client serves this index alone and is closed after use.
    """

    client: Any
    prefix: str = ""
    own: bool = True

    def collection_name(self, layer: int) -> str:
        """Return the name of a layer's collection."""
        return f"{self.prefix}entities-{layer}"


Connect = Callable[[SearchPlace], Connection]


def connect_to_files(place: SearchPlace) -> Connection:
    """Return Chroma in this process, on the files of the folder.

    Raises SearchIndexFailed when they do not read, or are missing: Chroma would create empty ones in their place.
    """
    record = recorded(place.folder)
    if place.record.is_file() and record.rows is None and not place.database.is_file():
        raise SearchIndexFailed("search.no_files", remedy=REMEDY)
    changed = changed_file(place.folder, record)
    if changed:
        raise SearchIndexFailed("search.changed", file=str(place.folder / changed), remedy=REMEDY)
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    path = str(place.folder.resolve())
    with chroma_errors(place.database):
        try:
            return Connection(chromadb.PersistentClient(path=path, settings=Settings(anonymized_telemetry=False)))
        except BaseException:
            # Chroma keeps what did not start, as on a full disk, and would give it to the next client of this path.
            if path not in SharedSystemClient._identifier_to_refcount:
                SharedSystemClient._identifier_to_system.pop(path, None)
            raise


@contextmanager
def chroma_errors(database: Path | None) -> Iterator[None]:
    """Turn errors of Chroma in the block into SearchIndexFailed. database: None for a search index on a server."""
    try:
        yield
    except (LeanRAGError, TimeoutError):
        raise
    except Exception as error:  # chromadb raises errors of many types, some of them bare
        raise _no_answer(error, database) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Chroma's Rust code, which is no Exception
            raise
        raise _no_answer(error, database) from error


def _no_answer(error: BaseException, database: Path | None) -> SearchIndexFailed:
    if database is None:
        return SearchIndexFailed("search.no_answer", reason=in_words(error), remedy=REMEDY)
    return SearchIndexFailed("search.no_answer_in", database=str(database), reason=in_words(error), remedy=REMEDY)


ANSWER_SECONDS = 30.0  # timeout of a question to a server: at the first question it reads its files
_CANDIDATES_UNMEASURED = 128  # in a search index of format 1
_GET_ROWS = 1000  # rows that are read at a time
_Result = TypeVar("_Result")


def run_with_timeout(call: Callable[[], _Result], *, timeout_seconds: float) -> _Result:
    """Return what call() returns, or raises what it raises. TimeoutError at the timeout; its thread then runs on."""
    answer: Future[_Result] = Future()

    def wait() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # raised again by result()
            answer.set_exception(error)

    threading.Thread(target=wait, daemon=True, name="chroma-question").start()
    return answer.result(timeout=timeout_seconds)


class SearchIndex:
    """An opened search index; any number of threads may ask it. Its files are closed when no thread uses it any more.

    silent: whether a server took a question and did not answer in time, so that the next question connects again.
    answer_seconds: timeout of a question to a server.
    """

    def __init__(self, place: SearchPlace, connect: Connect, *, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.silent = False
        self._connection = connect(place)
        self.answer_seconds = answer_seconds
        self._database = place.database if self._connection.own else None
        self._measured = {measured.layer: measured for measured in layer_searches(place.folder)}
        self._collections: dict[int, Any] = {}
        if self._connection.own:
            self._close_client = weakref.finalize(self, self._connection.client.close)
            self._close_client.atexit = False

    def of_layer(self, layer: int) -> LayerSearch | None:
        """Return how that layer is searched; None for a search index of format 1."""
        return self._measured.get(layer)

    def candidates(self, layer: Layer, vector: np.ndarray, n: int) -> np.ndarray:
        """Return rows that include the n nearest of the layer with the measured recall, ascending.

        vector: (d,) float32. Raises SearchIndexFailed when Chroma does not answer; a server has a timeout.
        """
        measured = self._measured.get(layer.number)
        wanted = max(measured.candidates if measured else _CANDIDATES_UNMEASURED, 4 * n)

        def ask() -> Any:
            collection = self._collection(layer.number)
            return collection.query(query_embeddings=[vector], n_results=min(wanted, len(layer)), include=[])

        try:
            with chroma_errors(self._database):
                own = self._connection.own
                reply = ask() if own else run_with_timeout(ask, timeout_seconds=self.answer_seconds)
                ids = reply["ids"][0]
        except TimeoutError as error:
            self.silent = True
            raise SearchIndexFailed("search.server_silent") from error
        return _rows_of(layer, ids, are_rows=measured is not None)

    def stored(self, layer: int, n: int) -> np.ndarray:
        """Return (n, d) float32, the vectors that Chroma has of the first n rows of the layer; NaN where it has none.

        Raises SearchIndexFailed when Chroma does not answer.
        """
        rows = np.full((n, 0), np.nan, dtype=np.float32)
        for start in range(0, n, _GET_ROWS):
            ids = [str(row) for row in range(start, min(start + _GET_ROWS, n))]
            with chroma_errors(self._database):
                reply = self._collection(layer).get(ids=ids, include=["embeddings"])
            if len(reply["ids"]):
                vectors = np.asarray(reply["embeddings"], dtype=np.float32)
                if not rows.shape[1]:
                    rows = np.full((n, vectors.shape[1]), np.nan, dtype=np.float32)
                rows[np.array(reply["ids"], dtype=np.int64)] = vectors
        return rows

    def count(self, layer: int) -> int:
        """Return how many rows Chroma has of the layer. Raises SearchIndexFailed when it does not answer."""
        with chroma_errors(self._database):
            return int(self._collection(layer).count())

    def _collection(self, layer: int) -> Any:
        if layer not in self._collections:
            name = self._connection.collection_name(layer)
            self._collections[layer] = self._connection.client.get_collection(name, embedding_function=None)
        return self._collections[layer]

    def close(self) -> None:
        """Close the files, also when a thread still asks; the object cannot be used any more."""
        if self._connection.own:
            self._close_client()


def _rows_of(layer: Layer, ids: list[str], *, are_rows: bool) -> np.ndarray:
    """Return rows of the layer that Chroma's ids name, ascending; ids are entity ids in format 1. Returns (k,) int."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if are_rows:
        rows = np.sort(np.array(ids, dtype=np.int64))
        return rows[rows < len(layer)]
    return np.flatnonzero(pc.is_in(layer.entities["id"], value_set=pa.array(ids)).to_numpy())
