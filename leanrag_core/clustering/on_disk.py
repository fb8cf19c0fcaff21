"""Neighbours, averages and regions of more vectors than should be in memory: in 8 bits on the disk, near rows together.

What is compared and added up are whole numbers below 2**24, which single floats hold exactly: any processor and any
number of threads finds the same neighbours, averages and regions.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from pathlib import Path

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.clustering.neighbours import CellLists, half_squares, largest, offsets_of
from leanrag_core.errors import InvalidVectors

_LARGEST_CODE = 127
_ROUNDS = 5  # of k-means, on a sample
_SAMPLE_A_CELL = 48  # rows that the centre of a cell is trained on
_SAMPLE_OF_SCALE = 8192
_CELLS_OF_BUCKET = 64  # near cells, whose rows are written together
_MOST_JOINED = 1.5  # largest region that cells are joined to, in intended sizes
_PROBED = 20  # cells that a row is compared with first
_REFINEMENTS = 2  # rounds in which it is compared with its neighbours' neighbours
_NEIGHBOURS_OF_TILE = 3072  # of rows beside each other, which are compared together
_MUTUAL, _ONE_SIDED = 10, 3  # weights of neighbours, by whether they name the row in return; a row itself weighs 10
_VOTES = 10  # rounds in which a row goes to the region that most of its neighbours are in
_OVERFULL = 3  # times its intended rows that a region or a cell may hold; what duplicates make is cut
_AT_ONCE = 32_768


@dataclass(frozen=True)
class Grain:
    """region: rows that are clustered at a time. cell: rows of a cell, of which a row is compared with twenty. joined:
    rows of the larger cells that are joined to regions."""

    region: int = 100_000
    cell: int = 250
    joined: int = 1250


class Codes:
    """(n, d) int8 in a file. What has been read of it does not stay in the memory of the process."""

    def __init__(self, path: Path, width: int) -> None:
        """Name the file, which need not be there yet. width: d."""
        self.path, self.width = path, width

    def append(self, codes: np.ndarray) -> None:
        """Write more rows behind the last one. codes: (k, d) int8."""
        with self.path.open("ab") as file:
            codes.tofile(file)

    def __len__(self) -> int:
        return self.path.stat().st_size // self.width

    def between(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from start up to stop, (k, d) int8."""
        codes = np.fromfile(self.path, np.int8, (stop - start) * self.width, offset=start * self.width)
        return np.asarray(codes.reshape(-1, self.width))

    def at(self, places: np.ndarray) -> np.ndarray:
        """Return those rows, (k, d) int8. places: (k,) int."""
        mapped = np.asarray(np.memmap(self.path, np.int8, "r", shape=(len(self), self.width)))
        return np.asarray(mapped[places])


@dataclass(frozen=True, eq=False)
class Regions:
    """Vectors that were averaged with their neighbours, and parted into regions that can be clustered one by one.

    averages: row i is that of vector order[i]; a place is such an i. neighbours: (n, k) int32 places, nearest first.
    order: (n,) int64. places: of each region, ascending.
    """

    averages: Codes
    neighbours: np.ndarray
    order: np.ndarray
    places: tuple[np.ndarray, ...]

    def neighbours_inside(self, labels: np.ndarray, k: int) -> float:
        """Return the share of the k nearest neighbours that are in a vector's own cluster. labels: (n,) by place."""
        inside: int = sum(
            int((labels[self.neighbours[rows, :k]] == labels[rows, None]).sum())
            for rows in row_blocks(len(labels), _AT_ONCE)
        )
        return float(inside / (len(labels) * min(k, self.neighbours.shape[1])))


def averaged_regions(
    vectors: np.ndarray, folder: Path, *, n_neighbours: int, rounds: int, seed: int, grain: Grain
) -> Regions:
    """Average the vectors `rounds` times with their nearest neighbours, and part the averages into regions.

    vectors: (n, d), of any length but 0; of a mapped file no more is in memory than is worked on. folder: takes 3 n d
    bytes. n_neighbours: fewer than n. Neighbours are looked for in the 20 cells nearest to a row, then twice among the
    neighbours of its neighbours. Raises InvalidVectors for rows that are zero or not finite, OSError when the disk is
    full.
    """
    cells = _in_cells(vectors, folder, grain, seed)
    neighbours = _neighbours(cells, folder, n_neighbours)
    averages = cells.codes
    for number in range(rounds):
        before, averages = averages, _averaged(averages, neighbours, folder / f"averages-{number}", seed)
        before.path.unlink()
    region = _regions(averages, neighbours, grain, seed)
    order = np.argsort(region, kind="stable")
    places = tuple(np.split(order, np.cumsum(np.bincount(region))[:-1]))
    return Regions(averages, neighbours, cells.order, places)


@dataclass(frozen=True, eq=False)
class _Cells:
    """codes: cell by cell. order: (n,) int64, the row of each place. starts: (cells + 1,) places. centres: (cells, d)
    float32 whole numbers."""

    codes: Codes
    order: np.ndarray
    starts: np.ndarray
    centres: np.ndarray


def _in_cells(vectors: np.ndarray, folder: Path, grain: Grain, seed: int) -> _Cells:
    """Write the codes of the vectors cell by cell. vectors: (n, d)."""
    n, d = vectors.shape
    sampled = _drawn(n, _SAMPLE_OF_SCALE, seed)
    scale = _scale_of(_rows(lambda rows: _read(vectors, rows), sampled, _unit))

    def coded(part: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return (k, d) int8. part: (k, d). rows: (k,)."""
        return _coded(_unit(part, rows), scale)

    def placed(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of those rows, (k, d) int8, and their cells, (k,)."""
        codes = coded(_read(vectors, rows), np.arange(rows.start, rows.stop))
        return codes, _nearest(codes, centres, 1)[:, 0]

    n_cells = -(-n // grain.cell)
    sample = _rows(lambda rows: _read(vectors, rows), _drawn(n, n_cells * _SAMPLE_A_CELL, seed), coded)
    centres, bucket = _in_buckets(_trained(sample, n_cells, seed), seed)
    del sample
    blocks = row_blocks(n, _AT_ONCE)
    spread = _Spread(folder, int(bucket[-1]) + 1, d)
    for rows, (codes, cell) in zip(blocks, over_blocks(placed, blocks), strict=True):
        spread.add(codes, np.arange(rows.start, rows.stop), cell, bucket[cell])
    return _sorted_by_cell(spread, centres, Codes(folder / "codes", d), grain)


def _in_buckets(centres: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres with near ones beside each other, (cells, d), and the bucket of each, (cells,), ascending."""
    buckets = _trained(centres, -(-len(centres) // _CELLS_OF_BUCKET), seed)
    _, bucket = np.unique(_nearest_one(centres, buckets), return_inverse=True)
    order = np.argsort(bucket, kind="stable")
    return centres[order], bucket[order]


def _sorted_by_cell(spread: "_Spread", centres: np.ndarray, codes: Codes, grain: Grain) -> _Cells:
    """Write the codes cell by cell. A cell that duplicates have made too large is cut, and its pieces stand at one
    centre; one without rows is left out. centres: (cells, d)."""
    order, sizes, came_from = [], [], []
    for number in range(len(spread)):
        cells = spread.cells_of(number)
        if not len(cells):
            continue
        cut, of_cut = _without_overfull(cells, _OVERFULL * grain.cell)
        by_cell = np.argsort(cut, kind="stable")
        codes.append(spread.codes_of(number)[by_cell])
        order.append(spread.rows_of(number)[by_cell])
        sizes.append(np.bincount(cut))
        came_from.append(of_cut)
        spread.forget(number)
    return _Cells(codes, np.concatenate(order), offsets_of(np.concatenate(sizes)), centres[np.concatenate(came_from)])


class _Spread:
    """Rows by bucket, in a file each, with their numbers and cells in memory."""

    def __init__(self, folder: Path, count: int, width: int) -> None:
        self._files = [Codes(folder / f"bucket-{number}", width) for number in range(count)]
        self._rows: list[list[np.ndarray]] = [[] for _ in range(count)]
        self._cells: list[list[np.ndarray]] = [[] for _ in range(count)]

    def __len__(self) -> int:
        return len(self._files)

    def add(self, codes: np.ndarray, rows: np.ndarray, cell: np.ndarray, bucket: np.ndarray) -> None:
        """Put each row into its bucket. codes: (k, d) int8. rows, cell, bucket: (k,)."""
        order = np.argsort(bucket, kind="stable")
        numbers, first = np.unique(bucket[order], return_index=True)
        for number, places in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
            self._files[number].append(codes[places])
            self._rows[number].append(rows[places].astype(np.int64))
            self._cells[number].append(cell[places].astype(np.int32))

    def codes_of(self, number: int) -> np.ndarray:
        """Return the rows of a bucket, (k, d) int8."""
        return self._files[number].between(0, len(self.rows_of(number)))

    def rows_of(self, number: int) -> np.ndarray:
        """Return the numbers of its rows, (k,) int64."""
        return np.concatenate([*self._rows[number], np.zeros(0, dtype=np.int64)])

    def cells_of(self, number: int) -> np.ndarray:
        """Return the cells of its rows, (k,) int32."""
        return np.concatenate([*self._cells[number], np.zeros(0, dtype=np.int32)])

    def forget(self, number: int) -> None:
        """Remove the file of a bucket."""
        self._files[number].path.unlink(missing_ok=True)
        self._rows[number], self._cells[number] = [], []


def _read(vectors: np.ndarray, rows: slice) -> np.ndarray:
    """Return those rows, (k, d); of a file that is mapped whole they are read from the file itself, since what is
    touched of the map would stay in memory."""
    if not (isinstance(vectors, np.memmap) and isinstance(vectors.base, mmap) and vectors.flags.c_contiguous):
        return np.asarray(vectors[rows])
    width, offset = vectors.shape[1], vectors.offset + rows.start * vectors.strides[0]
    values = np.fromfile(str(vectors.filename), vectors.dtype, (rows.stop - rows.start) * width, offset=offset)
    return values.reshape(-1, width)


def _rows(
    read_rows: Callable[[slice], np.ndarray],
    rows: np.ndarray,
    made: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda part, rows: part,
) -> np.ndarray:
    """Return what `made` makes of those rows, block by block, (k, d). rows: (k,) ascending."""
    parts = []
    for start in range(0, int(rows[-1]) + 1, _AT_ONCE):
        block_rows = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + _AT_ONCE)]
        if len(block_rows):
            parts.append(made(read_rows(slice(start, int(block_rows[-1]) + 1))[block_rows - start], block_rows))
    return np.concatenate(parts)


def _unit(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return unit rows, (k, d) float64. rows: (k,) where they stand, for the message. Raises InvalidVectors."""
    wide = vectors.astype(np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)
    if not np.isfinite(squares).all():
        raise InvalidVectors("clustering.not_finite", row=int(rows[np.flatnonzero(~np.isfinite(squares))[0]]))
    if not squares.all():
        raise InvalidVectors("clustering.zero_vector", row=int(rows[np.flatnonzero(squares == 0)[0]]))
    return np.asarray(wide / np.sqrt(squares)[:, None])


def _scale_of(sample: np.ndarray) -> float:
    """Return the factor that turns unit rows, (k, d), into codes, rounded down so that the last bits of the rows do not
    show.
    """
    return float(np.floor(_LARGEST_CODE / np.abs(sample).max()))


def _coded(vectors: np.ndarray, scale: float) -> np.ndarray:
    """Return (n, d) int8 codes of (n, d) unit rows."""
    return np.clip(np.rint(np.round(vectors * scale, 6)), -_LARGEST_CODE, _LARGEST_CODE).astype(np.int8)


def _drawn(n: int, count: int, seed: int) -> np.ndarray:
    """Draw `count` of n rows, ascending; all where there are no more; (min(n, count),) int64."""
    return np.sort(np.random.default_rng([seed, n, count]).choice(n, min(n, count), replace=False))


def _trained(codes: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return the centres of a k-means, (count, d) float32 whole numbers. codes: (k, d) whole numbers, at least `count`
    rows."""
    centres: np.ndarray = codes[_drawn(len(codes), count, seed)].astype(np.float32)
    for _ in range(_ROUNDS):
        used, sums, sizes = _sums(codes, _nearest_one(codes, centres))
        centres[used] = np.rint(sums / sizes[:, None])
    return centres


def _nearest_one(codes: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each row, (k,), by blocks on all cores. codes: (k, d). centres: (c, d) float32."""
    blocks = row_blocks(len(codes), 4096)
    return np.concatenate(list(over_blocks(lambda rows: _nearest(codes[rows], centres, 1)[:, 0], blocks)))


def _sums(codes: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels that are used, (u,), the sums of their rows, (u, d) int64, and their sizes, (u,). codes: (k, d)
    int8. labels: (k,)."""
    order = np.argsort(labels, kind="stable")
    used, first, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    return used, np.asarray(np.add.reduceat(codes[order].astype(np.int64), first)), sizes


def _nearest(codes: np.ndarray, centres: np.ndarray, n: int) -> np.ndarray:
    """Return the n nearest centres of each row, nearest first; (k, n). codes: (k, d). centres: (c, d) float32."""
    half, n_nearest = half_squares(centres), min(n, len(centres))
    blocks = row_blocks(len(codes), max(16, min(4096, 4_000_000 // len(centres))))
    return np.concatenate([_best(codes[rows].astype(np.float32) @ centres.T - half, n_nearest) for rows in blocks])


def _best(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the columns of the n largest whole-numbered scores of each row, falling, equals by column; (k, n).
    scores: (k, c)."""
    if n == 1:
        return np.asarray(scores.argmax(axis=1))[:, None]
    rows = np.arange(len(scores))[:, None]
    columns = np.sort(largest(scores, n), axis=1)
    values = scores[rows, columns]
    least = values.min(axis=1, keepdims=True)
    tied = np.flatnonzero((scores == least).sum(axis=1) > (values == least).sum(axis=1))
    columns = np.take_along_axis(columns, np.argsort(-values, axis=1, kind="stable"), axis=1)
    columns[tied] = np.argsort(-scores[tied], axis=1, kind="stable")[:, :n]
    return columns


def _without_overfull(labels: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels 0, 1, ... none of which more than `most` rows have, and the label that each was part of. labels:
    (n,) int."""
    order = np.argsort(labels, kind="stable")
    used, first, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    piece = (np.arange(len(labels)) - np.repeat(first, sizes)) // most
    pieces = -(-sizes // most)
    cut = np.empty(len(labels), dtype=np.int32)
    cut[order] = np.repeat(np.cumsum(pieces) - pieces, sizes) + piece
    return cut, np.repeat(used, pieces)


def _neighbours(cells: _Cells, folder: Path, k: int) -> np.ndarray:
    """Return the places of the k nearest rows of each place, itself left out, nearest first; (n, k) int32, in a file.
    Where fewer other rows were compared with it, the place itself fills the rest.
    """
    lists = CellLists(lambda start, stop: cells.codes.between(start, stop).astype(np.float32), cells.starts, best=_best)
    n = len(cells.order)

    def in_cells(places: slice) -> np.ndarray:
        """Return the neighbours of a block of places among its nearest cells, (block, k) int32."""
        probes = _nearest(cells.codes.between(places.start, places.stop), cells.centres, _PROBED)
        near = lists.nearest(places, probes, k)
        return np.where(near < 0, np.arange(places.start, places.stop, dtype=np.int32)[:, None], near)

    def write(path: Path, nearest_of: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Write what nearest_of gives of each block of places, (block, k) int32, and return all, (n, k), mapped."""
        with path.open("wb") as file:
            for places in over_blocks(nearest_of, row_blocks(n, 2 * _AT_ONCE)):
                places.tofile(file)
        return np.memmap(path, np.int32, "r", shape=(n, k))

    path = folder / "neighbours"
    neighbours = write(path, in_cells)
    for number in range(_REFINEMENTS):
        before, path = path, folder / f"neighbours-{number}"
        neighbours = write(path, partial(_refined, cells.codes, neighbours))
        before.unlink()
    return neighbours


def _refined(codes: Codes, neighbours: np.ndarray, places: slice) -> np.ndarray:
    """Return the k nearest rows of those places among the neighbours of their neighbours; (block, k) int32, nearest
    first. neighbours: (n, k) places, which are compared again, so that none is lost to a farther one.

    Rows of a cell have most of these in common, so that each row of a tile is compared with the candidates of all.
    """
    k = neighbours.shape[1]
    rows_of_tile = max(1, _NEIGHBOURS_OF_TILE // k)
    tiles = []
    for start in range(places.start, places.stop, rows_of_tile):
        tile = np.arange(start, min(start + rows_of_tile, places.stop), dtype=np.int32)
        near = neighbours[tile[0] : tile[-1] + 1].ravel()
        candidates = np.unique(np.concatenate([tile, near, neighbours[near].ravel()]))
        candidate_codes = codes.at(candidates).astype(np.float32)
        own = np.searchsorted(candidates, tile)
        scores = candidate_codes[own] @ candidate_codes.T
        scores -= half_squares(candidate_codes)
        scores[np.arange(len(tile)), own] = -np.inf  # itself is the last choice
        columns = _best(scores, min(k, len(candidates)))
        nearest = np.repeat(tile[:, None], k, axis=1)
        nearest[:, : columns.shape[1]] = candidates[columns]
        tiles.append(nearest)
    return np.concatenate(tiles)


def _averaged(codes: Codes, neighbours: np.ndarray, path: Path, seed: int) -> Codes:
    """Write each row averaged with its neighbours, and return the file. neighbours: (n, k) places."""
    n = len(codes)
    averages = Codes(path, codes.width)
    scale = _scale_of(_means(codes, neighbours, _drawn(n, _SAMPLE_OF_SCALE, seed)))

    def averaged(rows: slice) -> np.ndarray:
        """Return the averages of those places, (k, d) int8."""
        return _coded(_means(codes, neighbours, np.arange(rows.start, rows.stop)), scale)

    for block in over_blocks(averaged, row_blocks(n, _AT_ONCE // 4)):
        averages.append(block)
    return averages


def _means(codes: Codes, neighbours: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the unit averages of those places with their neighbours, (b, d) float64. places: (b,)."""
    near = neighbours[places]
    mutual = (neighbours[near] == places[:, None, None]).any(axis=2)
    sums = _MUTUAL * codes.at(places).astype(np.float32)
    for column in range(near.shape[1]):
        weights = np.where(mutual[:, column], _MUTUAL, _ONE_SIDED).astype(np.float32)
        sums += weights[:, None] * codes.at(near[:, column])
    lost = ~sums.any(axis=1)  # neighbours that point the other way may cancel the sum
    sums[lost] = codes.at(places[lost])
    return _unit(sums, places)


def _regions(averages: Codes, neighbours: np.ndarray, grain: Grain, seed: int) -> np.ndarray:
    """Return the region of each place, (n,) int32, every region used: cells with many links are joined, then each place
    moves to the region of most of its neighbours. neighbours: (n, k).
    """
    n = len(averages)
    largest_region = int(_MOST_JOINED * grain.region)
    n_cells = -(-n // grain.joined)
    sample = _rows(lambda rows: averages.between(rows.start, rows.stop), _drawn(n, n_cells * _SAMPLE_A_CELL, seed))
    centres = _trained(sample, n_cells, seed)
    blocks = row_blocks(n, _AT_ONCE)
    nearest = over_blocks(lambda rows: _nearest(averages.between(rows.start, rows.stop), centres, 1)[:, 0], blocks)
    _, cell = np.unique(np.concatenate(list(nearest)), return_inverse=True)
    region = _joined(_links(cell, neighbours), np.bincount(cell), largest_region)[cell].astype(np.int32)

    def voted(rows: slice) -> np.ndarray:
        """Return the region of those places after one round, (k,)."""
        candidates = np.concatenate([region[rows, None], region[neighbours[rows]]], axis=1)
        votes = (candidates[:, :, None] == candidates[:, None, :]).sum(axis=2)
        return np.take_along_axis(candidates, votes.argmax(axis=1)[:, None], axis=1)[:, 0]  # of equals its own

    for _ in range(_VOTES if region.any() else 0):
        region = np.concatenate(list(over_blocks(voted, blocks)))
    return _without_overfull(region, _OVERFULL * grain.region)[0]


def _links(cell: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return how often rows of one cell name a neighbour in another, in both directions, (c, c) int64, zero on the
    diagonal. cell: (n,) int, all used. neighbours: (n, k) places."""
    c = int(cell.max()) + 1
    counted = np.zeros(c * c, dtype=np.int64)
    for rows in row_blocks(len(cell), _AT_ONCE):
        pairs, counts = np.unique(cell[rows, None] * c + cell[neighbours[rows]], return_counts=True)
        counted[pairs] += counts
    links = counted.reshape(c, c)
    np.fill_diagonal(links, 0)
    return np.asarray(links + links.T)


def _joined(links: np.ndarray, sizes: np.ndarray, most: int) -> np.ndarray:
    """Return the region of each cell, (c,) int from 0: the two that are tied most are joined, again and again, as long
    as both together hold no more than `most` rows.

    links: (c, c) int64, symmetric, see _links(). sizes: (c,) rows of each cell. The tie of two is the number of links
    over the root of the product of their sizes; of equal ties that of the lower numbers comes first. c: at most 4,000.
    """
    tied = [
        {int(second): int(links[first, second]) for second in np.flatnonzero(links[first])}
        for first in range(len(sizes))
    ]
    size, age, into = sizes.tolist(), [0] * len(sizes), list(range(len(sizes)))
    waiting: list[tuple[float, int, int, int]] = []  # heap: the negated tie, both regions, their ages added up

    def offer(first: int, second: int) -> None:
        lower, upper = sorted((first, second))
        score = round(tied[first][second] / math.sqrt(size[first] * size[second]), 9)
        heapq.heappush(waiting, (-score, lower, upper, age[first] + age[second]))

    for first, others in enumerate(tied):
        for second in others:
            if first < second:
                offer(first, second)
    while waiting:
        _, first, second, their_age = heapq.heappop(waiting)
        is_old = into[first] != first or into[second] != second or age[first] + age[second] != their_age
        if is_old or size[first] + size[second] > most:
            continue
        into[second], size[first], age[first] = first, size[first] + size[second], age[first] + 1
        for third, number in tied[second].items():
            if third != first:
                tied[first][third] = tied[third][first] = tied[first].get(third, 0) + number
            tied[third].pop(second, None)
        for third in tied[first]:
            offer(first, third)
    region = np.array(into)
    while (region != region[region]).any():
        region = region[region]
    return np.unique(region, return_inverse=True)[1]
