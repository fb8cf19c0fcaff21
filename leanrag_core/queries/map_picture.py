"""What the map of a layer shows: its sample, the clusters of every layer above, and the seeds of a question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.figures.embedding_map import MapCluster, MapPlaces, largest_clusters, places_of, weighted_place
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True, eq=False)
class LayerClusters:
    """The clusters of a layer on the map. cluster_of: (p,) position in `clusters` of each drawn point, -1 for one in
    another cluster. ids, names: of `clusters`. n_others: clusters without a colour; others_size: their entities."""

    layer: int
    clusters: tuple[MapCluster, ...]
    ids: tuple[str, ...]
    names: tuple[str, ...]
    cluster_of: np.ndarray
    n_others: int
    others_size: int


@dataclass(frozen=True)
class MapSeed:
    """A ranked item of the last question on the map. in_context: whether the context's budget had room for it."""

    id: str
    row: int
    name: str
    rank: int
    score: float | None
    place: tuple[float, float]
    in_context: bool


@dataclass(frozen=True)
class MapQuestion:
    """The last question on the map, at the mean of its seeds' places weighted by their cosines."""

    text: str
    place: tuple[float, float]
    seeds: tuple[MapSeed, ...]


def parents_of(index: Index, number: int, rows: np.ndarray, above: int) -> np.ndarray:
    """Return the rows, in layer `above`, that those rows of layer `number` belong to; (k,) int."""
    for layer in index.layers[number:above]:
        rows = layer.parent[rows]
    return np.asarray(rows)


def layer_clusters(index: Index, number: int, above: int, shown: MapPlaces, most: int) -> LayerClusters:
    """Return the clusters of layer `above` over the drawn points of layer `number`, the largest ones with a colour."""
    upper = index.layers[above]
    sizes = np.bincount(parents_of(index, number, np.arange(len(index.layers[number])), above), minlength=len(upper))
    cluster_of = parents_of(index, number, shown.rows, above)
    clusters = largest_clusters(shown.places, cluster_of, sizes, most)
    position = np.full(len(upper), -1, dtype=np.int64)
    position[[cluster.row for cluster in clusters]] = np.arange(len(clusters))
    texts = upper.entities.select(["id", "name"]).take(pa.array([cluster.row for cluster in clusters], pa.int64()))
    return LayerClusters(
        above,
        tuple(clusters),
        tuple(texts["id"].to_pylist()),
        tuple(texts["name"].to_pylist()),
        position[cluster_of],
        int((sizes > 0).sum()) - len(clusters),
        int(sizes.sum()) - sum(cluster.size for cluster in clusters),
    )


def map_question(index: Index, number: int, shown: MapPlaces, trace: Trace) -> MapQuestion | None:
    """Return the question with its seeds of that layer; None where it has none there."""
    layer = index.layers[number]
    ranked = [
        item
        for item in trace.nodes
        if item.rank is not None and item.layer == number and item.row is not None and item.row < len(layer)
    ]
    if not ranked or not len(shown.rows):
        return None
    ranked.sort(key=lambda item: item.rank or 0)
    rows = [item.row for item in ranked if item.row is not None]
    places = places_of(layer.vectors, rows, shown)
    written = {item.ref for section in trace.context.sections for item in section.items}
    scores = np.array([item.score if item.score is not None else 1.0 for item in ranked])
    seeds = tuple(
        MapSeed(item.id, row, item.name, item.rank or 0, item.score, _pair(place), item.id in written)
        for item, row, place in zip(ranked, rows, places, strict=True)
    )
    return MapQuestion(trace.question, _pair(weighted_place(places, scores)), seeds)


def _pair(place: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Return a place, (2,), as a pair of numbers."""
    return float(place[0]), float(place[1])
