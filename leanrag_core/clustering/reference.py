"""The reference engine: scikit-learn's GaussianMixture as it is, with the choices of the released LeanRAG code.

The engine of clusters.py fits one tied covariance from local merges, so that a million entities take minutes. This one
computes every density of every component; it is for studies on small corpora: other covariances, the number of
components by BIC, UMAP before the fit.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.system.library_threads import one_thread_in_scikit_learn

_MOST_BY_BIC = 49  # the released code tries 1 ... 49 components
_MOST_WORK = 5e10  # multiplications of one round over all points: some 10 s on a core
_LEAST_CHANGE = 1e-3  # of BIC from one count to the next, relative; the released scan ends below it
_RELEASED_DIMENSIONS = 2  # of UMAP in the released code
_RELEASED_STARTS = 5
_UMAP_NEIGHBOURS = 15
_UMAP_LEAST = 3  # UMAP refuses a point with a single neighbour; fewer points stay as they are
_ROUNDS = 100  # of expectation maximisation, scikit-learn's default


@dataclass(frozen=True)
class ReferenceOptions:
    """What the mixture is fitted to, and how.

    covariance: "tied" (one for all components), "full" or "diag" (one for each). count: "size" takes
    ceil(n / cluster_size) components, "bic" takes max(n // cluster_size, the count of lowest BIC), as the released code
    does: counts from 1 to 49 are tried until BIC hardly changes. reduction: "pca" to `space` dimensions, "umap" to 2 by
    cosine (package umap-learn), or "none". starts: "one" by k-means, or the best of five by k-means++ ("released").
    """

    covariance: str = "tied"
    count: str = "size"
    reduction: str = "pca"
    starts: str = "one"

    def settings(self) -> dict[str, str]:
        """Return the options by name, as a report records them."""
        return {"engine": "reference", **asdict(self)}


@dataclass(frozen=True, eq=False)
class ReferenceFit:
    """labels: (n,) int32 most responsible component. points: (n, k) float32 that the mixture was fitted to.
    components: as asked of the mixture. likelihood: mean log density of a point."""

    labels: np.ndarray
    points: np.ndarray
    components: int
    likelihood: float


def fit_reference(
    vectors: np.ndarray, options: ReferenceOptions, *, cluster_size: int, space: int, seed: int
) -> ReferenceFit:
    """Fit scikit-learn's mixture to the vectors; the same vectors and seed give the same labels.

    vectors: (n, d) float32, n at least 2. Raises InvalidConfig for a fit that would take too long, with the limit, and
    for UMAP where umap-learn is not installed. Source: LeanRAG, recursive semantic clustering, and its released code.
    """
    n = len(vectors)
    dimensions = _dimensions(vectors, options, space)
    counts = _candidate_counts(n, cluster_size, options.count)
    _refuse_too_large(n, dimensions, counts, options)
    with one_thread_in_scikit_learn():  # sums in another order, on more threads, would give other bits
        points = _reduced(vectors, options.reduction, dimensions, seed)
        if options.count == "bic":
            components = max(n // cluster_size, _count_of_lowest_bic(points, counts, options, seed))
        else:
            components = counts[0]
        components = min(components, _most_components(n))
        mixture = _mixture(components, options, seed).fit(points)
        return ReferenceFit(
            labels=mixture.predict(points).astype(np.int32),
            points=points.astype(np.float32),
            components=components,
            likelihood=float(mixture.score(points)),
        )


def most_by_bic(n: int) -> int:
    """Return the most components that BIC may choose for n points."""
    return min(_MOST_BY_BIC, _most_components(n))


def _most_components(n: int) -> int:
    """Return half of the points, so that every layer is at most half of the one below and the recursion ends."""
    return max(1, n // 2)


def _candidate_counts(n: int, cluster_size: int, count: str) -> list[int]:
    if count == "bic":
        return list(range(1, most_by_bic(n) + 1))
    return [-(-n // cluster_size)]


def _dimensions(vectors: np.ndarray, options: ReferenceOptions, space: int) -> int:
    """Return the number of dimensions in which the mixture is fitted. vectors: (n, d)."""
    n, d = len(vectors), int(vectors.shape[1])
    if options.reduction == "none":
        return d
    return min(_RELEASED_DIMENSIONS if options.reduction == "umap" else space, d, n)


def _refuse_too_large(n: int, dimensions: int, counts: list[int], options: ReferenceOptions) -> None:
    per_density = dimensions if options.covariance == "diag" else dimensions * dimensions
    work = float(n) * per_density * sum(counts) * _n_starts(options)
    if work > _MOST_WORK:
        raise InvalidConfig(
            "clustering.reference_too_large",
            n=n,
            components=counts[-1],
            dimensions=dimensions,
            times=round(work / _MOST_WORK, 1),
        )


def _reduced(vectors: np.ndarray, reduction: str, dimensions: int, seed: int) -> np.ndarray:
    """Return the vectors in `dimensions` dimensions, (n, dimensions) float64. vectors: (n, d) float32."""
    if reduction == "pca":
        from sklearn.decomposition import PCA

        return np.asarray(PCA(dimensions, svd_solver="covariance_eigh").fit_transform(vectors.astype(np.float64)))
    if reduction == "umap":
        try:
            from umap import UMAP
        except ImportError as error:
            raise InvalidConfig("clustering.umap_missing") from error
        if len(vectors) < _UMAP_LEAST:
            return vectors.astype(np.float64)
        neighbours = min(_UMAP_NEIGHBOURS, len(vectors) - 1)
        # Few points have no spectral embedding to start from.
        start = "spectral" if len(vectors) > neighbours + _RELEASED_DIMENSIONS else "random"
        reducer = UMAP(
            n_components=dimensions,
            n_neighbors=neighbours,
            metric="cosine",
            init=start,
            random_state=seed,
            n_jobs=1,
        )
        return np.asarray(reducer.fit_transform(vectors), dtype=np.float64)
    return vectors.astype(np.float64)


def _mixture(components: int, options: ReferenceOptions, seed: int) -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(
        components,
        covariance_type=options.covariance,
        max_iter=_ROUNDS,
        n_init=_n_starts(options),
        init_params="kmeans" if options.starts == "one" else "k-means++",
        random_state=seed,
    )


def _n_starts(options: ReferenceOptions) -> int:
    return 1 if options.starts == "one" else _RELEASED_STARTS


def _count_of_lowest_bic(points: np.ndarray, counts: list[int], options: ReferenceOptions, seed: int) -> int:
    """Return the count of lowest BIC, the smaller of equal ones, among those up to the first that hardly changes it.

    points: (n, dimensions) float64.
    """
    scores = list[float]()
    for count in counts:
        # Rounded, so that processors which add up in another order choose alike.
        scores.append(round(float(_mixture(count, options, seed).fit(points).bic(points)), 3))
        if len(scores) > 1 and abs(scores[-2] - scores[-1]) < _LEAST_CHANGE * abs(scores[-2]):
            break
    return counts[int(np.argmin(scores))]
