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
    """Return the sizes of the clusters. labels: (n,) int, every label used."""
    sizes = np.bincount(labels)
    return ClusterSizes(
        clusters=len(sizes),
        smallest=int(sizes.min()),
        median=float(np.median(sizes)),
        largest=int(sizes.max()),
        singletons=int((sizes == 1).sum()),
    )


def neighbours_inside(labels: np.ndarray, vectors: np.ndarray, neighbours: np.ndarray | None, seed: int) -> float:
    """Return the share of a node's 10 nearest neighbours that are in its own cluster; 1 for a single node.

    The mean is taken over all nodes where neighbours are given, else over 1,000 nodes at most. labels: (n,) int.
    vectors: (n, d) float32, unit rows. neighbours: (n, k) int32, nearest first, or None.
    """
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
    """Return the share of relations with both ends in one cluster; None without relations.

    labels: (n,) int. ends: (r, 2) rows that relations join.
    """
    if ends is None or len(ends) == 0:
        return None
    return float((labels[ends[:, 0]] == labels[ends[:, 1]]).mean())
