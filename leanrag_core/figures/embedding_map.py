"""A layer's embeddings in the plane: a fixed sample keeps its neighbours (t-SNE), whatever else is to be seen is placed
between the sampled entities that are nearest to it.

The projection has no formula for a new vector. So an entity outside the sample is drawn at the mean of the places of
its nearest sampled entities, and a question at the mean of the places of the entities that it met, both weighted by the
cosine. Distances in the plane are no cosines: t-SNE keeps who is near, not how far.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.figures.regions import dense_regions
from leanrag_core.system.library_threads import one_thread_in_scikit_learn

SAMPLE = 1500  # points that can be told apart, and that t-SNE places in some two seconds
RULES = "2"  # version of everything that decides a place; raise it when places change
_DIMENSIONS = 30  # that t-SNE starts from
_NEIGHBOURS = 5  # between which an entity outside the sample is placed
_ITERATIONS = 400


@dataclass(frozen=True, eq=False)
class MapPlaces:
    """rows: (p,) rows of the layer that are in the sample, ascending. places: (p, 2) float32 from 0 to 1."""

    rows: np.ndarray
    places: np.ndarray


@dataclass(frozen=True, eq=False)
class MapCluster:
    """A cluster that has a colour and, where there is room, a name. row: in its layer. size: of its entities of the
    layer that is drawn. centre: the median of its points, from 0 to 1. regions: see dense_regions."""

    row: int
    size: int
    centre: tuple[float, float]
    regions: tuple[np.ndarray, ...]


def sample_rows(n: int) -> np.ndarray:
    """Return (p,) rows of n, p <= SAMPLE, evenly chosen: the same each time."""
    return np.arange(n) if n <= SAMPLE else np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))


def embedding_places(vectors: np.ndarray) -> MapPlaces:
    """Return the sample of a layer in the plane. vectors: (n, d) unit rows. The same vectors give the same places."""
    rows = sample_rows(len(vectors))
    drawn = np.asarray(vectors[rows], dtype=np.float64)
    if min(drawn.shape) < 2 or not np.ptp(drawn, axis=0).any():  # a single place
        return MapPlaces(rows, np.full((len(rows), 2), 0.5, dtype=np.float32))
    with one_thread_in_scikit_learn():  # t-SNE adds up in another order on more threads, which wait more than they work
        return MapPlaces(rows, _fitted(_projected(drawn)))


def _projected(drawn: np.ndarray) -> np.ndarray:
    """Return (p, 2) places by t-SNE, by PCA alone for three points or fewer. drawn: (p, d) float64, not all alike."""
    from sklearn.decomposition import PCA

    # Exact, by the eigenvectors of the covariance; scikit-learn fixes the sign of each axis by its largest entry.
    dimensions = min(_DIMENSIONS, *drawn.shape)
    reduced = PCA(dimensions, svd_solver="covariance_eigh").fit_transform(drawn)
    plane = reduced[:, :2]
    if len(drawn) > 3:
        from sklearn.manifold import TSNE

        start = plane / max(float(plane[:, 0].std()), 1e-12) * 1e-4  # as t-SNE's own start from PCA, but without chance
        tsne = TSNE(
            2, init=start, perplexity=min(30.0, (len(drawn) - 1) / 3), max_iter=_ITERATIONS, random_state=0, n_jobs=1
        )
        plane = tsne.fit_transform(reduced)
    return np.asarray(plane)


def _fitted(plane: np.ndarray) -> np.ndarray:
    """Return the points from 0 to 1 on each axis; lengths mean nothing here, so the frame is filled. plane: (n, 2)."""
    low, high = plane.min(axis=0), plane.max(axis=0)
    span = high - low
    return np.asarray(np.where(span > 0, (plane - low) / np.where(span > 0, span, 1), 0.5), dtype=np.float32)


def places_of(vectors: np.ndarray, wanted: Sequence[int], shown: MapPlaces) -> np.ndarray:
    """Return (k, 2) places of those rows of the layer: their own where they are in the sample, else between the sampled
    entities that are nearest to them. vectors: (n, d) of the layer."""
    at = np.searchsorted(shown.rows, wanted).clip(max=max(len(shown.rows) - 1, 0))
    places = np.array([shown.places[place] for place in at], dtype=np.float32).reshape(-1, 2)
    for number, (row, place) in enumerate(zip(wanted, at.tolist(), strict=True)):
        if shown.rows[place] != row:
            cosines = np.einsum("ij,j->i", np.asarray(vectors[shown.rows]), np.asarray(vectors[row]))
            near = np.argsort(-cosines, kind="stable")[:_NEIGHBOURS]
            places[number] = weighted_place(shown.places[near], cosines[near])
    return places


def weighted_place(places: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Return (2,) the mean of the (k, 2) places weighted by their (k,) cosines, of which none counts below zero."""
    weights = np.maximum(np.asarray(cosines, dtype=np.float64), 0.0)
    if not weights.any():
        weights = np.ones(len(places))
    return np.asarray((places * weights[:, None]).sum(axis=0) / weights.sum(), dtype=np.float32)


def largest_clusters(places: np.ndarray, cluster_of: np.ndarray, sizes: np.ndarray, most: int) -> list[MapCluster]:
    """Return the largest clusters that have drawn points, at most so many. places: (p, 2) of the drawn points.
    cluster_of: (p,) int, the cluster of each. sizes: (clusters,) entities of each, drawn or not."""
    drawn = np.bincount(cluster_of, minlength=len(sizes))
    order = [int(row) for row in np.argsort(-sizes, kind="stable") if drawn[row] > 0]
    return [_cluster(places[cluster_of == row], row, int(sizes[row])) for row in order[:most]]


def _cluster(points: np.ndarray, row: int, size: int) -> MapCluster:
    """Return a cluster with the regions of its (p, 2) points."""
    x, y = np.median(points, axis=0).tolist()
    return MapCluster(row, size, (x, y), dense_regions(points))
