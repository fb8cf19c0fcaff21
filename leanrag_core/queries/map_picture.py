"""What the map of a layer shows, and how the clusters over its places form, layer by layer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.figures.embedding_map import MapCluster, MapPlaces, largest_clusters, places_of, weighted_place
from leanrag_core.types.index import Index
from leanrag_core.types.rows import place_of_each
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


def layer_clusters(index: Index, number: int, above: int, shown: MapPlaces, most: int) -> LayerClusters:
    """Return the clusters of layer `above` over the drawn points of layer `number`, the largest ones with a colour."""
    upper = index.layers[above]
    sizes = np.bincount(index.lifted(np.arange(len(index.layers[number])), number, above), minlength=len(upper))
    cluster_of = index.lifted(shown.rows, number, above)
    clusters = largest_clusters(shown.places, cluster_of, sizes, most)
    position = place_of_each([cluster.row for cluster in clusters], len(upper))
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
    in_context = trace.context.mark_of
    scores = np.array([item.score if item.score is not None else 1.0 for item in ranked])
    seeds = tuple(
        MapSeed(item.id, row, item.name, item.rank or 0, item.score, _pair(place), item.id in in_context)
        for item, row, place in zip(ranked, rows, places, strict=True)
    )
    return MapQuestion(trace.question, _pair(weighted_place(places, scores)), seeds)


def _pair(place: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Return a place, (2,), as a pair of numbers."""
    return float(place[0]), float(place[1])


_NAMED = 10  # clusters of a layer that have a name, and lead to the inspector


@dataclass(frozen=True)
class NamedCluster:
    """A cluster with a name. drawn: its position among the clusters that have drawn points. size: base entities."""

    id: str
    name: str
    drawn: int
    size: int


@dataclass(frozen=True, eq=False)
class FormedLayer:
    """A layer that forms from the one below. cluster_of: (p,) of each drawn point, without gaps. below, clusters:
    entities of the layer below and of this one. largest, largest_name: members of the largest, in the layer below.
    singletons: clusters of one. summarised, joined: relations between the clusters, with lambda above tau and up to it.
    """

    layer: int
    cluster_of: np.ndarray
    named: tuple[NamedCluster, ...]
    below: int
    clusters: int
    largest: int
    largest_name: str
    singletons: int
    summarised: int
    joined: int


def formation(index: Index, shown: MapPlaces) -> tuple[FormedLayer, ...]:
    """Return each layer above the base, from the bottom up. shown: the map of the base layer."""
    return tuple(_formed(index, shown, number) for number in range(1, len(index.layers)))


def _formed(index: Index, shown: MapPlaces, number: int) -> FormedLayer:
    layer, below = index.layers[number], index.layers[number - 1]
    members = np.bincount(below.parent, minlength=len(layer))
    rows, cluster_of = np.unique(index.lifted(shown.rows, 0, number), return_inverse=True)
    sizes = index.leaf_counts[number][rows]
    largest_first = np.argsort(-sizes, kind="stable")[:_NAMED]
    texts = layer.entities.select(["id", "name"]).take(pa.array(rows[largest_first], pa.int64()))
    named = tuple(
        NamedCluster(id_, name, int(position), int(sizes[position]))
        for id_, name, position in zip(texts["id"].to_pylist(), texts["name"].to_pylist(), largest_first, strict=True)
    )
    kinds = layer.relations["kind"]
    summarised = sum(count["counts"] for count in kinds.value_counts().to_pylist() if count["values"] == "summarised")
    top = int(members.argmax())
    return FormedLayer(
        layer=number,
        cluster_of=cluster_of.reshape(-1),
        named=named,
        below=len(below),
        clusters=len(layer),
        largest=int(members[top]),
        largest_name=layer.entity_cells.value("name", top),
        singletons=int((members == 1).sum()),
        summarised=int(summarised),
        joined=layer.relations.num_rows - int(summarised),
    )
