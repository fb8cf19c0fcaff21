"""Recursive semantic clustering, one layer of it: from vectors to clusters."""

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, product, row_blocks
from leanrag_core.clustering.mixture import Fit, fit_mixture, shrunk, whitening_of
from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.clustering.on_disk import Grain, averaged_regions
from leanrag_core.clustering.options import (
    ClusterFacts,
    Clustering,
    ClusterOptions,
    n_components,
    numbered_by_first_row,
)
from leanrag_core.clustering.reduction import principal_axes
from leanrag_core.clustering.reference import ReferenceOptions, fit_reference
from leanrag_core.clustering.sizes import capped, filled, joined_singletons, split_and_joined
from leanrag_core.clustering.ward import started
from leanrag_core.errors import InvalidVectors, TooFewEntities
from leanrag_core.files.atomic import writing
from leanrag_core.messages.message import message
from leanrag_core.system.library_threads import one_blas_thread
from leanrag_core.types.settings import Apply

_ONE_SIDED = 0.3  # weight of a neighbour that does not name the row in return; itself and mutual ones weigh 1
_SAMPLE = 8192  # rows whose averages decide the directions
_BLOCK = 16_384
_PAIRS = 50_000  # neighbours whose differences estimate the spread within clusters


def averaging(neighbours: np.ndarray) -> Any:
    """Return the (n, n) sparse float32 matrix, rows summing to one, that averages a row with its neighbours.

    neighbours: (n, k) int32. Mutual neighbours and the row itself weigh 1, one-sided ones in either direction 0.3.
    """
    from scipy import sparse

    n, k = neighbours.shape
    offsets = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 else np.int64)
    ordered = np.sort(neighbours, axis=1).ravel()  # a copy: the caller's rows stay in order of distance
    directed = sparse.csr_array((np.full(n * k, _ONE_SIDED, dtype=np.float32), ordered, offsets), (n, n))
    weights = directed + directed.T.tocsr()  # 0.3, or 0.6 where both name each other
    weights.data[weights.data > 1.5 * _ONE_SIDED] = 1.0
    weights = weights + sparse.eye_array(n, dtype=np.float32, format="csr")
    counts = np.diff(weights.indptr)
    totals = np.add.reduceat(weights.data, weights.indptr[:-1])
    weights.data /= np.repeat(totals, counts)
    return weights


def smoothed(vectors: np.ndarray, average: Any, rounds: int, space: int, *, seed: int) -> np.ndarray:
    """Average the vectors `rounds` times and project them on their own `space` directions of largest variance, centred.

    vectors: (n, d) float32. average: (n, n) sparse, from averaging(). Returns (n, k) float32, k <= space. Averaging and
    projection commute: the directions are estimated from the averages of some thousand rows, then all rows are
    projected first and averaged in the small space.
    """
    n = len(vectors)
    rows = np.arange(n) if n <= _SAMPLE else np.sort(np.random.default_rng([seed, n]).choice(n, _SAMPLE, replace=False))
    weights = average[rows] if n > _SAMPLE else average
    for _ in range(rounds - 1):
        weights = weights @ average
    axes = principal_axes(_product(weights, vectors), space, seed=seed)
    points = _projected(vectors, axes)
    for _ in range(rounds):
        points = _product(average, points)
    points -= points.mean(axis=0, dtype=np.float64).astype(np.float32)
    return points


def spread_within(points: np.ndarray, average: Any) -> np.ndarray:
    """Estimate the covariance within clusters as half the mean outer product of differences of mutual neighbours.

    points: (n, k) float32. average: (n, n) sparse, from averaging(). Returns (k, k) float64.
    """
    heaviest = 0.99 * np.repeat(average.diagonal(), np.diff(average.indptr))
    left = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(average.indptr))
    pairs = np.flatnonzero((average.data >= heaviest) & (average.indices > left))
    if len(pairs) == 0:
        pairs = np.flatnonzero(average.indices != left)
    pairs = pairs[:: -(-len(pairs) // _PAIRS)]
    differences = (points[left[pairs]] - points[average.indices[pairs]]).astype(np.float64)
    return np.asarray(differences.T @ differences / (2 * len(differences)))


def _projected(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return vectors @ axes, (n, k) float32, by blocks of rows. vectors: (n, d). axes: (d, k)."""
    points = np.empty((len(vectors), axes.shape[1]), dtype=np.float32)

    def project(rows: slice) -> None:
        points[rows] = product(vectors[rows], axes)

    for _ in over_blocks(project, row_blocks(len(vectors), _BLOCK)):
        pass
    return points


def _product(weights: Any, dense: np.ndarray) -> np.ndarray:
    """Return weights @ dense, (n, k) float32, by blocks of rows. weights: (n, m) sparse. dense: (m, k)."""
    result = np.empty((weights.shape[0], dense.shape[1]), dtype=np.float32)

    def multiply(rows: slice) -> None:
        result[rows] = weights[rows.start : rows.stop] @ dense

    for _ in over_blocks(multiply, row_blocks(weights.shape[0], _BLOCK)):
        pass
    return result


N_NEIGHBOURS = 10
_SAMPLED = 1000  # rows whose neighbours are searched where none are given


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
        if n > _SAMPLED:
            rows = np.sort(np.random.default_rng([seed, n]).choice(n, _SAMPLED, replace=False))
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


_POINTS_A_DIMENSION = 24  # fewer would let the shared covariance fit noise
_SMALL_SPACE, _POINTS_IN_SMALL = 16, 4  # dimensions that a small layer has nonetheless, down to 4 points for each
_NEIGHBOUR_SHARE = 0.6  # of the cluster size; averaging over more would blur clusters into each other
_NOT_UNIT = 1e-3


def cluster(
    vectors: np.ndarray, options: ClusterOptions | None = None, *, ends: np.ndarray | None = None, apply: Apply = map
) -> Clustering:
    """Assign each entity to exactly one cluster.

    vectors: (n, d) float32, unit rows (others are scaled to length one); of more than two million, regions are
    clustered one by one from averages on the disk. ends: (r, 2) rows that relations join, for the facts alone. apply
    maps a pure function over batches and yields results in order (threads, processes, a cluster of machines). The same
    input gives the same labels whatever the number of threads and with any apply.
    Raises TooFewEntities for no rows, InvalidVectors for rows that are zero or not finite. Source: LeanRAG, recursive
    semantic clustering; hard assignment to the most responsible component, so that the hierarchy is a tree.
    """
    options = options or ClusterOptions()
    if options.reference is None and len(vectors) > IN_MEMORY and np.ndim(vectors) == 2:
        return _cluster_on_disk(vectors, options, ends, apply)
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


IN_MEMORY = 2_000_000  # vectors; more are averaged on the disk, and clustered region by region
GRAIN = Grain()
_CLUSTERS_A_REGION = 50  # at least


def _cluster_on_disk(vectors: np.ndarray, options: ClusterOptions, ends: np.ndarray | None, apply: Apply) -> Clustering:
    """Cluster vectors region by region, with as many components in each as its share of the rows. vectors: (n, d).
    ends: (r, 2), see cluster().

    Raises StorageFailed when the folder for temporary files has no room for 3 n d bytes.
    """
    n = len(vectors)
    m = n_components(n, options.cluster_size)
    k = max(N_NEIGHBOURS, min(options.neighbours, round(_NEIGHBOUR_SHARE * options.cluster_size)))
    grain = replace(GRAIN, region=max(GRAIN.region, _CLUSTERS_A_REGION * options.cluster_size))
    with (
        one_blas_thread(),
        writing(message("clustering.averages")),
        TemporaryDirectory(prefix="leanrag-clusters-") as folder,
    ):
        regions = averaged_regions(
            vectors, Path(folder), n_neighbours=k, rounds=options.smoothing, seed=options.seed, grain=grain
        )
        seats = shared_out(np.array([len(places) for places in regions.places]), m)
        batches = (
            _Region(regions.averages.at(places), int(count), replace(options, smoothing=0))
            for places, count in zip(regions.places, seats, strict=True)
        )
        labels, first, likelihood = np.empty(n, dtype=np.int32), 0, 0.0
        for places, count, region_clusters in zip(regions.places, seats, apply(_cluster_region, batches), strict=True):
            labels[places] = first + region_clusters.labels
            first, likelihood = first + int(count), likelihood + region_clusters.likelihood * len(places) / n
        near = regions.neighbours_inside(labels, N_NEIGHBOURS)
    of_rows = np.empty_like(labels)
    of_rows[regions.order] = labels
    of_rows = numbered_by_first_row(of_rows)
    return _with_facts(of_rows, options, components=m, likelihood=likelihood, ends=ends, near=near)


@dataclass(frozen=True, eq=False)
class _Region:
    """codes: (n, d) int8, of averages. components: that they are to be clustered into."""

    codes: np.ndarray
    components: int
    options: ClusterOptions


@dataclass(frozen=True, eq=False)
class _RegionClusters:
    """labels: (n,) int32 below the number of components. likelihood: mean log likelihood; 0 for one component."""

    labels: np.ndarray
    likelihood: float


def _cluster_region(region: _Region) -> _RegionClusters:
    """Fit the mixture of one region; a pure function, so that any worker can."""
    if region.components == 1:
        return _RegionClusters(np.zeros(len(region.codes), dtype=np.int32), 0.0)
    with one_blas_thread():
        labels, fit, _ = _clustered(_checked(region.codes), region.components, region.options, map)
    return _RegionClusters(labels, fit.likelihood)


def shared_out(sizes: np.ndarray, m: int) -> np.ndarray:
    """Return m seats by size, at least one each, the largest remainders first; (regions,) int64. sizes: (regions,), at
    most m of them.
    """
    seats: np.ndarray = np.maximum(1, sizes * m // sizes.sum())
    n_left = m - int(seats.sum())
    if n_left > 0:
        seats[np.argsort(-(sizes * m % sizes.sum()), kind="stable")[:n_left]] += 1
    for _ in range(-n_left):  # the regions that were raised to one seat took too many
        seats[np.argmax(seats)] -= 1
    return seats


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
    return _with_facts(labels, options, components=components, likelihood=likelihood, ends=ends, near=near)


def _with_facts(
    labels: np.ndarray,
    options: ClusterOptions,
    *,
    components: int,
    likelihood: float | None,
    ends: np.ndarray | None,
    near: float,
) -> Clustering:
    """Return the clustering of these labels with its measures. labels: (n,) int32. ends: (r, 2), see described(). near:
    what neighbours_inside() gave."""
    inside = relations_inside(labels, ends)
    facts = ClusterFacts(
        nodes=len(labels),
        components=components,
        # A change of the products' last bit reaches the sixth decimal.
        likelihood=None if likelihood is None else round(likelihood, 3),
        **vars(cluster_sizes(labels)),
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
        max_clusters = max(n_components(len(vectors), options.cluster_size), fit.components)
        labels = split_and_joined(labels, fit.points, options.largest, max_clusters)
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
