"""Recursive semantic clustering: the Gaussian mixture that groups the entities of one layer.

The mixture has one weight and one mean for each component and one covariance, shared by all ("tied") and full, in a
space of at most 32 principal components. A tied covariance needs few points a component, which twenty are, and cannot
collapse on duplicated vectors. The maximum-likelihood covariance S is shrunk, (1 - s) S + s trace(S)/k I + eps I with
s = 0.1, the posterior mean under a weak inverse-Wishart prior.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from leanrag_core.clustering.capacity import assign_within_capacity
from leanrag_core.clustering.reduction import principal_components
from leanrag_core.errors import InvalidConfig, InvalidVectors, TooFewEntities

_DIMENSIONS = 32
_POINTS_A_DIMENSION = 4  # fewer would let the shared covariance fit noise
_ITERATIONS = 30
_TOLERANCE = 1e-3  # gain in mean log likelihood below which the fit has settled
_SHRINKAGE = 0.1
_EPSILON = 1e-6
_BLOCK = 1024  # rows whose responsibilities are held at a time


def n_components(n: int, cluster_size: int) -> int:
    """m = ceil(n / cluster_size), the number of components for n entities (section 3.1)."""
    if cluster_size < 2:
        raise InvalidConfig(f"cluster_size is {cluster_size}; the smallest value is 2, or layers would never shrink")
    return -(-n // cluster_size)


def cluster_entities(vectors: np.ndarray, *, cluster_size: int, size_cap: bool = True, seed: int = 0) -> np.ndarray:
    """Assign each entity to exactly one cluster.

    vectors: (n, d) float32, unit rows. Returns (n,) int32 labels, 0 ... m'-1, every label used, m' <= ceil(n /
    cluster_size), numbered by their first row. With size_cap no label is used more than 2 x cluster_size times.
    The same input gives the same labels whatever the number of threads. Raises TooFewEntities for no rows,
    InvalidVectors for values that are not finite. Source: LeanRAG, recursive semantic clustering; hard assignment to
    the most responsible component, so that the hierarchy is a tree.
    """
    n = len(vectors)
    if n == 0:
        raise TooFewEntities("there are no entities to cluster: extract some first")
    if not np.isfinite(vectors).all():
        raise InvalidVectors("an entity's vector holds NaN or infinity: embed the entities again")
    m = n_components(n, cluster_size)
    if m == 1:
        return np.zeros(n, dtype=np.int32)
    from threadpoolctl import threadpool_limits

    # Sums over threads depend on their number in the last bits, and one bit can move an entity.
    with threadpool_limits(limits=1):
        dimensions = min(_DIMENSIONS, max(2, n // _POINTS_A_DIMENSION))
        points = principal_components(vectors, dimensions)
        mixture = fit_mixture(points, m, seed=seed)
        best, margin = mixture.assign(points)
        if size_cap:
            best = assign_within_capacity(
                best, margin, 2 * cluster_size, m, lambda row: mixture.log_joint(points[row : row + 1])[0]
            )
    return numbered_by_first_row(best)


def numbered_by_first_row(labels: np.ndarray) -> np.ndarray:
    """The same partition with labels 0, 1, ... in the order of their first rows; (n,) int32."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return rank[inverse]


@dataclass(frozen=True, eq=False)
class TiedMixture:
    """A Gaussian mixture with one covariance. log_weights: (m,). means: (m, k). whitening: (k, k), the inverse
    Cholesky factor W of the covariance, so that |W (x - mean)| is the Mahalanobis distance."""

    log_weights: np.ndarray
    means: np.ndarray
    whitening: np.ndarray

    def log_joint(self, points: np.ndarray) -> np.ndarray:
        """(n, m) log of weight times density, but for the constant that all components share."""
        white = points @ self.whitening.T
        centres = self.means @ self.whitening.T
        scores = white @ centres.T
        scores -= 0.5 * np.einsum("ij,ij->i", white, white)[:, None]
        scores += self.log_weights - 0.5 * np.einsum("ij,ij->i", centres, centres)
        return scores

    def assign(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) most responsible component of each point, and (n,) its log posterior over the second best's."""
        best, margin = [], []
        for start in range(0, len(points), _BLOCK):
            scores = self.log_joint(points[start : start + _BLOCK])
            rows = np.arange(len(scores))
            first = scores.argmax(axis=1)
            top = scores[rows, first]
            scores[rows, first] = -np.inf
            best.append(first)
            margin.append(top - scores.max(axis=1))
        return np.concatenate(best), np.concatenate(margin)


def fit_mixture(points: np.ndarray, m: int, *, seed: int) -> TiedMixture:
    """The mixture of m components that expectation maximisation reaches from a k-means start.

    points: (n, k) float64, m <= n. Components that no point belongs to keep a weight near zero.
    """
    labels, centres = _kmeans_start(points, m, seed)
    counts = np.bincount(labels, minlength=m).astype(np.float64)
    # The centres may lag a step behind the labels; the scatter needs the sums of the labels themselves.
    sums = np.stack([np.bincount(labels, weights=column, minlength=m) for column in points.T], axis=1)
    second_moment = points.T @ points
    mixture = _maximised(counts, sums, second_moment, len(points), centres)
    previous = -np.inf
    for _ in range(_ITERATIONS):
        likelihood, counts, sums = _expectation(mixture, points)
        mixture = _maximised(counts, sums, second_moment, len(points), mixture.means)
        if likelihood - previous < _TOLERANCE:
            break
        previous = likelihood
    return mixture


def _kmeans_start(points: np.ndarray, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():  # fewer distinct points than components is no fault here
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = KMeans(n_clusters=m, n_init=1, max_iter=20, random_state=seed).fit(points)
    return start.labels_, start.cluster_centers_


def _expectation(mixture: TiedMixture, points: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mean log likelihood, (m,) sums of responsibilities and (m, k) their weighted sums of points."""
    m, k = mixture.means.shape
    total, counts, sums = 0.0, np.zeros(m), np.zeros((m, k))
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        scores = mixture.log_joint(block)
        top = scores.max(axis=1, keepdims=True)
        np.exp(scores - top, out=scores)
        norm = scores.sum(axis=1, keepdims=True)
        total += float((top + np.log(norm)).sum())
        scores /= norm
        counts += scores.sum(axis=0)
        sums += scores.T @ block
    volume = float(np.log(np.diag(mixture.whitening)).sum()) - 0.5 * k * np.log(2 * np.pi)
    return total / len(points) + volume, counts, sums


def _maximised(
    counts: np.ndarray, sums: np.ndarray, second_moment: np.ndarray, n: int, old_means: np.ndarray
) -> TiedMixture:
    from scipy.linalg import cholesky, solve_triangular

    alive = counts > 1e-8
    means = np.where(alive[:, None], sums / np.maximum(counts, 1e-8)[:, None], old_means)
    scatter = (second_moment - (means * counts[:, None]).T @ means) / n
    scatter = (scatter + scatter.T) / 2
    k = len(scatter)
    spread = max(float(np.trace(scatter)) / k, 0.0)
    covariance = (1 - _SHRINKAGE) * scatter + (_SHRINKAGE * spread + _EPSILON) * np.eye(k)
    whitening = solve_triangular(cholesky(covariance, lower=True), np.eye(k), lower=True)
    return TiedMixture(np.log(np.maximum(counts, 1e-8) / n), means, whitening)
