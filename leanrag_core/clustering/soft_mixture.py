"""Soft clusters by Gaussian mixtures whose number of components follows from BIC, as RAPTOR makes them."""

from typing import Any

import numpy as np

DIMENSIONS = 10  # RAPTOR's, there by UMAP
MOST_COMPONENTS = 50
THRESHOLD = 0.1  # probability from which a point belongs to a component
_COUNTS = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, MOST_COMPONENTS)  # numbers that are tried
_POINTS_FOR_BIC = 2000
_ROUNDS = 50


def soft_clusters(vectors: np.ndarray, tokens: np.ndarray, *, max_tokens: int, seed: int) -> list[np.ndarray]:
    """Return the rows of each cluster, ascending int64; a row may be in several clusters.

    It is in every cluster to which it belongs with a probability above .1, and in its likeliest one. vectors: (n, d)
    float32. tokens: (n,) of each row; a cluster with more tokens than max_tokens is divided again, into two at least.
    First clusters of all rows, then clusters within each of these, both in ten principal components. The same vectors
    give the same clusters, whatever the number of threads. Source: Sarthi et al. 2024 (RAPTOR), section 3.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):  # sums in another order, on more threads, would give other bits
        clusters = _fitting(vectors, tokens, np.arange(len(vectors)), max_tokens, seed)
    distinct = {tuple(rows.tolist()): rows for rows in clusters}
    return list(distinct.values())


def _fitting(
    vectors: np.ndarray, tokens: np.ndarray, rows: np.ndarray, max_tokens: int, seed: int, least: int = 1
) -> list[np.ndarray]:
    """Cluster those rows; a cluster with too many tokens is divided again, into two at least.

    vectors: (n, d). tokens: (n,). rows: (r,) int64. Returns the rows of each cluster, ascending.
    """
    parts: list[np.ndarray] = []
    for part in _divided(vectors[rows], seed, least):
        within = rows[part]
        small = len(within) <= DIMENSIONS + 1
        parts += [within] if small else [within[deeper] for deeper in _divided(vectors[within], seed)]
    clusters: list[np.ndarray] = []
    for part in parts:
        divide = tokens[part].sum() > max_tokens and len(part) > 1 and (least == 1 or len(part) < len(rows))
        clusters += _fitting(vectors, tokens, part, max_tokens, seed, least=2) if divide else [part]
    return clusters


def _divided(vectors: np.ndarray, seed: int, least: int = 1) -> list[np.ndarray]:
    """Return the rows of each component that has any. vectors: (n, d). least: components that are tried at least."""
    n = len(vectors)
    if n <= 2 or (vectors == vectors[0]).all():
        return [np.arange(n)]
    points = _reduced(vectors)
    random = np.random.default_rng(seed)
    sample = points if n <= _POINTS_FOR_BIC else points[np.sort(random.choice(n, _POINTS_FOR_BIC, replace=False))]
    # Half of the points at most, so that a layer is smaller than the one below, and no component without a point.
    most = max(least, len(np.unique(np.round(sample, 6), axis=0)) // 2)
    counts = [count for count in _COUNTS if least <= count <= most]
    best = min(counts, key=lambda count: (_mixture(count, seed).fit(sample).bic(sample), count))
    if best == 1:
        return [np.arange(n)]
    probabilities = _mixture(best, seed).fit(points).predict_proba(points)
    belongs = probabilities > THRESHOLD
    belongs[np.arange(n), probabilities.argmax(axis=1)] = True
    return [rows for component in range(best) if len(rows := np.flatnonzero(belongs[:, component]))]


def _reduced(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors in at most ten principal components, (n, k) float64. vectors: (n, d)."""
    from sklearn.decomposition import PCA

    dimensions = min(DIMENSIONS, len(vectors) - 1, vectors.shape[1])
    return np.asarray(PCA(dimensions, svd_solver="covariance_eigh").fit_transform(vectors.astype(np.float64)))


def _mixture(components: int, seed: int) -> Any:
    from sklearn.mixture import GaussianMixture

    # Rows that are equal in all dimensions have no covariance of their own.
    return GaussianMixture(components, max_iter=_ROUNDS, reg_covar=1e-4, tol=1e-2, random_state=seed)
