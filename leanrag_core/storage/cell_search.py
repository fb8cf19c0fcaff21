"""The clustering as a search index: the vectors of a layer in 8 bits, one cluster after another, read by memory map.

The clusters of a layer are the cells of an inverted file. A question is compared with the centres of the cells (in a
large layer with those of the cells' own clusters first), and then with the vectors of the nearest cells alone. All sums
are of whole numbers below 2**24, which single floats hold exactly: any number of threads, and any processor, finds the
same rows.
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
from leanrag_core.storage.search_recall import floors_of, recall_of, search_queries
from leanrag_core.storage.tables import require_unit_rows
from leanrag_core.types.graph import Layer
from leanrag_core.types.manifest import LayerSearch

CELLS = "cells"  # the name of the index part
_MAX_BYTES = 1_000_000  # of the record
_PROBES = (
    8,
    16,
    32,
    64,
    128,
    256,
    512,
    1024,
    2048,
    4096,
)  # cells that a question is compared with, tried in this order
_CENTRES_AT_ONCE = 8192  # that a question is compared with; of more cells, those in the nearest groups
_CELLS_A_PROBE = 16  # cells in the groups that are looked into, for each that is probed
_CANDIDATES = 64  # rows whose exact cosines are looked at, and at least four times as many as are wanted
_LARGEST_CODE = 127
_LARGEST_SCALE = 2000.0  # the product of two unit vectors in codes stays below 2**22
_ROWS_AT_ONCE = 65_536
_IN_CACHE = 1024  # rows


@dataclass(frozen=True)
class CellLayer:
    """How a layer is searched. probes: cells that a question is compared with. recall: share of the true ten nearest
    that this finds. scale: codes are vectors times this, rounded; that of the centres is centre_scale."""

    layer: Count
    rows: Count
    cells: Count
    probes: Count
    recall: Annotated[float, Interval(ge=0, le=1)]
    scale: float
    centre_scale: float


@dataclass(frozen=True)
class CellRecord:
    """search.json of such a part. Layers that it does not name are searched whole."""

    layers: tuple[CellLayer, ...] = ()


@dataclass(frozen=True, eq=False)
class _Lists:
    """One layer as an inverted file; arrays as they are stored.

    codes: (n, d) int8, the vectors cell by cell. rows: (n,) int32, the row of each. starts: (cells + 1,) int64 offsets
    of the cells. centres: (cells, d) int8. groups: (groups + 1,) int64 offsets of groups in the cells. group_centres:
    (groups, d) int8.
    """

    codes: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    centres: np.ndarray
    groups: np.ndarray
    group_centres: np.ndarray


_ARRAYS = tuple(_Lists.__dataclass_fields__)


def write_cells(
    folder: Path, layers: Sequence[Layer], report: Callable[[int, int], None], *, wanted_recall: float
) -> CellRecord:
    """Write the inverted file of every layer that has more than one cluster; report(done, total) counts vectors.

    Raises StorageFailed, IndexDamaged where a vector is no unit vector, and what report() raises.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done, total, written_layers = 0, sum(map(len, layers)), []
    report(done, total)
    for layer, above, next_above in zip(layers, layers[1:], layers[2:], strict=False):
        vectors = np.asarray(layer.vectors)
        require_unit_rows(vectors, f"layer {layer.number}")
        scale = _scale_of(vectors)
        cell_order = np.argsort(above.parent, kind="stable")
        place_of = np.empty(len(above), dtype=np.int64)
        place_of[cell_order] = np.arange(len(above))
        cell = place_of[layer.parent]
        order = np.argsort(cell, kind="stable").astype(np.int32)
        starts = _offsets(cell, len(above))
        groups = _offsets(np.asarray(above.parent), len(next_above))
        path = folder / f"codes-{layer.number}.npy"
        codes = np.lib.format.open_memmap(path, mode="w+", dtype=np.int8, shape=vectors.shape)
        sums = np.zeros((len(above), vectors.shape[1]))
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            codes[block] = _coded(vectors[order[block]], scale)
            cells = cell[order[block]]  # ascending
            first = np.flatnonzero(np.diff(cells, prepend=-1))
            # Of the codes: whole numbers add up to the same sum in any order.
            sums[cells[first]] += np.add.reduceat(codes[block].astype(np.int32), first)
            done += len(cells)
            report(done, total)
        codes.flush()
        group_sums = np.add.reduceat(sums, groups[:-1])
        centre_scale = min(_LARGEST_SCALE, _scale_of(_unit(sums)), _scale_of(_unit(group_sums)))
        lists = _Lists(
            codes,
            order,
            starts,
            _coded(_unit(sums), centre_scale),
            groups,
            _coded(_unit(group_sums), centre_scale),
        )
        for name in _ARRAYS[1:]:
            np.save(folder / f"{name}-{layer.number}.npy", getattr(lists, name), allow_pickle=False)
        unmeasured = CellLayer(layer.number, len(layer), len(above), 0, 0.0, scale, centre_scale)
        written_layers.append(_measured(unmeasured, lists, vectors, wanted_recall))
    record = CellRecord(tuple(written_layers))
    write_json(folder / SEARCH, plain(record))
    return record


def _measured(layer: CellLayer, lists: _Lists, vectors: np.ndarray, wanted: float) -> CellLayer:
    """Return the layer with the smallest number of probes that reaches the wanted recall. vectors: (n, d) float32."""
    recall, probes = 1.0, layer.cells
    queries_with_floors = [(queries, floors_of(vectors, queries)) for queries in search_queries(vectors)]
    for probes in (*(n for n in _PROBES if n < layer.cells), layer.cells):
        search = _LayerSearcher(replace(layer, probes=probes), lists)
        recall = min(
            recall_of([search.candidates(query, 1) for query in queries], vectors, queries, floors)
            for queries, floors in queries_with_floors
        )
        if recall >= wanted:
            break
    return replace(layer, probes=probes, recall=round(recall, 4))


def _offsets(labels: np.ndarray, n: int) -> np.ndarray:
    """Return the (n + 1,) int64 offsets of the labels 0 ... n - 1 when they are sorted. labels: (rows,) int."""
    return np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=n))]).astype(np.int64)


def _scale_of(vectors: np.ndarray) -> float:
    """Return the factor from the numbers of these vectors, (n, d), to their codes; rounded, so that it does not depend
    on the last bit of the largest number."""
    largest = max(float(np.abs(vectors[at : at + _ROWS_AT_ONCE]).max()) for at in range(0, len(vectors), _ROWS_AT_ONCE))
    return float(np.floor(min(_LARGEST_SCALE, _LARGEST_CODE / max(largest, 1e-6))))


def _coded(vectors: np.ndarray, scale: float) -> np.ndarray:
    """Return (n, d) int8 codes of (n, d) vectors, or (d,) of one."""
    return np.clip(np.rint(vectors * scale), -_LARGEST_CODE, _LARGEST_CODE).astype(np.int8)


def _unit(sums: np.ndarray) -> np.ndarray:
    """Return (n, d) rows of length 1; a row of zeros stays."""
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)).round(6)


class _LayerSearcher:
    """One layer that is searched by its cells."""

    def __init__(self, layer: CellLayer, lists: _Lists) -> None:
        self.layer = layer
        self._lists = lists
        self._codes = np.asarray(
            lists.codes
        )  # the plain array: a view of the file would be made for each choice of rows

    def candidates(self, vector: np.ndarray, n: int) -> np.ndarray:
        """Return rows that include the n nearest with the measured recall, ascending, (k,) int32. vector: (d,)."""
        code = _coded(vector, _scale_of(vector[None, :])).astype(np.float32)
        cells = self._probed(code)
        places = _spans(self._lists.starts[cells], self._lists.starts[cells + 1])
        scores = _products(self._codes, code, places)
        return np.sort(self._lists.rows[places[_largest(scores, max(_CANDIDATES, 4 * n))]])

    def _probed(self, code: np.ndarray) -> np.ndarray:
        """Return the cells whose centres are nearest, (k,) int64. code: (d,) float32, whole numbers."""
        centres, groups, wanted = self._lists.centres, self._lists.groups, self.layer.probes
        if wanted >= len(centres):
            return np.arange(len(centres))
        if max(_CENTRES_AT_ONCE, _CELLS_A_PROBE * wanted) >= len(centres):
            return _largest(_products(centres, code), wanted)
        best = np.argsort(-_products(self._lists.group_centres, code), kind="stable")
        n_cells = np.cumsum(groups[best + 1] - groups[best])
        best = best[: int(np.searchsorted(n_cells, _CELLS_A_PROBE * wanted)) + 1]
        cells = _spans(groups[best], groups[best + 1])
        return np.asarray(cells[_largest(_products(centres, code, cells), wanted)])


def _products(codes: np.ndarray, code: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
    """Return (n,) float32 products of the (n, d) int8 codes, or of those at the places, (n,), with (d,) whole numbers.

    So many rows at a time become floats as the processor's cache holds, and no BLAS library is asked, whose threads
    take longer to start than these few rows do.
    """
    n = len(codes) if places is None else len(places)
    scores, floats = np.empty(n, dtype=np.float32), np.empty((min(n, _IN_CACHE), codes.shape[1]), dtype=np.float32)
    for start in range(0, n, _IN_CACHE):
        rows = slice(start, min(start + _IN_CACHE, n))
        block = floats[: rows.stop - start]
        block[...] = codes[rows] if places is None else codes[places[rows]]
        np.vecdot(block, code, out=scores[rows])
    return scores


def _largest(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the places of the n largest scores, ascending, with all that equal the last of them. scores: (k,)."""
    if len(scores) <= n:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])


def _spans(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the numbers of all ranges from a start up to its end, one range after another. Both (k,) int64."""
    sizes = ends - starts
    before = np.concatenate([[0], np.cumsum(sizes)])
    return np.asarray(np.arange(before[-1]) + np.repeat(starts - before[:-1], sizes))


class CellSearch:
    """An opened search index of cells; any number of threads may ask it."""

    silent = False  # it waits for no server

    def __init__(self, folder: Path) -> None:
        """Map the files in the folder of the part. Raises PartDamaged."""
        self._layers = {
            layer.layer: _LayerSearcher(layer, _read_lists(folder, layer)) for layer in read_cells(folder).layers
        }

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
    paths = {name: folder / f"{name}-{layer.layer}.npy" for name in _ARRAYS}
    try:
        mapped = np.load(paths["codes"], mmap_mode="r", allow_pickle=False)
        lists = _Lists(mapped, *(np.load(paths[name], allow_pickle=False) for name in _ARRAYS[1:]))
    except (OSError, ValueError) as error:
        raise PartDamaged("part.of_another_index", part=CELLS) from error
    if not _fits(lists, layer):
        raise PartDamaged("part.of_another_index", part=CELLS)
    return lists


def _fits(lists: _Lists, layer: CellLayer) -> bool:
    """Return whether every row is in one cell and every cell in one group, and all are of one dimension."""
    n, cells, groups = layer.rows, layer.cells, len(lists.groups) - 1
    width = lists.codes.shape[-1]
    shapes = (lists.codes.shape, lists.centres.shape, lists.group_centres.shape)
    return (
        shapes == ((n, width), (cells, width), (groups, width))
        and {lists.codes.dtype, lists.centres.dtype, lists.group_centres.dtype} == {np.dtype(np.int8)}
        and lists.rows.shape == (n,)
        and bool((np.bincount(lists.rows, minlength=n) == 1).all())
        and _are_offsets(lists.starts, cells, n)
        and _are_offsets(lists.groups, groups, cells)
    )


def _are_offsets(offsets: np.ndarray, n: int, end: int) -> bool:
    """Return whether these are offsets, (n + 1,), that rise from 0 to the end."""
    return len(offsets) == n + 1 and offsets[0] == 0 and offsets[-1] == end and bool((np.diff(offsets) >= 0).all())
