"""Neighbours, averages and regions of more vectors than should be in memory: in 8 bits on the disk, near rows together.

What is compared and added up are whole numbers: any processor and any number of threads finds the same neighbours,
averages and regions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from pathlib import Path
from shutil import rmtree

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.clustering.code_kmeans import draw_rows, kmeans, label_means
from leanrag_core.clustering.codes import NearestCodes, RowsOnDisk, coded, scale_of, unit
from leanrag_core.clustering.neighbours import offsets_of
from leanrag_core.clustering.regions import cut_overfull, group_by_votes, join_regions

_SAMPLE_A_CELL = 48  # rows that the centre of a cell is trained on
_SAMPLE_OF_SCALE = 8192
_CELLS_OF_BUCKET = 64  # near cells, whose rows are written together
_SAMPLE_ROUNDS = 3  # in which the cells are made anew from averages of the sample
_NEIGHBOURS_IN_SAMPLE = 10  # that a row of the sample is averaged with
_NEAR_CENTRES = 32  # of cells, with which a row of the sample is compared after the first round of a k-means
_PROBED = 10  # cells that a row is compared with first
_REFINEMENTS = 2  # rounds in which it is compared with its group and its neighbours' neighbours
_MOST_OF_TILE = 512  # rows of a group, which are compared together
_MUTUAL, _ONE_SIDED = 10, 3  # weights of neighbours, by whether they name the row in return; a row itself weighs 10
_OVERFULL_CELL = 8  # times its intended rows that a cell may hold
_AT_ONCE = 32_768


@dataclass(frozen=True)
class Grain:
    """region: rows that are clustered at a time. cell: rows of a cell, of which a row is compared with ten."""

    region: int = 100_000
    cell: int = 250


@dataclass(frozen=True, eq=False)
class Regions:
    """Vectors that were averaged with their neighbours, and parted into regions that can be clustered one by one.

    averages: row i is that of vector order[i]; a place is such an i. neighbours: (n, k) int32 places, nearest first.
    order: (n,) int64. places: of each region, ascending.
    """

    averages: RowsOnDisk
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
    bytes. n_neighbours: fewer than n. Neighbours are looked for in the ten cells nearest to a row, then twice in its
    group and among the neighbours of its neighbours. Raises InvalidVectors for rows that are zero or not finite,
    OSError when the disk is full.
    """
    cells = _in_cells(vectors, folder, grain, seed)
    neighbours = _neighbours(cells, folder, n_neighbours, grain.cell)
    averages = cells.codes
    for number in range(rounds):
        before, averages = averages, _averaged(averages, neighbours, folder / f"averages-{number}", seed)
        before.path.unlink()
    region = join_regions(neighbours, group_rows=grain.cell, region_rows=grain.region)
    order = np.argsort(region, kind="stable")
    places = tuple(np.split(order, np.cumsum(np.bincount(region))[:-1]))
    return Regions(averages, neighbours, cells.order, places)


@dataclass(frozen=True, eq=False)
class _Cells:
    """codes: cell by cell. order: (n,) int64, the row of each place. starts: (cells + 1,) places. near: of each place,
    (n, p) centres, the nearest first. piece: (centres,) int32, the cell that stands for it, -1 where it has no rows.
    """

    codes: RowsOnDisk
    order: np.ndarray
    starts: np.ndarray
    near: RowsOnDisk
    piece: np.ndarray


def _in_cells(vectors: np.ndarray, folder: Path, grain: Grain, seed: int) -> _Cells:
    """Write the codes of the vectors cell by cell. vectors: (n, d)."""
    n = len(vectors)
    scale = scale_of(_rows(lambda rows: _read(vectors, rows), draw_rows(n, _SAMPLE_OF_SCALE, seed), unit))

    def codes_of(part: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return (k, d) int8. part: (k, d). rows: (k,)."""
        return coded(unit(part, rows), scale)

    def codes_between(rows: slice) -> np.ndarray:
        """Return the codes of those rows, (k, d) int8."""
        return codes_of(_read(vectors, rows), np.arange(rows.start, rows.stop))

    n_cells = -(-n // grain.cell)
    sampled = draw_rows(n, n_cells * _SAMPLE_A_CELL, seed)
    sample = _rows(lambda rows: _read(vectors, rows), sampled, codes_of)
    centres = _cell_centres(sample, n_cells, folder, grain.cell, seed)
    return _placed(codes_between, n, centres, folder, _OVERFULL_CELL * grain.cell, seed)


def _cell_centres(sample: np.ndarray, count: int, folder: Path, group_rows: int, seed: int) -> np.ndarray:
    """Return the centres of cells, (c, d) int8, at most `count`. sample: (k, d) int8. group_rows: see group_by_votes().

    Among many centres a row is nearest to one that shares its chance deviations, and a k-means groups by these. So the
    rows are averaged with their neighbours, found by these first cells; the k-means of the averages groups by what the
    neighbours have in common, and its groups' means of the rows themselves are the next centres.
    """
    centres, _ = kmeans(sample, count, seed, n_near=_NEAR_CENTRES)
    for number in range(_SAMPLE_ROUNDS):
        inner = folder / f"sample-{number}"
        inner.mkdir()
        cells = _placed(sample.__getitem__, len(sample), centres, inner, _OVERFULL_CELL * _SAMPLE_A_CELL, seed)
        neighbours = _neighbours(cells, inner, min(_NEIGHBOURS_IN_SAMPLE, len(sample) - 1), group_rows)
        averages = _averaged(cells.codes, neighbours, inner / "averages", seed)
        _, labels = kmeans(averages.between(0, len(sample)), count, seed, n_near=_NEAR_CENTRES)
        sample = cells.codes.between(0, len(sample))
        _, centres = label_means(sample, labels)
        rmtree(inner)
    return centres


def _placed(
    codes_between: Callable[[slice], np.ndarray], n: int, centres: np.ndarray, folder: Path, most: int, seed: int
) -> _Cells:
    """Write n codes cell by cell: those of a cell are nearest to its centre. codes_between: returns those of some rows,
    (k, d) int8. centres: (c, d) int8. most: rows of a cell."""
    centres, bucket = _in_buckets(centres, seed)
    nearest, blocks = NearestCodes(centres), row_blocks(n, _AT_ONCE)
    spread = _Spread(folder, int(bucket[-1]) + 1, centres.shape[1], min(_PROBED, len(centres)))

    def placed(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of those rows, (k, d) int8, and the cells nearest to them, (k, p)."""
        codes = codes_between(rows)
        return codes, nearest.search(codes, _PROBED)[0]

    for rows, (codes, near) in zip(blocks, over_blocks(placed, blocks), strict=True):
        spread.add(codes, np.arange(rows.start, rows.stop), near, bucket[near[:, 0]])
    return _sorted_by_cell(spread, folder, len(centres), most)


def _in_buckets(centres: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres with near ones beside each other, (cells, d), and the bucket of each, (cells,), ascending."""
    _, labels = kmeans(centres, -(-len(centres) // _CELLS_OF_BUCKET), seed)
    _, bucket = np.unique(labels, return_inverse=True)
    order = np.argsort(bucket, kind="stable")
    return centres[order], bucket[order]


def _sorted_by_cell(spread: "_Spread", folder: Path, n_cells: int, most: int) -> _Cells:
    """Write the codes cell by cell. most: rows of a cell. One that duplicates have made larger is cut, and the first
    piece stands for it where it is near; one without rows is left out."""
    order, sizes, came_from = [], [], []
    codes, near = spread.files(folder, "sorted")
    for number in range(len(spread)):
        rows = spread.rows_of(number)
        if not len(rows):
            continue
        its_codes, its_near = (file.between(0, len(rows)) for file in spread.files_of(number))
        cut, of_cut = cut_overfull(its_near[:, 0], most)
        by_cell = np.argsort(cut, kind="stable")
        codes.append(its_codes[by_cell])
        near.append(its_near[by_cell])
        order.append(rows[by_cell])
        sizes.append(np.bincount(cut))
        came_from.append(of_cut)
        spread.forget(number)
    of_pieces = np.concatenate(came_from)
    piece = np.full(n_cells, -1, dtype=np.int32)
    piece[of_pieces[::-1]] = np.arange(len(of_pieces))[::-1]
    return _Cells(codes, np.concatenate(order), offsets_of(np.concatenate(sizes)), near, piece)


class _Spread:
    """Rows by bucket: their codes and nearest cells in two files each, their numbers in memory."""

    def __init__(self, folder: Path, count: int, width: int, n_near: int) -> None:
        """Begin with `count` empty buckets. width: of codes. n_near: cells of each row."""
        self._width, self._n_near = width, n_near
        self._files = [self.files(folder, str(number)) for number in range(count)]
        self._rows: list[list[np.ndarray]] = [[] for _ in range(count)]

    def files(self, folder: Path, name: str) -> tuple[RowsOnDisk, RowsOnDisk]:
        """Return the two files of that name, which need not be there yet."""
        codes = RowsOnDisk(folder / f"codes-{name}", self._width)
        return codes, RowsOnDisk(folder / f"near-{name}", self._n_near, np.int32)

    def __len__(self) -> int:
        return len(self._files)

    def add(self, codes: np.ndarray, rows: np.ndarray, near: np.ndarray, bucket: np.ndarray) -> None:
        """Put each row into its bucket. codes: (k, d) int8. rows, bucket: (k,). near: (k, p) cells, the nearest
        first."""
        order = np.argsort(bucket, kind="stable")
        numbers, first = np.unique(bucket[order], return_index=True)
        for number, places in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
            for file, values in zip(self._files[number], (codes, near), strict=True):
                file.append(values[places])
            self._rows[number].append(rows[places].astype(np.int64))

    def files_of(self, number: int) -> tuple[RowsOnDisk, RowsOnDisk]:
        """Return the codes of a bucket, (k, d) int8, and its rows' nearest cells, (k, p) int32."""
        return self._files[number]

    def rows_of(self, number: int) -> np.ndarray:
        """Return the numbers of its rows, (k,) int64."""
        return np.concatenate([*self._rows[number], np.zeros(0, dtype=np.int64)])

    def forget(self, number: int) -> None:
        """Remove the files of a bucket."""
        for file in self._files[number]:
            file.path.unlink()
        self._rows[number] = []


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


def _neighbours(cells: _Cells, folder: Path, k: int, group_rows: int) -> np.ndarray:
    """Return the places of the k nearest rows of each place, itself left out, nearest first; (n, k) int32, in a file.
    Where fewer other rows were compared with it, the place itself fills the rest. group_rows: see group_by_votes().
    """
    n = len(cells.order)

    def in_cells(places: slice) -> np.ndarray:
        """Return the neighbours of a block of places among their nearest cells, (block, k) int32."""
        rows = cells.codes.between(places.start, places.stop)
        probes = cells.piece[cells.near.between(places.start, places.stop)]
        hits = np.full((*probes.shape, k + 1), -1, dtype=np.int32)
        scores = np.full(hits.shape, -np.iinfo(np.int32).max, dtype=np.int32)
        by_cell = np.argsort(probes, axis=None, kind="stable")
        probed, first = np.unique(probes.ravel()[by_cell], return_index=True)
        for cell, pairs in zip(probed.tolist(), np.split(by_cell, first[1:]), strict=True):
            if cell < 0:
                continue
            start, stop = cells.starts[cell : cell + 2].tolist()
            row, probe = np.divmod(pairs, probes.shape[1])
            near, closeness = NearestCodes(cells.codes.between(start, stop)).search(rows[row], k + 1)
            hits[row, probe, : near.shape[1]], scores[row, probe, : near.shape[1]] = near + start, closeness
        order = np.argsort(-scores.reshape(len(rows), -1), axis=1, kind="stable")[:, : k + 1]
        nearest = np.take_along_axis(hits.reshape(len(rows), -1), order, axis=1)
        return _others(nearest, np.arange(places.start, places.stop, dtype=np.int32))

    path = folder / "neighbours"
    with path.open("wb") as file:
        for nearest in over_blocks(in_cells, row_blocks(n, 2 * _AT_ONCE)):
            nearest.tofile(file)
    cells.near.path.unlink()
    neighbours = np.memmap(path, np.int32, "r", shape=(n, k))
    for number in range(_REFINEMENTS):
        before, path = path, folder / f"neighbours-{number}"
        refined = np.memmap(path, np.int32, "w+", shape=(n, k))
        tiles = _tiles(group_by_votes(neighbours, group_rows))
        for places, nearest in zip(tiles, over_blocks(partial(_refined, cells.codes, neighbours), tiles), strict=True):
            refined[places] = nearest
        neighbours = refined
        before.unlink()
    return neighbours


def _tiles(group: np.ndarray) -> list[np.ndarray]:
    """Return the places of each group, ascending, (t,) int32 each; of a large group in several parts. group: (n,)."""
    order = np.argsort(group, kind="stable").astype(np.int32)
    places_of_groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return [part for places in places_of_groups for part in np.array_split(places, -(-len(places) // _MOST_OF_TILE))]


def _refined(codes: RowsOnDisk, neighbours: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the k nearest rows of those places among them, their neighbours and the neighbours of these; (t, k) int32,
    nearest first. neighbours: (n, k) places. places: (t,) int32, of rows that have most of these in common, so that
    each is compared with the candidates of all."""
    near = neighbours[places].ravel()
    candidates = np.unique(np.concatenate([places, near, neighbours[near].ravel()]))
    candidate_codes = codes.at(candidates)
    k = neighbours.shape[1]
    nearest, _ = NearestCodes(candidate_codes).search(candidate_codes[np.searchsorted(candidates, places)], k + 1)
    hits = np.full((len(places), k + 1), -1, dtype=np.int32)
    hits[:, : nearest.shape[1]] = candidates[nearest]
    return _others(hits, places)


def _others(nearest: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the nearest of each place without the place itself, which fills what is missing; (p, k) int32. nearest:
    (p, k + 1) int32, nearest first, -1 where there are fewer. places: (p,) int32.
    """
    itself = nearest == places[:, None]
    itself[~itself.any(axis=1), -1] = True  # a row with many duplicates need not be among its nearest
    others = nearest[~itself].reshape(len(places), -1)
    return np.where(others < 0, places[:, None], others)


def _averaged(codes: RowsOnDisk, neighbours: np.ndarray, path: Path, seed: int) -> RowsOnDisk:
    """Write each row averaged with its neighbours, and return the file. neighbours: (n, k) places."""
    n = len(codes)
    averages = RowsOnDisk(path, codes.width)
    scale = scale_of(_means(codes, neighbours, draw_rows(n, _SAMPLE_OF_SCALE, seed)))

    def averaged(rows: slice) -> np.ndarray:
        """Return the averages of those places, (k, d) int8."""
        return coded(_means(codes, neighbours, np.arange(rows.start, rows.stop)), scale)

    for block in over_blocks(averaged, row_blocks(n, _AT_ONCE // 4)):
        averages.append(block)
    return averages


def _means(codes: RowsOnDisk, neighbours: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the unit averages of those places with their neighbours, (b, d) float64. neighbours: (n, k)
    places. places: (b,)."""
    near = neighbours[places]
    mutual = (neighbours[near] == places[:, None, None]).any(axis=2)
    sums = _MUTUAL * codes.at(places).astype(np.float32)
    for column in range(near.shape[1]):
        weights = np.where(mutual[:, column], _MUTUAL, _ONE_SIDED).astype(np.float32)
        sums += weights[:, None] * codes.at(near[:, column])
    lost = ~sums.any(axis=1)  # neighbours that point the other way may cancel the sum
    sums[lost] = codes.at(places[lost])
    return unit(sums, places)
