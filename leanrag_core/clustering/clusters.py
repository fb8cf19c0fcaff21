"""Recursive semantic clustering, one layer of it: from vectors to clusters."""

import numpy as np

from leanrag_core.clustering.blocks import one_blas_thread, product, row_blocks
from leanrag_core.clustering.measures import cluster_sizes, neighbours_inside, relations_inside
from leanrag_core.clustering.mixture import Fit, fit_mixture, shrunk, whitening_of
from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.clustering.options import (
    ClusterFacts,
    Clustering,
    ClusterOptions,
    n_components,
    numbered_by_first_row,
)
from leanrag_core.clustering.reduction import principal_axes
from leanrag_core.clustering.reference import ReferenceOptions, fit_reference
from leanrag_core.clustering.sizes import capped, filled, joined_singletons
from leanrag_core.clustering.smoothing import averaging, smoothed, spread_within
from leanrag_core.clustering.splitting import split_and_joined
from leanrag_core.clustering.ward import started
from leanrag_core.errors import InvalidVectors, TooFewEntities
from leanrag_core.types.settings import Apply

_POINTS_A_DIMENSION = 24  # fewer would let the shared covariance fit noise
_SMALL_SPACE, _POINTS_IN_SMALL = 16, 4  # dimensions that a small layer has nonetheless, down to 4 points for each
_NEIGHBOUR_SHARE = 0.6  # of the cluster size; averaging over more would blur clusters into each other
_NOT_UNIT = 1e-3


def cluster(
    vectors: np.ndarray, options: ClusterOptions | None = None, *, ends: np.ndarray | None = None, apply: Apply = map
) -> Clustering:
    """Assign each entity to exactly one cluster.

    vectors: (n, d) float32, unit rows (others are scaled to length one). ends: (r, 2) rows that relations join, for
    the facts alone. apply maps a pure function over batches and yields results in order (threads, processes, a
    cluster of machines). The same input gives the same labels whatever the number of threads and with any apply.
    Raises TooFewEntities for no rows, InvalidVectors for rows that are zero or not finite. Source: LeanRAG, recursive
    semantic clustering; hard assignment to the most responsible component, so that the hierarchy is a tree.
    """
    options = options or ClusterOptions()
    vectors = _checked(vectors)
    n = len(vectors)
    m = n_components(n, options.cluster_size)
    neighbours, likelihood = None, None
    labels = np.zeros(n, dtype=np.int32)
    reference = options.reference
    with one_blas_thread():
        if reference is not None and n > 1:
            labels, m, likelihood = _by_reference(vectors, reference, options)
        elif m > 1:
            labels, fit, neighbours = _clustered(vectors, m, options, apply)
            likelihood = fit.likelihood
        labels = numbered_by_first_row(labels)
    return described(
        labels,
        vectors,
        options,
        components=m,
        likelihood=likelihood,
        ends=ends,
        neighbours=neighbours,
    )


def described(
    labels: np.ndarray,
    vectors: np.ndarray,
    options: ClusterOptions,
    *,
    components: int,
    likelihood: float | None,
    ends: np.ndarray | None,
    neighbours: np.ndarray | None = None,
) -> Clustering:
    """Return the clustering of these labels together with its measures.

    labels: (n,) int32, every label used. vectors: (n, d) float32, unit rows. ends: (r, 2) rows that relations join.
    neighbours: (n, k) int32, see neighbours_inside().
    """
    with one_blas_thread():
        near = neighbours_inside(labels, vectors, neighbours, options.seed)
    inside = relations_inside(labels, ends)
    sizes = cluster_sizes(labels)
    facts = ClusterFacts(
        nodes=len(labels),
        components=components,
        # A last bit of the products reaches the sixth place.
        likelihood=None if likelihood is None else round(likelihood, 3),
        clusters=sizes.clusters,
        smallest=sizes.smallest,
        median=sizes.median,
        largest=sizes.largest,
        singletons=sizes.singletons,
        neighbours_inside=round(near, 6),
        relations_inside=None if inside is None else round(inside, 6),
        covariance=options.reference.covariance if options.reference else "tied",
    )
    return Clustering(labels, facts)


def _checked(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors as (n, d) float32 unit rows.

    Raises InvalidVectors for another shape and for rows that are zero or not finite, TooFewEntities for no rows.
    """
    vectors = np.asarray(vectors)
    if vectors.ndim != 2 or (vectors.shape[1] == 0 and len(vectors)):
        raise InvalidVectors("clustering.wrong_shape", shape=str(vectors.shape))
    if len(vectors) == 0:
        raise TooFewEntities("clustering.no_entities")
    if vectors.dtype != np.float32:
        vectors = vectors.astype(np.float32)
    lengths = np.empty(len(vectors), dtype=np.float32)
    for rows in row_blocks(len(vectors), 65_536):
        lengths[rows] = np.einsum("ij,ij->i", vectors[rows], vectors[rows])
    np.sqrt(lengths, out=lengths)
    if not np.isfinite(lengths).all():
        row = int(np.flatnonzero(~np.isfinite(lengths))[0])
        raise InvalidVectors("clustering.not_finite", row=row)
    if not lengths.all():
        row = int(np.flatnonzero(lengths == 0)[0])
        raise InvalidVectors("clustering.zero_vector", row=row)
    return vectors if np.abs(lengths - 1).max() < _NOT_UNIT else vectors / lengths[:, None]


def _clustered(
    vectors: np.ndarray, m: int, options: ClusterOptions, apply: Apply
) -> tuple[np.ndarray, Fit, np.ndarray | None]:
    """Return (n,) labels, the fitted mixture, and the (n, k) int32 neighbours, or None for the latter without
    smoothing.

    vectors: (n, d) float32, unit rows. m: components, at least 2.
    """
    n = len(vectors)
    seed, space = options.seed, dimensions(n, options.space)
    neighbours = None
    if options.smoothing:
        k = max(1, min(options.neighbours, round(_NEIGHBOUR_SHARE * options.cluster_size), n - 1))
        neighbours = nearest_neighbours(vectors, k, seed=seed)
        average = averaging(neighbours)
        points = smoothed(vectors, average, options.smoothing, space, seed=seed)
        spread = spread_within(points, average)
        del average
    else:
        points = product(vectors, principal_axes(vectors, space, seed=seed))
        points -= points.mean(axis=0, dtype=np.float64).astype(np.float32)
        labels = started(points, points, m, seed=seed, apply=apply)
        spread = scatter_within(points, labels)
    white = product(points, whitening_of(shrunk(spread)).T)
    labels = started(points, white, m, seed=seed, apply=apply)
    fit = fit_mixture(points, labels, m)
    white = fit.mixture.whitened(points)
    if options.cap == "capacity":
        labels = capped(points, fit, 2 * options.cluster_size)
    elif options.cap == "split":
        labels = split_and_joined(fit.labels, white, 2 * options.cluster_size, m)
    else:
        labels = fit.labels
    if options.join_singletons:
        labels = joined_singletons(labels, white, options.largest)
    if options.cap == "capacity":
        labels = filled(labels, white, m)
    return labels, fit, neighbours


def _by_reference(
    vectors: np.ndarray, reference: ReferenceOptions, options: ClusterOptions
) -> tuple[np.ndarray, int, float]:
    """Return the labels, components and likelihood of scikit-learn's mixture, with the same cap and rule for single
    nodes.

    vectors: (n, d) float32, unit rows. The labels are (n,) int32.
    """
    fit = fit_reference(vectors, reference, cluster_size=options.cluster_size, space=options.space, seed=options.seed)
    labels = fit.labels
    if options.largest is not None:
        most = max(n_components(len(vectors), options.cluster_size), fit.components)
        labels = split_and_joined(labels, fit.points, options.largest, most)
    if options.join_singletons:
        labels = joined_singletons(labels, fit.points, options.largest)
    return labels, fit.components, fit.likelihood


def dimensions(n: int, space: int) -> int:
    """Return the number of principal components in which the mixture of n points is fitted, at most `space`."""
    return min(space, max(2, n // _POINTS_A_DIMENSION, min(_SMALL_SPACE, n // _POINTS_IN_SMALL)))


def scatter_within(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the covariance of points about the means of their clusters, (k, k) float64.

    points: (n, k). labels: (n,) int, each of 0 ... m-1 used.
    """
    sizes = np.bincount(labels)
    sums = np.stack([np.bincount(labels, weights=column) for column in points.T], axis=1)
    total = np.zeros((points.shape[1], points.shape[1]))
    means = sums / sizes[:, None]
    for rows in row_blocks(len(points), 65_536):
        centred = points[rows] - means[labels[rows]]
        total += centred.T @ centred
    return total / len(points)
