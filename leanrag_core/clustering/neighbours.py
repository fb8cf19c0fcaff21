"""Nearest neighbours by distance (by cosine, for unit rows): exact for some thousand vectors, inverted lists above."""

from collections.abc import Iterator

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.clustering.kmeans import cells_of
from leanrag_core.clustering.reduction import principal_axes


def half_squares(vectors: np.ndarray) -> np.ndarray:
    """Return half the squared length of each row, (n,): an inner product minus that of the other row sorts rows by
    distance.

    vectors: (n, d).
    """
    return np.asarray(0.5 * np.einsum("ij,ij->i", vectors, vectors))


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of the k largest scores of each row, falling; (rows, k). scores: (rows, columns).

    The k largest lie in the k groups of columns whose largest scores are largest: taking maxima of groups first leaves
    few columns to sort.
    """
    n_rows, width = scores.shape
    group = int(np.sqrt(width / max(k, 1)))  # columns of a group
    rows = np.arange(n_rows)[:, None]
    if group < 4:
        columns = _some_largest(scores, k)
        values = scores[rows, columns]
    else:
        n_groups = width // group
        whole = n_groups * group
        maxima = scores[:, :whole].reshape(n_rows, group, n_groups).max(axis=1)
        best = _some_largest(maxima, k)
        columns = (best[:, :, None] + np.arange(group) * n_groups).reshape(n_rows, -1)
        if whole < width:
            columns = np.concatenate([columns, np.tile(np.arange(whole, width), (n_rows, 1))], axis=1)
        values = scores[rows, columns]
        kept = _some_largest(values, k)
        columns, values = columns[rows, kept], values[rows, kept]
    falling = np.argsort(-values, axis=1, kind="stable")
    return columns[rows, falling]


def _some_largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of the k largest scores of each row, (rows, k), in any order; all columns where there are no
    more.
    """
    n_rows, width = scores.shape
    return np.argpartition(-scores, k - 1, axis=1)[:, :k] if k < width else np.tile(np.arange(width), (n_rows, 1))


_CELL = 250
_LARGEST = 1000
_SCANNED = 20  # cells whose vectors a vector is compared with
_PHASES = (
    (0, 1),
    (1, 4),
    (4, _SCANNED),
)  # ranges of cells scanned in turn; hits of one phase let the next leave out more
_SPACE = 192  # principal components in which cells are formed; fewer would miss more neighbours
_QUERIES_AT_ONCE = 16_384  # rows of one block, which lie in neighbouring cells
_PROBES = 1024  # rows whose distances to all centres are held at a time


def search_cells(vectors: np.ndarray, k: int, *, seed: int) -> np.ndarray:
    """Return the k rows found nearest to each row, itself left out, nearest first; (n, k) int32, -1 where fewer were
    found.

    vectors: (n, d) float32.
    """
    n = len(vectors)
    projected = _projected(vectors, principal_axes(vectors, _SPACE, seed=seed))
    cell, centres = cells_of(projected, _CELL, largest=_LARGEST, seed=seed)
    order = np.argsort(cell, kind="stable").astype(np.int32)
    ordered, own_cell = _taken(vectors, order), cell[order]
    lists = CellLists(ordered, offsets_of(np.bincount(cell, minlength=len(centres))))
    projected = _taken(projected, order)
    half = half_squares(centres)

    def nearest_of(block: slice) -> np.ndarray:
        """Return the places of the nearest vectors for a block of places, (block, k) int32."""
        parts = row_blocks(block.stop - block.start, _PROBES)
        points, own_cells = projected[block], own_cell[block]
        probes = np.concatenate([_probes(points[part], own_cells[part], centres, half) for part in parts])
        return lists.nearest(block, probes, k)

    neighbours = np.empty((n, k), dtype=np.int32)
    blocks = row_blocks(n, min(_QUERIES_AT_ONCE, max(_PROBES, n // 16)))
    for block, places in zip(blocks, over_blocks(nearest_of, blocks), strict=True):
        neighbours[order[block]] = np.where(places < 0, -1, order[places])
    return neighbours


def _taken(points: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return points[order], copied by blocks on all cores. points: (n, d). order: (n,) int32."""
    ordered = np.empty_like(points)

    def take(rows: slice) -> None:
        np.take(points, order[rows], axis=0, out=ordered[rows])

    for _ in over_blocks(take, row_blocks(len(points), _QUERIES_AT_ONCE)):
        pass
    return ordered


def _projected(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return vectors @ axes, (n, k), by blocks on all cores. vectors: (n, d). axes: (d, k)."""
    return np.concatenate(
        list(over_blocks(lambda rows: vectors[rows] @ axes, row_blocks(len(vectors), _QUERIES_AT_ONCE)))
    )


def _probes(points: np.ndarray, own_cells: np.ndarray, centres: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return the cells to scan for each point, its own cell first, then the nearest; (rows, cells to scan).

    points: (rows, k). own_cells: (rows,) cell of each. centres: (cells, k). half: (cells,), see half_squares().
    """
    closeness = points @ centres.T
    closeness -= half
    closeness[np.arange(len(points)), own_cells] = np.inf
    return largest(closeness, min(_SCANNED, len(centres)))


def offsets_of(sizes: np.ndarray) -> np.ndarray:
    """Return (n + 1,) int64: where each of n runs begins, and the end of the last. sizes: (n,)."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


class CellLists:
    """The vectors of each cell, one cell after another; a place is a row of these. Cell c holds the places offsets[c]
    up to offsets[c + 1]."""

    def __init__(self, vectors: np.ndarray, offsets: np.ndarray) -> None:
        """Take the vectors, (n, d) float32, cell by cell. offsets: (cells + 1,) int."""
        self._vectors, self._offsets = vectors, offsets

    def nearest(self, block: slice, probes: np.ndarray, k: int) -> np.ndarray:
        """Return the places of the vectors nearest to those of the block among their probed cells; (rows, k) int32, or
        -1.

        probes: (rows, cells to scan), the nearest first.
        """
        n = block.stop - block.start
        best, scores = np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf, dtype=np.float32)
        for first, last in _PHASES:
            hits = list(self._hits(block, probes[:, first:last], scores[:, -1], k))
            if hits:
                best, scores = _kept(best, scores, *(np.concatenate(column) for column in zip(*hits, strict=True)))
        return best

    def _hits(
        self, block: slice, probes: np.ndarray, least: np.ndarray, k: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield queries, places and scores, (hits,) each, of what is nearer than the k-th nearest so far, cell by cell.

        probes: (rows, cells scanned in this phase). least: (rows,) score of the k-th nearest so far.
        """
        width = probes.shape[1]
        if width == 0:
            return
        by_cell = np.argsort(probes, axis=None, kind="stable")
        cells, starts = np.unique(probes.ravel()[by_cell], return_index=True)
        queries = self._vectors[block]
        for cell, pairs in zip(cells.tolist(), np.split(by_cell // width, starts[1:]), strict=True):
            start, stop = int(self._offsets[cell]), int(self._offsets[cell + 1])
            cell_vectors = self._vectors[start:stop]
            scores = queries.take(pairs, axis=0) @ cell_vectors.T
            scores -= half_squares(cell_vectors)
            itself = np.flatnonzero((pairs >= start - block.start) & (pairs < stop - block.start))
            scores[itself, pairs[itself] + (block.start - start)] = -np.inf
            limits = least.take(pairs)
            if stop - start > 2 * k and np.isneginf(limits).all():
                near, columns = np.repeat(np.arange(len(pairs)), k), largest(scores, k).ravel()
            else:
                near, columns = np.nonzero(scores > limits[:, None])
            yield pairs[near], (columns + start).astype(np.int32), scores[near, columns]


def _kept(
    best: np.ndarray, scores: np.ndarray, queries: np.ndarray, places: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k best places and scores of each query, (n, k) each, among those it had and its new hits.

    best: (n, k) int32 and scores: (n, k) float32, so far; unfilled ones hold -1 and minus infinity. queries, places,
    values: (hits,) each.
    """
    n, k = best.shape
    scored = np.isfinite(scores)
    all_queries = np.concatenate([np.nonzero(scored)[0], queries])
    all_places, all_values = np.concatenate([best[scored], places]), np.concatenate([scores[scored], values])
    order = np.lexsort((-all_values, all_queries))
    all_queries = all_queries[order]
    counts = np.bincount(all_queries, minlength=n)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    inside = place < k
    best, scores = np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf, dtype=np.float32)
    best[all_queries[inside], place[inside]] = all_places[order[inside]]
    scores[all_queries[inside], place[inside]] = all_values[order[inside]]
    return best, scores


_EXACT = 8192  # vectors up to which every pair is looked at
_QUERIES = 512


def nearest_neighbours(vectors: np.ndarray, k: int, *, seed: int = 0, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the k rows nearest to each row, itself left out, nearest first; (n, k) int32, or (len(rows), k) with rows.

    vectors: (n, d) float32, k < n. Exact up to 8,192 vectors; above, a row is compared with the vectors of the k-means
    cells nearest to it. rows: (q,) int; the answer is exact, and for these rows alone.
    """
    n = len(vectors)
    if not 0 < k < n:
        raise ValueError(f"{k} neighbours of {n} vectors do not exist")
    if rows is not None:
        return _exact(vectors, k, rows)
    if n <= _EXACT:
        return _exact(vectors, k, np.arange(n))
    neighbours = search_cells(vectors, k, seed=seed)
    missed = np.flatnonzero(neighbours[:, -1] < 0)
    if len(missed):
        neighbours[missed] = _exact(vectors, k, missed)
    return neighbours


def _exact(vectors: np.ndarray, k: int, rows: np.ndarray) -> np.ndarray:
    """Return the k nearest neighbours of these rows among all vectors, (q, k) int32.

    vectors: (n, d) float32. rows: (q,) int.
    """
    n = len(vectors)
    half = half_squares(vectors)

    def nearest_of(block: slice) -> np.ndarray:
        """Return the k nearest neighbours of a block of the rows, (block, k) int32."""
        queries = rows[block]
        scores = vectors[queries] @ vectors.T
        scores -= half
        scores[np.arange(len(queries)), queries] = -np.inf
        return largest(scores, k).astype(np.int32)

    size = max(16, min(_QUERIES, 4_000_000 // n))
    return np.concatenate(list(over_blocks(nearest_of, row_blocks(len(rows), size))))
