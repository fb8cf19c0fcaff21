"""Inverted lists: each vector is compared with those of the k-means cells nearest to it alone.

Small cells, many of them scanned, find more than large ones at the same cost; and it is the vector's own order of cells
that counts, not that of its cell's centre: on a million planted vectors these choices lift the share of the 12 nearest
neighbours that are found from .70 to .95.
"""

from collections.abc import Iterator

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.clustering.cells import cells_of
from leanrag_core.clustering.largest import half_squares, largest
from leanrag_core.clustering.reduction import principal_axes

_CELL = 250
_LARGEST = 1000
_SCANNED = 20  # cells whose vectors a vector is compared with
_PHASES = ((0, 1), (1, 4), (4, _SCANNED))  # cells scanned at a time; what one finds lets the next leave out more
_SPACE = 192  # principal components in which cells are formed; fewer would miss more neighbours
_QUERIES = 8192  # rows of one block, which lie in neighbouring cells
_PROBES = 1024  # rows whose distances to all centres are held at a time


def search_cells(vectors: np.ndarray, k: int, *, seed: int) -> np.ndarray:
    """The k rows found nearest to each row, itself left out, nearest first; (n, k) int32, -1 where fewer were found."""
    n = len(vectors)
    projected = _projected(vectors, principal_axes(vectors, _SPACE, seed=seed))
    cell, centres = cells_of(projected, _CELL, largest=_LARGEST, seed=seed)
    lists = _Lists(vectors, cell, len(centres))
    half_centres = half_squares(centres)

    def found(block: slice) -> tuple[np.ndarray, np.ndarray]:
        asked = lists.order[block]
        probes = np.concatenate(
            [
                _probes(projected[asked[part]], cell[asked[part]], centres, half_centres)
                for part in row_blocks(len(asked), _PROBES)
            ]
        )
        return asked, lists.nearest(asked, probes, k)

    neighbours = np.empty((n, k), dtype=np.int32)
    for asked, nearest in over_blocks(found, row_blocks(n, min(_QUERIES, max(_PROBES, n // 16)))):
        neighbours[asked] = nearest
    return neighbours


def _projected(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    return np.concatenate(list(over_blocks(lambda rows: vectors[rows] @ axes, row_blocks(len(vectors), _QUERIES))))


def _probes(points: np.ndarray, own: np.ndarray, centres: np.ndarray, half: np.ndarray) -> np.ndarray:
    """(rows, cells to scan) of each point, its own cell first, then the nearest."""
    closeness = points @ centres.T
    closeness -= half
    closeness[np.arange(len(points)), own] = np.inf
    return largest(closeness, min(_SCANNED, len(centres)))


class _Lists:
    """The rows of each cell, one cell after another."""

    def __init__(self, vectors: np.ndarray, cell: np.ndarray, n_cells: int) -> None:
        self.vectors, self.cell = vectors, cell
        self.order = np.argsort(cell, kind="stable").astype(np.int32)
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_cells))])
        self.half = half_squares(vectors)

    def nearest(self, asked: np.ndarray, probes: np.ndarray, k: int) -> np.ndarray:
        """(rows, k) the nearest of the rows asked for among their probed cells."""
        queries = self.vectors[asked]
        best = np.full((len(asked), k), -1, dtype=np.int32)
        scores = np.full((len(asked), k), -np.inf, dtype=np.float32)
        for first, last in _PHASES:
            hits = list(self._hits(asked, queries, probes[:, first:last], scores[:, -1], k))
            if hits:
                best, scores = _kept(best, scores, *(np.concatenate(column) for column in zip(*hits, strict=True)))
        return best

    def _hits(
        self, asked: np.ndarray, queries: np.ndarray, probes: np.ndarray, least: np.ndarray, k: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Queries, rows and scores of what is nearer than the k-th nearest so far, cell by cell."""
        width = probes.shape[1]
        if width == 0:
            return
        by_cell = np.argsort(probes, axis=None, kind="stable")
        cells, starts = np.unique(probes.ravel()[by_cell], return_index=True)
        for cell, pairs in zip(cells, np.split(by_cell, starts[1:]), strict=True):
            members = self.order[self.offsets[cell] : self.offsets[cell + 1]]
            rows = pairs // width
            scores = queries[rows] @ self.vectors[members].T
            scores -= self.half[members]
            if (self.cell[asked[rows]] == cell).any():
                scores[members == asked[rows][:, None]] = -np.inf
            if len(members) > 2 * k and np.isneginf(least[rows]).all():
                columns = largest(scores, k)
                near = np.repeat(np.arange(len(rows)), k)
                columns = columns.ravel()
            else:
                near, columns = np.nonzero(scores > least[rows][:, None])
            yield rows[near], members[columns], scores[near, columns]


def _kept(
    best: np.ndarray, scores: np.ndarray, queries: np.ndarray, rows: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The k best of each query among those it had and its hits; unfilled places hold -1 and minus infinity."""
    n, k = best.shape
    held = np.isfinite(scores)
    all_queries = np.concatenate([np.nonzero(held)[0], queries])
    all_rows, all_values = np.concatenate([best[held], rows]), np.concatenate([scores[held], values])
    order = np.lexsort((-all_values, all_queries))
    all_queries = all_queries[order]
    counts = np.bincount(all_queries, minlength=n)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    inside = place < k
    best, scores = np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf, dtype=np.float32)
    best[all_queries[inside], place[inside]] = all_rows[order[inside]]
    scores[all_queries[inside], place[inside]] = all_values[order[inside]]
    return best, scores
