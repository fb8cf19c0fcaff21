"""What a clustering is worth, measured without a truth to compare with."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.clustering.neighbours import nearest_neighbours

N_NEIGHBOURS = 10
_SAMPLE = 1000  # rows whose neighbours are looked for where none are at hand


@dataclass(frozen=True)
class ClusterSizes:
    """How many nodes clusters hold. singletons: clusters of one node."""

    clusters: int
    smallest: int
    median: float
    largest: int
    singletons: int


def cluster_sizes(labels: np.ndarray) -> ClusterSizes:
    """The sizes of the clusters. labels: (n,), every label used."""
    sizes = np.bincount(labels)
    return ClusterSizes(
        clusters=len(sizes),
        smallest=int(sizes.min()),
        median=float(np.median(sizes)),
        largest=int(sizes.max()),
        singletons=int((sizes == 1).sum()),
    )


def neighbours_inside(labels: np.ndarray, vectors: np.ndarray, neighbours: np.ndarray | None, seed: int) -> float:
    """Share of a node's 10 nearest neighbours that are in its cluster, of all nodes whose neighbours are given, or of
    1,000 nodes where they are not. neighbours: (n, k) int32, nearest first, or None. 1 for a single node."""
    n = len(labels)
    k = min(N_NEIGHBOURS, n - 1)
    if k == 0:
        return 1.0
    rows = np.arange(n)
    if neighbours is None or neighbours.shape[1] < k:
        if n > _SAMPLE:
            rows = np.sort(np.random.default_rng([seed, n]).choice(n, _SAMPLE, replace=False))
        neighbours = nearest_neighbours(vectors, k, rows=rows)
    inside = labels[neighbours[:, :k]] == labels[rows][:, None]
    return float(inside.mean())


def relations_inside(labels: np.ndarray, ends: np.ndarray | None) -> float | None:
    """Share of relations with both ends in one cluster; ends: (r, 2) rows. None without relations."""
    if ends is None or len(ends) == 0:
        return None
    return float((labels[ends[:, 0]] == labels[ends[:, 1]]).mean())
