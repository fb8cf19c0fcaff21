"""An opened search index: the nearest rows of a layer, by Chroma.

One collection a layer, since a `where` filter costs many times a plain query; embeddings are always ours, and ids are
rows. search.json says for each layer how many candidates Chroma must return so that the true ten nearest are among
them. A search index without it is one of index format 1, whose ids are entity ids.
"""

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np

from leanrag_core.errors import SearchIndexFailed
from leanrag_core.storage.search_connection import Connect, SearchPlace, chroma_errors, layer_searches
from leanrag_core.types.graph import Layer
from leanrag_core.types.manifest import LayerSearch

ANSWER_SECONDS = 30.0  # timeout of a question to a server: at the first question it reads its files
_CANDIDATES_UNMEASURED = 128  # in a search index of format 1
_GET_ROWS = 1000  # rows that are read at a time
_Result = TypeVar("_Result")


def run_with_timeout(call: Callable[[], _Result], *, timeout_seconds: float) -> _Result:
    """Returns what call() returns, or raises what it raises. TimeoutError at the timeout; its thread then runs on."""
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
        """(n, d) float32, the vectors that Chroma has of the first n rows of the layer; NaN where it has none.

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
        """Closes the files, also when a thread still asks; the object cannot be used any more."""
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
