"""The nearest entities of a layer: exactly, or from the search index's candidates with their exact scores."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import SearchIndexFailed
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.tools import Tools
from leanrag_core.storage.cell_search import CellSearch
from leanrag_core.storage.digests import damaged
from leanrag_core.storage.layout import CHUNKS, vectors_path
from leanrag_core.storage.search_connection import REMEDY as SEARCH_REMEDY
from leanrag_core.storage.search_connection import SearchIndex
from leanrag_core.storage.search_store import EXACT_UP_TO, SearchStore
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index

EXACT, APPROXIMATE = "exact", "approximate"
KINDS = ("auto", EXACT, APPROXIMATE)
_ONE_THREAD_UP_TO = 100_000  # rows
_ROWS_IN_CACHE = 1024  # of 384 numbers: 1.6 MB
_KEPT_UP_TO = 1024  # rows of a part whose cosines are kept
_OFF = 2e-3  # by which a squared length may differ from 1
_LONGEST = 1 + _OFF  # product of two unit vectors
_GROUP = 32  # values
_COPIED_BELOW = 3  # one row in so many
_ROWS_IN_KEY = 1 << 23  # behind 40 bits of a mass


@dataclass(frozen=True, eq=False)
class Nearest:
    """rows: (k,) int64, best first, ties by row. scores: (k,) float32, cosines. kind: how they were found.
    recall: share of the true ten nearest that this search was measured to find; 1 when exact, None when not known.
    instead: why the search index could not be asked, where auto would have taken it."""

    rows: np.ndarray
    scores: np.ndarray
    kind: str
    recall: float | None = 1.0
    instead: Message | None = None


def nearest(
    index: Index, layer: Layer, vector: np.ndarray, n: int, how: str = "auto", *, searches: SearchStore | None = None
) -> Nearest:
    """Return the n nearest entities of the layer. vector: (d,) float32, unit length.

    how: exact, approximate, or auto, which takes the search index above EXACT_UP_TO rows where there is one that
    answers. Exact is the product with the memory-mapped matrix. searches: opens search indexes; without it there are
    none. Raises SearchIndexFailed when how is approximate and the search index is missing or does not answer.
    """
    instead: Message | None = None
    if index.cut is not None and not index.cut.is_all:  # a search index is of all documents
        how = EXACT
    if how == APPROXIMATE or (how == "auto" and len(layer) > EXACT_UP_TO):
        try:
            searcher = _opened(index, searches)
            if searcher is not None:
                return _approximate(searcher, index, layer, vector, n)
        except SearchIndexFailed as error:
            if how == APPROXIMATE:
                raise
            instead = error.message
        if how == APPROXIMATE:
            raise SearchIndexFailed("search.none", remedy=SEARCH_REMEDY)
    rows, scores = rank(np.arange(len(layer)), similarity(index, layer.number, vector), n)
    similarity(index, layer.number, vector, rows)  # their lengths too
    return Nearest(rows, scores, EXACT, instead=instead)


def read_ahead(index: Index, searches: SearchStore) -> None:
    """Read the search index of a large base layer, which the first question would otherwise wait for; nothing when it
    has none. Raises SearchIndexFailed when it does not answer."""
    base = index.layers[0]
    searcher = _opened(index, searches) if len(base) > EXACT_UP_TO else None
    if searcher is not None:
        searcher.candidates(base, np.asarray(base.vectors[0]), 1)


def _opened(index: Index, searches: SearchStore | None) -> SearchIndex | CellSearch | None:
    return searches.open(index.path) if searches is not None and index.path is not None else None


def _approximate(searcher: SearchIndex | CellSearch, index: Index, layer: Layer, vector: np.ndarray, n: int) -> Nearest:
    """Return the n nearest of the search index's candidates, by their exact scores. vector: (d,)."""
    candidates, known = searcher.candidates(layer, vector, n), searcher.of_layer(layer.number)
    rows, scores = rank(candidates, similarity(index, layer.number, vector, candidates), n)
    return Nearest(rows, scores, APPROXIMATE, known.recall if known else None)


def similarity(
    index: Index, part: int | str, vector: np.ndarray, rows: Sequence[int] | np.ndarray | None = None
) -> np.ndarray:
    """Return cosines() of a layer's vectors (part: its number) or of the chunks' (part: CHUNKS), (n,) float32; of all
    rows, or of those, (k,). vector: (d,) float32, unit length.

    Of a small part the cosines of all rows are kept for the next question of that vector: do not write into the array.
    Raises IndexDamaged, naming file and row, where a product cannot be one of unit vectors; the lengths of chosen rows,
    and of small parts, are checked as well.
    """
    vectors = index.chunk_vectors if part == CHUNKS else index.layers[int(part)].vectors
    if len(vectors) <= _KEPT_UP_TO:
        scores = index.kept_cosines.get_or_make(
            (part, vector.tobytes()), lambda: _checked(index, part, vectors, vector)
        )
        return scores if rows is None else scores[np.asarray(rows, dtype=np.int64)]
    return _checked(index, part, vectors, vector, rows)


def similarity_to_each(index: Index, part: int | str, queries: np.ndarray) -> list[np.ndarray]:
    """Return similarity() of all rows to each query; a row of many is read from memory once for all of them.

    queries: (q, d) float32, unit length. Raises IndexDamaged.
    """
    vectors = np.asarray(index.chunk_vectors if part == CHUNKS else index.layers[int(part)].vectors)
    if len(queries) == 1 or not _KEPT_UP_TO < len(vectors) <= _ONE_THREAD_UP_TO:
        return [similarity(index, part, query) for query in queries]
    with np.errstate(invalid="ignore", over="ignore"):  # reported below
        each = cosines_of_each(vectors, queries)
    for scores in each:
        _require_fitting(index, part, np.abs(scores) <= _LONGEST)
    return list(each)


def _checked(
    index: Index,
    part: int | str,
    vectors: np.ndarray,
    vector: np.ndarray,
    rows: Sequence[int] | np.ndarray | None = None,
) -> np.ndarray:
    """Return what similarity() does, read-only, (n,) or (k,) float32. vectors: (n, d) of the part. vector: (d,). rows:
    (k,) int, of those that are asked for; None for all."""
    if rows is not None:  # of the plain array: a view of the file would be made for each choice of rows
        vectors = np.asarray(vectors)[rows]
    with np.errstate(invalid="ignore", over="ignore"):  # reported below
        scores = cosines(vectors, vector)
    scores.setflags(write=False)
    if not len(scores):
        return scores
    if not np.abs(scores).max() <= _LONGEST:  # also where one is NaN
        fits = np.abs(scores) <= _LONGEST
    elif rows is not None or len(vectors) <= _KEPT_UP_TO:
        fits = np.abs(np.vecdot(vectors, vectors) - 1) < _OFF
    else:
        return scores
    _require_fitting(index, part, fits, rows)
    return scores


def _require_fitting(
    index: Index, part: int | str, fits: np.ndarray, rows: Sequence[int] | np.ndarray | None = None
) -> None:
    """Raise IndexDamaged for the first row that does not fit. fits: (n,) bool of all rows of the part, or (k,) of
    those."""
    if fits.all():
        return
    row = int(np.flatnonzero(~fits)[0])
    raise damaged(
        vectors_path(index, part), message("damage.not_unit_vector", row=row if rows is None else int(rows[row]))
    )


def cosines(vectors: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the (n,) float32 products of unit rows with a unit vector; a row's value does not depend on the others.

    vectors: (n, d), d at most 8,192. Every product is summed in numpy's own fixed order: a BLAS library adds up in
    another order on another processor, and its last bit would decide which of two near rows comes first. Very large
    layers are shared among threads.
    """
    if len(vectors) <= _ONE_THREAD_UP_TO:
        return _products(vectors, vector)
    starts = range(0, len(vectors), _ONE_THREAD_UP_TO)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        parts = threads.map(lambda start: _products(vectors[start : start + _ONE_THREAD_UP_TO], vector), starts)
        return np.concatenate(list(parts))


def mean_direction(vector: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return (d,) float32, unit length: the mean of the vector and the rows of the others, (n, d)."""
    mean = np.concatenate([vector[None], others]).mean(axis=0, keepdims=True)
    # The length of a row is summed in a fixed order; that of a single vector by BLAS, as each processor does.
    return np.asarray((mean / np.linalg.norm(mean, axis=1))[0], dtype=np.float32)


def cosines_of_each(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return (q, n) float32, cosines() of every row to each query; a row is read from memory once for all of them.

    vectors: (n, d). queries: (q, d).
    """
    scores = np.empty((len(queries), len(vectors)), dtype=np.float32)
    for start in range(0, len(vectors), _ROWS_IN_CACHE):
        block = vectors[start : start + _ROWS_IN_CACHE]
        for row, query in enumerate(queries):
            scores[row, start : start + len(block)] = _products(block, query)
    return scores


def _products(vectors: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return (n,) sums in numpy's own order. vectors: (n, d). vector: (d,)."""
    return np.asarray(np.einsum("ij,j->i", vectors, vector))


def rank(rows: np.ndarray, scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the n best (row, score), best first, ties by row. rows ascending, both (k,)."""
    if 0 < n < len(rows):
        floor = np.partition(scores, len(scores) - n)[len(scores) - n]
        kept = np.flatnonzero(scores >= floor)
        rows, scores = rows[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")[:n]
    return rows[order], scores[order]


def best_first(scores: np.ndarray) -> np.ndarray:
    """Return all rows, the highest score first, ties by row; (n,) int64. scores: (n,), no NaN.

    As a stable sort orders them. Scores of 32 bits are sorted as whole numbers that hold the row too, of which
    processors sort several at a time. Of others, which come from walks, only those above 0 are sorted where they are
    few.
    """
    if scores.dtype == np.float32:
        bits = (np.float32(0) - scores).view(np.uint32)  # 0 - 0 is 0, where -0 would sort before it
        keys = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)).astype(np.uint64) << np.uint64(32)
        return (np.sort(keys | np.arange(len(scores), dtype=np.uint64)) & np.uint64(0xFFFFFFFF)).astype(np.int64)
    above = np.flatnonzero(scores > 0)
    if 2 * len(above) > len(scores) or scores.min(initial=0) < 0:
        return np.argsort(-scores, kind="stable")
    return np.concatenate([above[np.argsort(-scores[above], kind="stable")], np.flatnonzero(scores == 0)])


def positive_first(scores: np.ndarray) -> np.ndarray:
    """Return the rows with a score above 0 as best_first() orders them; (k,) int64. scores: (n,), no NaN."""
    return best_first(scores)[: int(np.count_nonzero(scores > 0))]


def best_first_rounded(mass: np.ndarray) -> np.ndarray:
    """Return all rows as best_first() does of masses rounded to 12 decimal digits; (n,) int64. mass: (n,) float64, 0 to
    1. Rounded, so that processors which add up in another order rank alike."""
    if len(mass) > _ROWS_IN_KEY:
        return best_first(np.round(mass, 12))
    units = np.rint(mass * 1e12).astype(np.uint64)
    keys = (np.uint64(1 << 40) - units) * np.uint64(_ROWS_IN_KEY) + np.arange(len(mass), dtype=np.uint64)
    return (np.sort(keys) % np.uint64(_ROWS_IN_KEY)).astype(np.int64)


def unit_range(scores: np.ndarray) -> np.ndarray:
    """Return the scores moved and scaled to [0, 1]; all 1 where they are equal. scores: (n,)."""
    if not len(scores) or scores.max() == scores.min():
        return np.ones(len(scores))
    return np.asarray((scores - scores.min()) / (scores.max() - scores.min()))


def best_rows(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the rows of the n highest scores, best first, ties by row; (n,) int64. scores: (k,)."""
    return rank(np.arange(len(scores)), scores, n)[0]


def best_positive_rows(scores: np.ndarray, n: int) -> np.ndarray:
    """Return best_rows() without those whose score is not above 0. scores: (k,)."""
    rows = best_rows(scores, n)
    return np.asarray(rows[scores[rows] > 0])


@dataclass(frozen=True, eq=False)
class Ranked:
    """rows: (k,) int64, best first, ties by row. scores: (k,), cosines as float32, or what else ranks them."""

    rows: np.ndarray
    scores: np.ndarray


class RowCosines:
    """The cosines of unit rows to a vector, exact, each computed where it is asked for.

    Of many rows all are known coarsely, within margins; those that may be among the best are then computed as cosines()
    computes them, so that scores and ranking are the same to the last bit.
    """

    def __init__(self, vectors: np.ndarray, vector: np.ndarray, known: np.ndarray, margins: np.ndarray | None) -> None:
        """Keep what is known. vectors: (n, d). vector: (d,). known: (n,) float32, exact, or within margins, (n,)."""
        self._vectors, self._vector, self._known, self._margins = vectors, vector, known, margins

    def __len__(self) -> int:
        return len(self._known)

    def of(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the cosines of those rows, (k,) float32. rows: (k,)."""
        rows = np.asarray(rows, dtype=np.int64)
        if self._margins is None:
            return np.asarray(self._known[rows])
        return cosines(np.asarray(self._vectors)[rows], self._vector)

    def best(self, n: int, rows: np.ndarray | None = None) -> Ranked:
        """Return the n nearest of all rows, or of those. rows: (k,) ascending."""
        known, margins = self._known, self._margins
        if rows is not None:
            rows = np.asarray(rows, dtype=np.int64)
            known, margins = known[rows], margins if margins is None else margins[rows]
        kept = np.arange(len(known)) if margins is None or n <= 0 else _may_be_best(known, margins, n)
        candidates = kept if rows is None else rows[kept]
        return Ranked(*rank(candidates, self.of(candidates), n))

    def least(self) -> float:
        """Return the lowest cosine of all rows, of which there is one at least."""
        if self._margins is None:
            return float(self._known.min())
        lowest = np.flatnonzero(self._known - self._margins <= (self._known + self._margins).min())
        return float(self.of(lowest).min())


def _may_be_best(known: np.ndarray, margins: np.ndarray, n: int) -> np.ndarray:
    """Return the places, ascending, that may be among the n highest. known, margins: (k,), see RowCosines."""
    if len(known) <= n:
        return np.arange(len(known))
    surely = known - margins
    if len(known) < _GROUP * 4 * n:
        return np.flatnonzero(known + margins >= _nth_highest(surely, n))
    # The nth of the highest of each group is no higher than the nth of all, and found much sooner.
    highest = np.maximum.reduceat(surely, np.arange(0, len(surely), _GROUP))
    near = np.flatnonzero(known + margins >= _nth_highest(highest, n))
    return np.asarray(near[known[near] + margins[near] >= _nth_highest(surely[near], n)])


def _nth_highest(values: np.ndarray, n: int) -> np.ndarray:
    """Return the nth highest of the values, (k,), as an array without axes. n: 1 to k."""
    return np.asarray(np.partition(values, len(values) - n)[len(values) - n])


def row_cosines(vectors: np.ndarray, queries: np.ndarray, tools: Tools) -> list[RowCosines]:
    """Return the cosines of the rows to each query; a row is read from memory once for all of them.

    vectors: (n, d) float32 unit rows, the same array at each question. queries: (q, d) float32, unit length.
    """
    coarse = tools.searches.coarse.of(vectors) if tools.searches is not None else None
    if coarse is None:
        scores = cosines_of_each(vectors, queries)
        return [RowCosines(vectors, query, scores[place], None) for place, query in enumerate(queries)]
    known = coarse.cosines(queries)
    return [RowCosines(vectors, query, known.values[place], known.margins) for place, query in enumerate(queries)]


def nearest_rows(
    vectors: np.ndarray,
    vector: np.ndarray,
    k: int,
    *,
    at_least: float = -1.0,
    tools: Tools | None = None,
    among: np.ndarray | None = None,
) -> Ranked:
    """Return the k rows nearest to the vector, of those with that cosine or a higher one.

    vectors: (n, d) float32 unit rows. vector: (d,) float32, unit length. tools: for many vectors that are searched at
    each question. among: (m,) ascending, the rows that are looked at; None for all.
    """
    if not len(vectors):
        return Ranked(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
    if tools is not None:
        best = row_cosines(vectors, vector[None], tools)[0].best(k, among)
        rows, scores = best.rows, best.scores
    elif among is None:
        rows, scores = rank(np.arange(len(vectors)), cosines(vectors, vector), k)
    else:  # of most rows all are compared: copying those would take longer
        few = _COPIED_BELOW * len(among) < len(vectors)
        scores = cosines(np.asarray(vectors)[among], vector) if few else cosines(vectors, vector)[among]
        rows, scores = rank(among, scores, k)
    kept = scores >= at_least
    return Ranked(rows[kept], scores[kept])


def nearest_entities(index: Index, vector: np.ndarray, k: int, tools: Tools) -> Nearest:
    """Return the k base entities nearest to the vector: exact, or by the search index where the layer is large.
    vector: (d,) float32, unit length."""
    return nearest(index, index.layers[0], vector, k, searches=tools.searches)
