"""clustersize: how well the mixture fits, and how stable its clusters are, for several sizes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from leanrag_core.clustering.clusters import cluster, dimensions
from leanrag_core.clustering.options import Clustering, ClusterOptions, n_components
from leanrag_core.types.suggestion import SizeEvidence

SIZES = (5, 8, 12, 16, 20, 25, 30, 40, 60)
MOST_ENTITIES = 3_000  # that are clustered; more would take longer than a person waits
_SAMPLE_SHARE = 0.8
_LEAST_CLUSTERS = 3  # in a sample; with fewer, any clustering agrees with any other
_EQUAL_FIT = 0.15  # of the span of all BICs: sizes this near to the lowest fit about as well
PAPER_SIZE = 20


def tried_sizes(
    vectors: np.ndarray, ends: np.ndarray, options: ClusterOptions, n_entities: int, *, out_of_time: Callable[[], bool]
) -> Iterator[SizeEvidence]:
    """Yield the evidence for each size of SIZES that the layer is large enough for, until the time is over.

    vectors: (n, d) float32, unit rows, of all entities or a sample. ends: (r, 2) int rows that relations join.
    n_entities: of the whole layer.
    """
    n = len(vectors)
    kept = round(_SAMPLE_SHARE * n)
    draw = np.random.default_rng([options.seed, n])
    first, second = (np.sort(draw.choice(n, kept, replace=False)) for _ in range(2))
    _, in_first, in_second = np.intersect1d(first, second, return_indices=True)
    for size in SIZES:
        if n_components(kept, size) < _LEAST_CLUSTERS or out_of_time():
            return
        sized = replace(options, cluster_size=size)
        first_clusters, other = (cluster(vectors[rows], sized) for rows in (first, second))
        likelihood, bic = _fit(first_clusters, sized, kept)
        counts = _layer_counts(n_entities, size)
        yield SizeEvidence(
            cluster_size=size,
            likelihood=likelihood,
            bic=bic,
            stability=round(_agreement(first_clusters.labels[in_first], other.labels[in_second]), 4),
            relations_inside=_inside(first_clusters.labels, first, ends, n),
            layers=len(counts) + 1,
            aggregated=sum(counts),
        )


def best_size(tried: tuple[SizeEvidence, ...]) -> SizeEvidence:
    """Choose, of the sizes that fit about as well as the best by BIC, the most stable one; of all sizes where there
    is no BIC.

    tried: at least one.
    """
    scores = [size.bic for size in tried if size.bic is not None]
    fitting = list(tried)
    if scores:
        worst_fitting = min(scores) + _EQUAL_FIT * (max(scores) - min(scores))
        fitting = [size for size in tried if size.bic is not None and size.bic <= worst_fitting]
    return max(fitting, key=lambda size: (size.stability, -abs(size.cluster_size - PAPER_SIZE)))


def _fit(clustering: Clustering, options: ClusterOptions, n: int) -> tuple[float | None, float | None]:
    """Return the mean log likelihood, and BIC for each entity: means, weights and one covariance are the parameters."""
    likelihood = clustering.facts.likelihood
    if likelihood is None or options.reference is not None:
        return likelihood, None
    k, m = dimensions(n, options.space), clustering.facts.components
    parameters = m * k + (m - 1) + k * (k + 1) / 2
    return likelihood, round(-2 * likelihood + parameters * float(np.log(n)) / n, 4)


def _agreement(labels: np.ndarray, other: np.ndarray) -> float:
    """Return the adjusted Rand index of two clusterings. labels, other: (n,) int, of the same entities."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(labels, other))


def _inside(labels: np.ndarray, rows: np.ndarray, ends: np.ndarray, n: int) -> float | None:
    """Return the share of relations within a cluster; None without relations between these rows.

    labels: (m,) int clusters of the sampled entities. rows: (m,) int rows of these in the layer of n. ends: (r, 2)
    int rows that relations join.
    """
    label_of = np.full(n, -1, dtype=np.int64)
    label_of[rows] = labels
    pairs = label_of[ends]
    pairs = pairs[(pairs >= 0).all(axis=1)] if len(pairs) else pairs
    return round(float((pairs[:, 0] == pairs[:, 1]).mean()), 4) if len(pairs) else None


def _layer_counts(n_entities: int, size: int) -> list[int]:
    """Count the aggregated entities of each layer above the base."""
    counts = []
    while n_entities > 1:
        n_entities = n_components(n_entities, size)
        counts.append(n_entities)
    return counts
