"""The Gaussian mixture that groups the entities of one layer, fitted by expectation maximisation.

One weight and one mean for each component and one covariance, shared by all ("tied") and full: it needs few points a
component (they have about twenty), and cannot collapse on duplicated vectors. The maximum-likelihood covariance S is
shrunk, (1 - s) S + s trace(S)/k I + eps I with s = 0.1, the posterior mean under a weak inverse-Wishart prior. Whitened
by it, a log density is a squared distance. A point looks only at the 16 components nearest to its current one; the
others' responsibilities are nil in float32.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, product, row_blocks
from leanrag_core.clustering.kmeans import cells_of
from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.clustering.reduction import second_moment
from leanrag_core.system.library_threads import one_thread_in_scikit_learn

N_CANDIDATES = 16
_ITERATIONS = 10
_MOVING = 2  # first iterations, in which the nearest components are searched anew
_TOLERANCE = 1e-2  # gain in mean log likelihood below which the fit has settled
_SHRINKAGE = 0.1
_EPSILON = 1e-6
_NEGLIGIBLE = 1e-4  # responsibilities below are left out
_BLOCK = 4096
_COMPONENTS = 512  # whose points are added up in one go


@dataclass(frozen=True, eq=False)
class TiedMixture:
    """A Gaussian mixture with one covariance, in float64.

    log_weights: (m,). means: (m, k). whitening: (k, k), the inverse Cholesky factor W of the covariance, so that
    |W (x - mean)| is the Mahalanobis distance.
    """

    log_weights: np.ndarray
    means: np.ndarray
    whitening: np.ndarray

    @property
    def log_volume(self) -> float:
        """Constant term of every log density: log |det W| - k/2 log 2 pi."""
        k = int(self.means.shape[1])
        return float(np.log(np.diag(self.whitening)).sum()) - 0.5 * k * float(np.log(2 * np.pi))

    def whitened(self, points: np.ndarray) -> np.ndarray:
        """Return the points in whitened coordinates, (n, k) float32. points: (n, k)."""
        return product(points, self.whitening.T)


@dataclass(frozen=True, eq=False)
class Fit:
    """A mixture and what it says of each point.

    candidates: (n, c) int32, a point's likely components in falling order of log_joint: (n, c) float32, log of weight
    times density. likelihood: mean log likelihood of a point.
    """

    mixture: TiedMixture
    candidates: np.ndarray
    log_joint: np.ndarray
    likelihood: float

    @property
    def labels(self) -> np.ndarray:
        """The most responsible component of each point, (n,) int32."""
        return self.candidates[:, 0]


def shrunk(scatter: np.ndarray) -> np.ndarray:
    """Return the covariance that a scatter matrix estimates, shrunk as the module says; both (k, k) float64."""
    scatter = (scatter + scatter.T) / 2
    k = len(scatter)
    spread = max(float(np.trace(scatter)) / k, 0.0)
    return (1 - _SHRINKAGE) * scatter + (_SHRINKAGE * spread + _EPSILON) * np.eye(k)


def whitening_of(covariance: np.ndarray) -> np.ndarray:
    """Return W, lower triangular, with W covariance W.T = I; both (k, k) float64."""
    return np.linalg.inv(np.linalg.cholesky(covariance))


def fit_mixture(points: np.ndarray, labels: np.ndarray, m: int) -> Fit:
    """Fit a mixture of m components by expectation maximisation that starts from a partition.

    points: (n, k) float32, centred. labels: (n,) int, each of 0 ... m-1 used. A component that loses every point keeps
    its mean and a weight near zero.
    """
    moment = second_moment(points, np.zeros(points.shape[1]))
    mixture = _of_partition(points, moment, labels, m)
    previous, near = -np.inf, None
    for step in range(_ITERATIONS):
        if step < _MOVING:
            near = nearest_components(mixture)
        fit = expectation(mixture, points, labels, near)
        if fit.likelihood - previous < _TOLERANCE:
            break
        previous = fit.likelihood
        labels = fit.labels
        mixture = _maximised(points, moment, *_responsibilities(fit), mixture.means)
    return fit


def fit_of_partition(points: np.ndarray, labels: np.ndarray, m: int) -> Fit:
    """Fit the mixture that the partition itself makes, without any iteration.

    points: (n, k) float32, centred. labels: (n,) int, each of 0 ... m-1 used.
    """
    moment = second_moment(points, np.zeros(points.shape[1]))
    return expectation(_of_partition(points, moment, labels, m), points, labels)


def _of_partition(points: np.ndarray, moment: np.ndarray, labels: np.ndarray, m: int) -> TiedMixture:
    """Return the mixture in which each point belongs wholly to the component of its label.

    points: (n, k) float32, centred. moment: (k, k) float64, see second_moment(). labels: (n,) int.
    """
    n, k = points.shape
    return _maximised(points, moment, labels, np.ones(n, dtype=np.float32), np.arange(n + 1), np.zeros((m, k)))


def expectation(mixture: TiedMixture, points: np.ndarray, labels: np.ndarray, near: np.ndarray | None = None) -> Fit:
    """Compute how well each point fits the components near to the one that it is in (the E-step).

    points: (n, k) float32. labels: (n,) int. near: (m, c) int32, from nearest_components().
    """
    near = nearest_components(mixture) if near is None else near
    n, c = len(points), near.shape[1]
    centres = mixture.whitened(mixture.means.astype(np.float32))
    constants = (mixture.log_weights - 0.5 * np.einsum("ij,ij->i", centres, centres)).astype(np.float32)
    candidates = np.empty((n, c), dtype=np.int32)
    log_joint = np.empty((n, c), dtype=np.float32)

    def look(rows: slice) -> float:
        white = mixture.whitened(points[rows])
        nearby = near[labels[rows]]
        scores = np.matmul(centres[nearby], white[:, :, None])[:, :, 0]
        scores += constants[nearby]
        scores -= 0.5 * np.einsum("ij,ij->i", white, white)[:, None]
        falling = np.argsort(-scores, axis=1, kind="stable")
        candidates[rows] = np.take_along_axis(nearby, falling, axis=1)
        log_joint[rows] = scores = np.take_along_axis(scores, falling, axis=1)
        return float((scores[:, 0] + np.log(np.exp(scores - scores[:, :1]).sum(axis=1))).sum(dtype=np.float64))

    total = sum(over_blocks(look, row_blocks(n, _BLOCK)))
    return Fit(mixture, candidates, log_joint, total / n + mixture.log_volume)


def nearest_components(mixture: TiedMixture) -> np.ndarray:
    """Return the 16 components nearest to each (all, if there are fewer), itself first; (m, c) int32."""
    centres = mixture.whitened(mixture.means.astype(np.float32))
    itself = np.arange(len(centres), dtype=np.int32)[:, None]
    if len(centres) == 1:
        return itself
    return np.concatenate([itself, nearest_neighbours(centres, min(N_CANDIDATES, len(centres)) - 1)], axis=1)


def _responsibilities(fit: Fit) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sparse responsibilities: components, (e,) int, and their values, (e,), point after point, and (n + 1,)
    int offsets of the points."""
    values = np.exp(fit.log_joint - fit.log_joint[:, :1])
    values /= values.sum(axis=1, keepdims=True)
    kept = values > _NEGLIGIBLE
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return fit.candidates[kept], values[kept], offsets


def _maximised(
    points: np.ndarray,
    moment: np.ndarray,
    components: np.ndarray,
    values: np.ndarray,
    offsets: np.ndarray,
    old_means: np.ndarray,
) -> TiedMixture:
    """Return the mixture that maximises the likelihood under these responsibilities (the M-step).

    points: (n, k) float32. moment: (k, k) float64. components, values, offsets: see _responsibilities(). old_means: (m,
    k), kept by a component without points.
    """
    from scipy import sparse

    n, m = len(points), len(old_means)
    shares = sparse.csr_array((values.astype(np.float64), components, offsets), (n, m)).T.tocsr()
    counts = np.bincount(components, weights=values, minlength=m)

    def summed(block: slice) -> np.ndarray:
        """Return the weighted sums of the points of these components, (components, k) float64."""
        first, last = shares.indptr[block.start], shares.indptr[block.stop]
        members = points[shares.indices[first:last]].astype(np.float64)
        starts = shares.indptr[block.start : block.stop + 1] - first
        part = (shares.data[first:last], np.arange(last - first), starts)
        return np.asarray(sparse.csr_array(part, (len(starts) - 1, last - first)) @ members)

    sums = np.concatenate(list(over_blocks(summed, row_blocks(m, _COMPONENTS))))
    alive = counts > 1e-8
    means = np.where(alive[:, None], sums / np.maximum(counts, 1e-8)[:, None], old_means)
    scatter = (moment - (means * counts[:, None]).T @ means) / n
    return TiedMixture(np.log(np.maximum(counts, 1e-8) / n), means, whitening_of(shrunk(scatter)))


DIMENSIONS = 10  # RAPTOR's, there by UMAP
MOST_COMPONENTS = 50
THRESHOLD = 0.1  # probability from which a point belongs to a component
_COUNTS = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, MOST_COMPONENTS)  # numbers that are tried
_POINTS_FOR_BIC = 2000
_ROUNDS = 50
_AT_ONCE = 4000  # rows; more are parted into cells first
_CELL, _LARGEST_CELL = 400, 800


def soft_clusters(vectors: np.ndarray, tokens: np.ndarray, *, max_tokens: int, seed: int) -> list[np.ndarray]:
    """Return the rows of each cluster, ascending int64; a row may be in several clusters.

    It is in every cluster to which it belongs with a probability above .1, and in its likeliest one. vectors: (n, d)
    float32. tokens: (n,) of each row; a cluster with more tokens than max_tokens is divided again, into two at least.
    First clusters of all rows, then clusters within each of these, both in ten principal components. Of more than 4,000
    rows the first clusters are k-means cells of some 400 rows in these ten components, and mixtures are fitted within a
    cell, so that the time grows no faster than the rows; no row is then in clusters of two cells. The same vectors give
    the same clusters, whatever the number of threads. Source: Sarthi et al. 2024 (RAPTOR), section 3.
    """
    with one_thread_in_scikit_learn():  # sums in another order, on more threads, would give other bits
        clusters = [
            cluster for rows in _cells(vectors, seed) for cluster in _fitting(vectors, tokens, rows, max_tokens, seed)
        ]
    distinct = {tuple(rows.tolist()): rows for rows in clusters}
    return list(distinct.values())


def _cells(vectors: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return the rows of each cell, ascending int64; one cell up to 4,000 rows. vectors: (n, d)."""
    if len(vectors) <= _AT_ONCE:
        return [np.arange(len(vectors))]
    cell, _ = cells_of(_reduced(vectors).astype(np.float32), _CELL, largest=_LARGEST_CELL, seed=seed)
    order = np.argsort(cell, kind="stable")
    return np.split(order, np.cumsum(np.bincount(cell))[:-1])


def _fitting(
    vectors: np.ndarray, tokens: np.ndarray, rows: np.ndarray, max_tokens: int, seed: int, least: int = 1
) -> list[np.ndarray]:
    """Cluster those rows; a cluster with too many tokens is divided again, into two at least.

    vectors: (n, d). tokens: (n,). rows: (r,) int64. least: the lowest number of clusters that is tried at first.
    Returns the rows of each cluster, (k,) int64, ascending.
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
    """Return the rows, (k,) int64, of each component that has any. vectors: (n, d). least: the lowest number of
    components that is tried."""
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
