"""The opened search indexes of one program, and how they are reached.

A store is an object that the workbench owns; two stores do not share anything. Several threads may use one at a time.

Many vectors are held in whole numbers: a quarter of the bytes, and how far each cosine may be off at most. Comparing a
question with 200,000 vectors of 384 numbers takes as long as reading 300 MB. In bytes they are 77 MB, and the few rows
whose exact cosine could still be among the highest are then read exactly (retrieval.vector_search).
"""

import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import LeanRAGError, SearchIndexFailed
from leanrag_core.storage.cell_search import CELLS, CellSearch
from leanrag_core.storage.chroma_server import ChromaServers
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

COARSE_ABOVE = 20_000  # vectors; fewer are compared exactly in some three milliseconds
_MOST_KEPT = 4  # copies; one of 200,000 vectors takes 100 MB
_LARGEST = 127  # code of a row's largest number
# Codes of a question: with the offset they stay below 128, so that a pair of products fits into 16 bits, to which
# processors without VNNI cut it.
_DIGIT, _OFFSET = 63, 64
_ROWS_A_SESSION = 1 << 18
_ROWS_CODED = 8192  # at a time
_FLOATS_OFF = 5e-5  # what sums in float32 may be off, of both the coarse and the exact cosines


@dataclass(frozen=True, eq=False)
class CoarseCosines:
    """values: (q, n) float32, of each row to each question. margins: (n,) float32, by which an exact one may differ."""

    values: np.ndarray
    margins: np.ndarray


class CoarseVectors:
    """A copy of unit rows in whole numbers, each row with a step of its own."""

    def __init__(self, vectors: np.ndarray) -> None:
        """Encode the vectors, (n, d) float32 unit rows."""
        n, dimension = vectors.shape
        self._steps, self._off = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
        self._sessions: list[Any] = []
        for first in range(0, n, _ROWS_A_SESSION):
            last = min(n, first + _ROWS_A_SESSION)
            codes = np.empty((dimension, last - first), dtype=np.int8)
            for start in range(first, last, _ROWS_CODED):
                rows = slice(start, min(last, start + _ROWS_CODED))
                block = np.asarray(vectors[rows])
                steps = np.maximum(np.abs(block).max(axis=1), 1e-12) / _LARGEST
                whole_numbers = np.rint(block / steps[:, None])
                self._steps[rows] = steps
                block = block - whole_numbers * steps[:, None]
                self._off[rows] = np.sqrt(np.einsum("ij,ij->i", block, block))
                codes[:, rows.start - first : rows.stop - first] = whole_numbers.T
            self._sessions.append(_session(codes))

    def cosines(self, queries: np.ndarray) -> CoarseCosines:
        """Return the cosines of all rows to the queries, (q, d) float32 unit rows."""
        exact = queries.astype(np.float64)
        step = np.maximum(np.abs(exact).max(axis=1, keepdims=True), 1e-12) / _DIGIT
        high = np.rint(exact / step)
        fine = step / (2 * _DIGIT)
        low = np.rint((exact - high * step) / fine)
        coded = np.stack([high, low], axis=1).reshape(-1, queries.shape[1]) + _OFFSET
        digits = {"digits": coded.astype(np.uint8)}
        products = np.concatenate([session.run(None, digits)[0] for session in self._sessions], axis=1)
        values = products[0::2] * step.astype(np.float32)
        values += products[1::2] * fine.astype(np.float32)
        values *= self._steps
        left = exact - high * step - low * fine
        off = float(np.sqrt((left**2).sum(axis=1)).max())
        margins = self._off * np.float32(1 + off + 1e-4)
        margins += np.float32(off + _FLOATS_OFF)
        return CoarseCosines(values, margins)


def _session(codes: np.ndarray) -> Any:
    """Return the session that multiplies the digits of questions, (q, d) uint8, by the codes, into (q, n) whole numbers
    in float32. codes: (d, n) int8."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("MatMulInteger", ["digits", "codes", "offset"], ["whole"]),
        helper.make_node("Cast", ["whole"], ["products"], to=TensorProto.FLOAT),
    ]
    graph = helper.make_graph(
        nodes,
        "products",
        [helper.make_tensor_value_info("digits", TensorProto.UINT8, ["queries", codes.shape[0]])],
        [helper.make_tensor_value_info("products", TensorProto.FLOAT, ["queries", codes.shape[1]])],
        [
            numpy_helper.from_array(codes, "codes"),
            numpy_helper.from_array(np.asarray(_OFFSET, dtype=np.uint8), "offset"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class _Kept:
    """The copy of one array. making: held while it is made, so that it is made once."""

    def __init__(self, vectors: np.ndarray) -> None:
        """Take the array, (n, d), without keeping it in memory."""
        self.array = weakref.ref(vectors)
        self.making = threading.Lock()
        self.copy: CoarseVectors | None = None


class CoarseStore:
    """The coarse copies of one program, made when they are first asked for. Several threads may use one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the field below
        self._kept: dict[int, _Kept] = {}  # by id() of the array, the last used at the end

    def of(self, vectors: np.ndarray) -> CoarseVectors | None:
        """Return the copy of that array, (n, d); None up to COARSE_ABOVE rows, which are as fast without."""
        if len(vectors) <= COARSE_ABOVE:
            return None
        with self._lock:
            kept = self._kept.pop(id(vectors), None)
            if kept is None or kept.array() is not vectors:  # an id may come again when its array is gone
                kept = _Kept(vectors)
            self._kept[id(vectors)] = kept
            for key in [key for key, each in self._kept.items() if each.array() is None]:
                del self._kept[key]
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        with kept.making:
            if kept.copy is None:
                kept.copy = CoarseVectors(vectors)
            return kept.copy


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
