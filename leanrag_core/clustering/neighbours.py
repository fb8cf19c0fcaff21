"""Nearest neighbours by distance (by cosine, for unit rows): exact for some thousand vectors, inverted lists above."""

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.clustering.cells import cells_of
from leanrag_core.clustering.reduction import principal_axes

_EXACT = 8192  # vectors up to which every pair is looked at
_CELL = 500
_SCANNED = 16  # cells whose vectors a vector is compared with
_QUERIES = 512
_SEARCH_SPACE = 192  # principal components in which cells are formed; 64 would miss every eighth neighbour


def nearest_neighbours(vectors: np.ndarray, k: int, *, seed: int = 0, rows: np.ndarray | None = None) -> np.ndarray:
    """The k rows nearest to each row, itself left out, nearest first; (n, k) int32.

    vectors: (n, d) float32, k < n. Exact up to 8,192 vectors; above, a row is compared with the vectors of the 16
    k-means cells (of about 500) nearest to its own. rows: answer exactly, for these rows alone.
    """
    n = len(vectors)
    if not 0 < k < n:
        raise ValueError(f"{k} neighbours of {n} vectors do not exist")
    if rows is not None:
        return _exact(vectors, k, rows)
    return _exact(vectors, k, np.arange(n)) if n <= _EXACT else _by_cells(vectors, k, seed)


def _exact(vectors: np.ndarray, k: int, rows: np.ndarray) -> np.ndarray:
    n = len(vectors)
    half = _half_squares(vectors)

    def found(block: slice) -> np.ndarray:
        queries = rows[block]
        scores = vectors[queries] @ vectors.T
        scores -= half
        scores[np.arange(len(queries)), queries] = -np.inf
        return _largest(scores, k).astype(np.int32)

    size = max(16, min(_QUERIES, 4_000_000 // n))
    return np.concatenate(list(over_blocks(found, row_blocks(len(rows), size))))


def _by_cells(vectors: np.ndarray, k: int, seed: int) -> np.ndarray:
    n = len(vectors)
    projected = vectors @ principal_axes(vectors, _SEARCH_SPACE, seed=seed)
    cell, centres = cells_of(projected, _CELL, largest=4 * _CELL, seed=seed)
    del projected
    scanned = min(_SCANNED, len(centres))
    closeness = centres @ centres.T - _half_squares(centres)
    np.fill_diagonal(closeness, np.inf)  # its own cell first
    near = _largest(closeness, scanned) if scanned < len(centres) else np.argsort(-closeness, axis=1, kind="stable")
    order = np.argsort(cell, kind="stable").astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(cell))])
    half = _half_squares(vectors)

    def found(queries: tuple[int, slice]) -> tuple[np.ndarray, np.ndarray]:
        own, part = queries
        lists = [order[offsets[other] : offsets[other + 1]] for other in near[own]]
        candidates = np.concatenate(lists)
        asked = lists[0][part]
        scores = vectors[asked] @ vectors[candidates].T
        scores -= half[candidates]
        scores[np.arange(len(asked)), np.arange(part.start, part.start + len(asked))] = -np.inf
        return asked, candidates[_largest(scores, k)]

    work = [
        (own, part)
        for own in range(len(centres))
        for part in row_blocks(int(offsets[own + 1] - offsets[own]), _QUERIES)
    ]
    neighbours = np.empty((n, k), dtype=np.int32)
    for asked, nearest in over_blocks(found, work):
        neighbours[asked] = nearest
    return neighbours


def _half_squares(vectors: np.ndarray) -> np.ndarray:
    return 0.5 * np.einsum("ij,ij->i", vectors, vectors)


def _largest(scores: np.ndarray, k: int) -> np.ndarray:
    """(rows, k) columns of the k largest scores of each row, falling.

    The k largest lie in the k groups of columns whose largest scores are largest: taking maxima of groups first leaves
    few columns to sort.
    """
    n_rows, width = scores.shape
    group = int(np.sqrt(width / max(k, 1)))  # columns of a group
    rows = np.arange(n_rows)[:, None]
    if group < 4:
        columns = (
            np.argpartition(-scores, k - 1, axis=1)[:, :k] if k < width else np.tile(np.arange(width), (n_rows, 1))
        )
        values = scores[rows, columns]
    else:
        n_groups = width // group
        whole = n_groups * group
        maxima = scores[:, :whole].reshape(n_rows, group, n_groups).max(axis=1)
        best = (
            np.argpartition(-maxima, k - 1, axis=1)[:, :k]
            if k < n_groups
            else np.tile(np.arange(n_groups), (n_rows, 1))
        )
        columns = (best[:, :, None] + np.arange(group) * n_groups).reshape(n_rows, -1)
        if whole < width:
            columns = np.concatenate([columns, np.tile(np.arange(whole, width), (n_rows, 1))], axis=1)
        values = scores[rows, columns]
        kept = np.argpartition(-values, k - 1, axis=1)[:, :k]
        columns, values = columns[rows, kept], values[rows, kept]
    falling = np.argsort(-values, axis=1, kind="stable")
    return columns[rows, falling]
