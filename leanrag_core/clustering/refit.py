"""Clusters of a layer that was clustered before and has changed since: untouched clusters keep their members."""

from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.clustering.blocks import row_blocks
from leanrag_core.clustering.clusters import cluster, described, scatter_within
from leanrag_core.clustering.mixture import shrunk, whitening_of
from leanrag_core.clustering.options import Clustering, ClusterOptions, n_components, numbered_by_first_row
from leanrag_core.clustering.reduction import principal_axes
from leanrag_core.clustering.sizes import cluster_means, joined_singletons, split_and_joined
from leanrag_core.system.library_threads import one_blas_thread

_BLOCK = 4096
_POINTS_A_DIMENSION = 4
_ROUNDS = 3  # in which new nodes choose between previous and new components


@dataclass(frozen=True, eq=False)
class PreviousClusters:
    """The clusters of a layer before it changed.

    vectors: (n, d) float32, unit rows of the nodes that it had. labels: (n,) int cluster of each, every label used.
    """

    vectors: np.ndarray
    labels: np.ndarray


def refit(
    vectors: np.ndarray, before: PreviousClusters, row_before: np.ndarray, options: ClusterOptions, ends: np.ndarray
) -> Clustering:
    """Cluster a changed layer, starting from the clusters that it had.

    vectors: (n, d) unit rows. row_before: (n,) row that a node had among `before`, -1 for a new one. ends: (r, 2) rows
    that relations join. A node that was there stays in its cluster. New nodes are clustered among themselves into as
    many new clusters as m grows by; the others join the previous component that is most responsible for them, under one
    shared covariance. Only then are clusters above the cap cut, and the cheapest pairs joined where there are more than
    m. Needs m > 1. The same arguments give the same labels whatever the number of threads.
    """
    m = n_components(len(vectors), options.cluster_size)
    known = row_before >= 0
    labels = np.full(len(vectors), -1, dtype=np.int64)
    labels[known] = before.labels[row_before[known]]
    with one_blas_thread():
        space = max(2, min(options.space, len(before.vectors) // _POINTS_A_DIMENSION))
        axes = principal_axes(before.vectors, space, seed=options.seed)
        old_points = before.vectors @ axes
        mean = old_points.mean(axis=0, dtype=np.float64).astype(np.float32)
        old_points -= mean
        whitening = whitening_of(shrunk(scatter_within(old_points, before.labels))).T.astype(np.float32)
        old_white, white = old_points @ whitening, (vectors @ axes - mean) @ whitening
        new_rows = np.flatnonzero(~known)
        if len(new_rows):
            n_extra = m - len(np.unique(labels[known]))
            previous = _Components.from_labels(old_white, before.labels)
            labels[new_rows] = _labels_of_new(vectors[new_rows], white[new_rows], previous, n_extra, options)
        labels = _within_bounds(labels, white, before.labels, row_before, options, m)
        labels = numbered_by_first_row(labels)
    return described(labels, vectors, options, components=m, likelihood=None, ends=ends)


@dataclass(frozen=True, eq=False)
class _Components:
    """Components under one covariance, in whitened coordinates. means: (m, k) float32. sizes: (m,) points of each."""

    means: np.ndarray
    sizes: np.ndarray

    @classmethod
    def from_labels(cls, white: np.ndarray, labels: np.ndarray) -> "_Components":
        """Return one component for each label. white: (n, k) float32, whitened. labels: (n,) int, every label used."""
        return cls(cluster_means(labels, white), np.bincount(labels))

    def extended_by(self, white: np.ndarray, labels: np.ndarray) -> "_Components":
        """Return these components followed by one more for each label. white: (n, k) float32. labels: (n,) int, all
        used.
        """
        more = _Components.from_labels(white, labels)
        return _Components(np.concatenate([self.means, more.means]), np.concatenate([self.sizes, more.sizes]))

    def most_responsible(self, white: np.ndarray) -> np.ndarray:
        """Return the component of largest log joint density of each point, (n,) int64. white: (n, k) float32."""
        log_weights = np.log(self.sizes / self.sizes.sum())
        half = 0.5 * np.einsum("ij,ij->i", self.means, self.means) - log_weights
        best = np.empty(len(white), dtype=np.int64)
        for rows in row_blocks(len(white), _BLOCK):
            best[rows] = (white[rows] @ self.means.T - half).argmax(axis=1)
        return best


def _labels_of_new(
    vectors: np.ndarray, white: np.ndarray, previous: _Components, n_extra: int, options: ClusterOptions
) -> np.ndarray:
    """Assign each new node to its most responsible component, a previous one or one of at most n_extra new ones.

    vectors: (n, d) unit rows. white: (n, k) float32, whitened. Returns (n,) int64; new components are numbered after
    the previous ones. They begin as clusters of the new nodes alone; a node that a previous component explains better
    leaves its new component, and a new component in which a single node is left is dropped.
    """
    n, n_before = len(vectors), len(previous.means)
    n_groups = min(n_extra, n_components(n, options.cluster_size))
    if n_groups < 1 or n < 2:
        return previous.most_responsible(white)
    groups = cluster(vectors, replace(options, cluster_size=max(2, -(-n // n_groups)))).labels.astype(np.int64)
    for _ in range(_ROUNDS):
        in_new_groups = np.flatnonzero(groups >= 0)
        if not len(in_new_groups):
            break
        numbered = np.unique(groups[in_new_groups], return_inverse=True)[1]
        labels = previous.extended_by(white[in_new_groups], numbered).most_responsible(white)
        groups = np.where(labels >= n_before, labels - n_before, -1)
        sizes = np.bincount(groups + 1)
        groups[sizes[groups + 1] == 1] = -1
    return np.where(groups >= 0, n_before + groups, previous.most_responsible(white))


def _within_bounds(
    labels: np.ndarray,
    white: np.ndarray,
    labels_before: np.ndarray,
    row_before: np.ndarray,
    options: ClusterOptions,
    m: int,
) -> np.ndarray:
    """Return labels with no cluster above the cap, no more than m clusters, and no node left alone by the change.

    labels: (n,) int64. white: (n, k) float32, whitened. labels_before: (n before,). row_before: (n,), -1 for a new
    node.
    """
    largest = options.largest
    sizes = np.bincount(labels)
    if (largest is not None and sizes.max() > largest) or np.count_nonzero(sizes) > m:
        labels = split_and_joined(labels, white, largest or len(labels), m)
    if not options.join_singletons:
        return labels
    joined = joined_singletons(labels, white, largest)
    # A node that was alone before may have been kept alone on purpose: only a node that the change left alone joins.
    alone_before = np.zeros(len(labels), dtype=bool)
    known = row_before >= 0
    alone_before[known] = np.bincount(labels_before)[labels_before[row_before[known]]] == 1
    return np.where(alone_before, labels, joined)
