"""Neighbour search and k-means of our own against scikit-learn's, on one thread and on all: time, and whether the
result is the same, bit for bit."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.planted import planted
from leanrag_core.clustering import blocks
from leanrag_core.clustering.kmeans import cells_of
from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.system.library_threads import one_blas_thread

TITLE = "Neighbours and k-means cells of n x 384 vectors, ours and scikit-learn's, on 1 thread and on all"
SIZES = (5_000, 20_000)

_NEIGHBOURS = 12
_CELL = 250


def measure(size: int) -> dict[str, float | int | str]:
    """Return the seconds of each on all threads, and whether one thread gives the same bytes."""
    from sklearn.cluster import KMeans
    from sklearn.neighbors import NearestNeighbors

    vectors = planted(size).vectors
    n_cells, n_threads = -(-size // _CELL), blocks.available_cores()

    def own_cells(threads: int) -> np.ndarray:
        with _cores(threads), one_blas_thread():
            return cells_of(vectors, _CELL, largest=4 * _CELL, seed=0)[1]

    def own_neighbours(threads: int) -> np.ndarray:
        with _cores(threads), one_blas_thread():
            return nearest_neighbours(vectors, _NEIGHBOURS)

    def sklearn_centres(threads: int) -> np.ndarray:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(threads):
            fitted = KMeans(n_cells, n_init=1, init="random", max_iter=8, random_state=0).fit(vectors)
        return np.asarray(fitted.cluster_centers_)

    def sklearn_neighbours(threads: int) -> np.ndarray:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(threads):
            search = NearestNeighbors(n_neighbors=_NEIGHBOURS + 1, algorithm="brute").fit(vectors)
            return np.asarray(search.kneighbors(vectors)[1][:, 1:])

    figures: dict[str, float | int | str] = {"threads": n_threads}
    ways: dict[str, Callable[[int], np.ndarray]] = {
        "own_cells": own_cells,
        "sklearn_kmeans": sklearn_centres,
        "own_neighbours": own_neighbours,
        "sklearn_neighbours": sklearn_neighbours,
    }
    made: dict[str, np.ndarray] = {}
    for name, way in ways.items():
        alone = way(1)
        started, processor = time.perf_counter(), time.process_time()
        made[name] = way(n_threads)
        figures[f"{name}_seconds"] = round(time.perf_counter() - started, 2)
        figures[f"{name}_processor_seconds"] = round(time.process_time() - processor, 2)
        figures[f"{name}_same_bytes"] = "yes" if alone.tobytes() == made[name].tobytes() else "no"
    figures["own_recall"] = round(_recall(made["own_neighbours"], made["sklearn_neighbours"]), 4)
    return figures


@contextmanager
def _cores(n: int) -> Iterator[None]:
    """Let blocks run on n threads while inside."""
    before = blocks.available_cores
    blocks.available_cores = lambda: n
    try:
        yield
    finally:
        blocks.available_cores = before


def _recall(neighbours: np.ndarray, exact: np.ndarray) -> float:
    shared = sum(len(np.intersect1d(own, true)) for own, true in zip(neighbours, exact, strict=True))
    return shared / neighbours.size
