"""The clustering as a search index: the vectors of a layer in 1 and in 8 bits, one cluster after another, mapped.

The clusters of a layer are the cells of an inverted file. A question is compared with the signs of the centres of all
cells, then with the signs of the vectors in the nearest cells, and in 8 bits with the nearest of these alone. All sums
are of whole numbers below 2**24, which single floats hold exactly: any number of threads, and any processor, finds the
same rows. How many of the true ten nearest it finds is measured on vectors of the layer and points between them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Interval

from leanrag_core.errors import PartDamaged
from leanrag_core.files.atomic import write_json
from leanrag_core.files.records import Count, plain
from leanrag_core.storage.digests import read_object, read_record
from leanrag_core.storage.search_connection import SEARCH
from leanrag_core.storage.tables import require_unit_rows
from leanrag_core.types.graph import Layer, children_offsets
from leanrag_core.types.manifest import LayerSearch
from leanrag_core.types.rows import place_of_each, places_of_runs

RECALL = 0.99  # wanted share of the true ten nearest
_NEAREST = 10  # neighbours that recall counts
_SAMPLED = 100  # vectors of a layer that recall is measured on
_EQUALLY_NEAR = 1e-6


def queries_with_floors(vectors: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the questions that recall is measured with, (q, d), of two kinds, and of each the score that a vector
    needs to be among its ten nearest, (q,). vectors: (n, d)."""
    return [(queries, _floors_of(vectors, queries)) for queries in _search_queries(vectors)]


def _search_queries(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of the layer, (q, d), and midpoints of pairs of them, (q, d), which are farther from all others,
    as questions are. vectors: (n, d)."""
    rows = np.unique(np.linspace(0, len(vectors) - 1, min(_SAMPLED, len(vectors))).astype(int))
    sampled = vectors[rows]
    between = sampled + sampled[np.random.default_rng(0).permutation(len(rows))]
    lengths = np.linalg.norm(between, axis=1, keepdims=True)
    return sampled, np.where(lengths > 1e-3, between / np.maximum(lengths, 1e-3), sampled)


def _floors_of(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return (q,), the score that a vector needs to be among the ten nearest of each query. vectors: (n, d), read once.
    queries: (q, d)."""
    wanted = min(_NEAREST, len(vectors))
    best = np.empty((len(queries), 0), dtype=np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        scores = np.concatenate([best, queries @ vectors[start : start + _ROWS_AT_ONCE].T], axis=1)
        last = max(0, scores.shape[1] - wanted)
        best = np.partition(scores, last, axis=1)[:, last:]
    return np.asarray(best.min(axis=1) - _EQUALLY_NEAR)


def recall_of(candidates: Sequence[np.ndarray], vectors: np.ndarray, queries: np.ndarray, floors: np.ndarray) -> float:
    """Return the share of the queries' ten nearest among their candidates; of equally near ones any will do.

    candidates: (k,) rows for each query. vectors: (n, d). queries: (q, d). floors: (q,), see queries_with_floors().
    """
    wanted = min(_NEAREST, len(vectors))
    hits = sum(
        min(wanted, int((vectors[rows] @ query >= floor).sum()))
        for rows, query, floor in zip(candidates, queries, floors, strict=True)
    )
    return hits / (wanted * len(queries))


CELLS = "cells"  # the name of the index part
_MAX_BYTES = 1_000_000  # of the record
_PROBES = tuple(2**power for power in range(3, 18))  # cells that a question is compared with, tried in this order
_SHORTLISTS = (1024, 4096, 16_384, 65_536)  # rows that are compared in 8 bits after their signs, tried in this order
_SIGNS_A_CODE = 20  # comparisons of signs that take as long as one in 8 bits
_CANDIDATES = 64  # rows whose exact cosines are looked at, and at least four times as many as are wanted
_LARGEST_CODE = 127
_LARGEST_SCALE = 2000.0  # the product of two unit vectors in codes stays below 2**22
_ROWS_AT_ONCE = 65_536
_IN_CACHE = 1024  # rows


@dataclass(frozen=True)
class CellLayer:
    """How a layer is searched. probes: cells whose rows a question is compared with. shortlist: rows of these, those
    with the most signs of the question, that are compared in 8 bits; 0 in a record of before there were signs. recall:
    share of the true ten nearest that this finds. scale: codes are vectors times this, rounded."""

    layer: Count
    rows: Count
    cells: Count
    probes: Count
    recall: Annotated[float, Interval(ge=0, le=1)]
    scale: float
    shortlist: Count = 0


@dataclass(frozen=True)
class CellRecord:
    """search.json of such a part. Layers that it does not name are searched whole."""

    layers: tuple[CellLayer, ...] = ()


@dataclass(frozen=True, eq=False)
class _Lists:
    """One layer as an inverted file; arrays as they are stored.

    codes: (n, d) int8, the vectors cell by cell. signs: (n, d / 64) uint64, a bit for each number of these. rows: (n,)
    int32, the row of each. starts: (cells + 1,) int64 offsets of the cells. centre_signs: (cells, d / 64) uint64.
    """

    codes: np.ndarray
    signs: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    centre_signs: np.ndarray


_ARRAYS = tuple(_Lists.__dataclass_fields__)
_MAPPED = ("codes", "signs")
_WORD = np.dtype("<u8")


def write_cells(
    folder: Path, layers: Sequence[Layer], report: Callable[[int, int], None], *, wanted_recall: float
) -> CellRecord:
    """Write the inverted file of every layer that has more than one cluster; report(done, total) counts vectors.

    Raises StorageFailed, IndexDamaged where a vector is no unit vector, and what report() raises.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done, total, written_layers = 0, sum(map(len, layers)), []
    report(done, total)
    for layer, above, _ in zip(layers, layers[1:], layers[2:], strict=False):
        vectors = np.asarray(layer.vectors)
        require_unit_rows(vectors, f"layer {layer.number}")
        scale = _scale_of(vectors)
        cell_order = np.argsort(above.parent, kind="stable")
        cell = place_of_each(cell_order, len(above))[layer.parent]
        starts, order = children_offsets(cell, len(above))
        path = folder / f"codes-{layer.number}.npy"
        codes = np.lib.format.open_memmap(path, mode="w+", dtype=np.int8, shape=vectors.shape)
        signs = np.empty((len(vectors), -(-vectors.shape[1] // _BITS)), dtype=_WORD)
        sums = np.zeros((len(above), vectors.shape[1]))
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            codes[block] = _coded(vectors[order[block]], scale)
            signs[block] = _signs(codes[block])
            cells = cell[order[block]]  # ascending
            first = np.flatnonzero(np.diff(cells, prepend=-1))
            # Of the codes: whole numbers add up to the same sum in any order.
            sums[cells[first]] += np.add.reduceat(codes[block].astype(np.int32), first)
            done += len(cells)
            report(done, total)
        codes.flush()
        lists = _Lists(codes, signs, order, starts, _signs(sums))
        for name in _ARRAYS[1:]:
            np.save(folder / f"{name}-{layer.number}.npy", getattr(lists, name), allow_pickle=False)
        unmeasured = CellLayer(layer.number, len(layer), len(above), 0, 0.0, scale)
        written_layers.append(_measured(unmeasured, lists, vectors, wanted_recall))
    record = CellRecord(tuple(written_layers))
    write_json(folder / SEARCH, plain(record))
    return record


def _measured(layer: CellLayer, lists: _Lists, vectors: np.ndarray, wanted: float) -> CellLayer:
    """Return the layer with the cheapest numbers of cells and of rows in 8 bits that reach the wanted recall. vectors:
    (n, d) float32."""
    measured_with = queries_with_floors(vectors)

    def cost(tried: CellLayer) -> tuple[float, int]:
        rows = tried.probes * layer.rows / layer.cells
        return rows + _SIGNS_A_CODE * min(tried.shortlist, rows), tried.shortlist

    trials = [
        replace(layer, probes=probes, shortlist=shortlist)
        for probes in (*(n for n in _PROBES if n < layer.cells), layer.cells)
        for shortlist in (*(n for n in _SHORTLISTS if n < layer.rows), layer.rows)
    ]
    for trial in sorted(trials, key=cost):
        search = _LayerSearcher(trial, lists)
        recall = min(
            recall_of([search.candidates(query, 1) for query in queries], vectors, queries, floors)
            for queries, floors in measured_with
        )
        if recall >= wanted:
            break
    return replace(trial, recall=round(recall, 4))


def _scale_of(vectors: np.ndarray) -> float:
    """Return the factor from the numbers of these vectors, (n, d), to their codes; rounded, so that it does not depend
    on the last bit of the largest number."""
    largest = max(float(np.abs(vectors[at : at + _ROWS_AT_ONCE]).max()) for at in range(0, len(vectors), _ROWS_AT_ONCE))
    return float(np.floor(min(_LARGEST_SCALE, _LARGEST_CODE / max(largest, 1e-6))))


def _coded(vectors: np.ndarray, scale: float) -> np.ndarray:
    """Return (n, d) int8 codes of (n, d) vectors, or (d,) of one."""
    return np.clip(np.rint(vectors * scale), -_LARGEST_CODE, _LARGEST_CODE).astype(np.int8)


_BITS = 64  # of a word


def _signs(numbers: np.ndarray) -> np.ndarray:
    """Return which of (n, d) numbers are above zero, a bit each, (n, d / 64) uint64."""
    packed = np.packbits(numbers > 0, axis=1)
    return np.asarray(np.pad(packed, [(0, 0), (0, -packed.shape[1] % _WORD.itemsize)]).view(_WORD))


class _LayerSearcher:
    """One layer that is searched by its cells."""

    def __init__(self, layer: CellLayer, lists: _Lists) -> None:
        self.layer = layer
        self._lists = lists
        # Plain arrays: a view of the file would be made for each choice of rows.
        self._codes, self._signs = np.asarray(lists.codes), np.asarray(lists.signs)

    def candidates(self, vector: np.ndarray, n: int) -> np.ndarray:
        """Return rows that include the n nearest with the measured recall, ascending, (k,) int32. vector: (d,)."""
        lists, shortlist = self._lists, self.layer.shortlist
        code = _coded(vector, _scale_of(vector[None, :])).astype(np.float32)
        signs = _signs(code[None, :])[0]
        cells = _largest(-_hamming_distances(lists.centre_signs, signs), self.layer.probes)
        starts = lists.starts[cells]
        places = places_of_runs(starts, lists.starts[cells + 1] - starts)
        if len(places) > shortlist:
            places = places[_largest(-_hamming_distances(self._signs, signs, places), shortlist)]
        scores = _products(self._codes, code, places)
        return np.sort(lists.rows[places[_largest(scores, max(_CANDIDATES, 4 * n))]])


def _hamming_distances(signs: np.ndarray, of_question: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
    """Return the Hamming distance of the (n, words) signs, or of those at the places, (n,), to a question's, (words,);
    (n,) int16: in how many signs they differ."""
    counts = np.bitwise_count((signs if places is None else _rows_at(signs, places)) ^ of_question)
    distances: np.ndarray = counts[:, 0].astype(np.int16)
    for column in counts.T[1:]:  # six times as quick as a sum over so few columns
        distances += column
    return distances


def _rows_at(table: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return table[places], in half the time: a row is copied as one item. table: (n, k), rows without gaps."""
    items = table.view(np.dtype((np.void, table.itemsize * table.shape[1])))[:, 0]
    return np.asarray(items.take(places).view(table.dtype).reshape(len(places), -1))


def _products(codes: np.ndarray, code: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return (k,) float32, the products of the code, (d,) float32 whole numbers, with the codes, (n, d) int8, at those
    places, (k,).

    As many rows at a time become floats as the processor's cache holds, and no BLAS library is asked, whose threads
    take longer to start than these few rows do.
    """
    n = len(places)
    scores, floats = np.empty(n, dtype=np.float32), np.empty((min(n, _IN_CACHE), codes.shape[1]), dtype=np.float32)
    for start in range(0, n, _IN_CACHE):
        rows = slice(start, min(start + _IN_CACHE, n))
        block = floats[: rows.stop - start]
        block[...] = _rows_at(codes, places[rows])
        np.vecdot(block, code, out=scores[rows])
    return scores


def _largest(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the places of the n largest scores, ascending, with all that equal the last of them. scores: (k,)."""
    if len(scores) <= n:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])


class CellSearch:
    """An opened search index of cells; any number of threads may ask it."""

    silent = False  # it waits for no server

    def __init__(self, folder: Path) -> None:
        """Map the files in the folder of the part. Raises PartDamaged, also for a part that has no signs."""
        layers = read_cells(folder).layers
        if not all(layer.shortlist for layer in layers):
            raise PartDamaged("part.of_another_version", part=CELLS)
        self._layers = {layer.layer: _LayerSearcher(layer, _read_lists(folder, layer)) for layer in layers}

    def of_layer(self, layer: int) -> LayerSearch | None:
        """Return how that layer is searched; None for one that is searched whole."""
        search = self._layers.get(layer)
        return LayerSearch(layer, search.layer.rows, _CANDIDATES, search.layer.recall) if search else None

    def candidates(self, layer: Layer, vector: np.ndarray, n: int) -> np.ndarray:
        """Return rows that include the n nearest of the layer with the measured recall, ascending, (k,) int; all rows
        of a layer without cells. vector: (d,) float32."""
        search = self._layers.get(layer.number)
        return search.candidates(vector, n) if search else np.arange(len(layer))

    def close(self) -> None:
        """Release the files; for threads that are still searching they stay mapped."""
        self._layers = {}


def read_cells(folder: Path) -> CellRecord:
    """Return the record of the part in the folder. Raises IndexDamaged."""
    return read_record(CellRecord, folder / SEARCH, read_object(folder / SEARCH, max_bytes=_MAX_BYTES))


def _read_lists(folder: Path, layer: CellLayer) -> _Lists:
    try:
        lists = _Lists(
            **{
                name: np.load(
                    folder / f"{name}-{layer.layer}.npy", mmap_mode="r" if name in _MAPPED else None, allow_pickle=False
                )
                for name in _ARRAYS
            }
        )
    except (OSError, ValueError) as error:
        raise PartDamaged("part.of_another_index", part=CELLS) from error
    if not _fits(lists, layer):
        raise PartDamaged("part.of_another_index", part=CELLS)
    return lists


def _fits(lists: _Lists, layer: CellLayer) -> bool:
    """Return whether every row is in one cell, and all are of one dimension."""
    n, cells = layer.rows, layer.cells
    words = -(-lists.codes.shape[-1] // _BITS)
    return (
        lists.codes.shape[:-1] == (n,)
        and (lists.signs.shape, lists.centre_signs.shape) == ((n, words), (cells, words))
        and [array.dtype for array in (lists.codes, lists.signs, lists.centre_signs)]
        == [np.dtype(np.int8), _WORD, _WORD]
        and lists.rows.shape == (n,)
        and bool((np.bincount(lists.rows, minlength=n) == 1).all())
        and _are_offsets(lists.starts, cells, n)
    )


def _are_offsets(offsets: np.ndarray, n: int, end: int) -> bool:
    """Return whether these are offsets, (n + 1,), that rise from 0 to the end."""
    return len(offsets) == n + 1 and offsets[0] == 0 and offsets[-1] == end and bool((np.diff(offsets) >= 0).all())
