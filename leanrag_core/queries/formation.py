"""How the clusters of an index form, layer by layer, over the places of its map: what a film of it shows and says."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.figures.embedding_map import MapPlaces
from leanrag_core.queries.map_picture import parents_of
from leanrag_core.types.index import Index

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
    rows, cluster_of = np.unique(parents_of(index, 0, shown.rows, number), return_inverse=True)
    sizes = index.leaf_counts[number][rows]
    largest_first = np.argsort(-sizes, kind="stable")[:_NAMED]
    texts = layer.entities.select(["id", "name"]).take(pa.array(rows[largest_first], pa.int64()))
    named = tuple(
        NamedCluster(id_, name, int(drawn), int(sizes[drawn]))
        for id_, name, drawn in zip(texts["id"].to_pylist(), texts["name"].to_pylist(), largest_first, strict=True)
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
        largest_name=layer.entity_cells["name"][top].as_py(),
        singletons=int((members == 1).sum()),
        summarised=int(summarised),
        joined=layer.relations.num_rows - int(summarised),
    )
