"""The map of a layer's embeddings, coloured by clusters of any layer above."""

from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.figures import numbers
from leanrag_core.figures.embedding_map import MapPlaces
from leanrag_core.figures.regions import KEPT
from leanrag_core.messages.catalog import Say
from leanrag_core.queries.map_picture import LayerClusters
from leanrag_core.types.graph import Layer
from leanrag_core.types.visible import shortened

_UNITS = 1000  # whole numbers of this grid go to the browser, which takes less room than fractions
_FEW = 4  # clusters: fewer divide the picture into halves
_WORDS = (
    *("colour", "question_and_seeds", "links", "zoom_in", "zoom_out", "whole", "not_cosine", "the_question", "seed"),
    *("seed_cut", "link", "question", "open_in_ask", "no_question", "no_seeds", "entity", "entities"),
    *("placed", "table", "cluster", "close", "seed_rank", "drawn"),
)


def map_words(say: Say) -> dict[str, str]:
    """Return the sentences of the map, but for those of its layer and its question."""
    filled_words = {
        "region": say("explore.map.region", share=numbers.share(KEPT)),
        "unnamed": say("explore.map.unnamed", n="{n}"),
    }
    return {name: say(f"explore.map.{name}") for name in _WORDS} | filled_words


def units(values: np.ndarray) -> list[int]:
    """Return (n,) fractions as whole numbers of the grid."""
    return [int(value) for value in np.rint(np.asarray(values, dtype=np.float64) * _UNITS)]


def point_values(layer: Layer, shown: MapPlaces) -> dict[str, Any]:
    """Return places, names and types of the drawn entities of a layer."""
    texts = layer.entities.select(["name", "type"]).take(pa.array(shown.rows))
    coded = texts["type"].combine_chunks().fill_null("").dictionary_encode()
    is_typed = layer.number == 0
    return {
        "x": units(shown.places[:, 0]),
        "y": units(shown.places[:, 1]),
        "names": [short_name(name) for name in texts["name"].to_pylist()],
        "typeNames": coded.dictionary.to_pylist() if is_typed else [],
        "types": coded.indices.to_pylist() if is_typed else [],
    }


def default_colour(above: list[LayerClusters]) -> int:
    """Return the highest layer that tells something apart: with some clusters, but few enough for a colour each."""
    for least in (_FEW, 2, 0):
        layers = [each.layer for each in above if len(each.clusters) >= least]
        if layers:
            return layers[-1]
    raise AssertionError("every layer has no cluster or more")


def short_name(name: str, most: int = 60) -> str:
    """Cut a name as the map needs it: a sample of very long ones must not weigh more than all else."""
    return shortened(name, most)


def layer_values(clusters: LayerClusters, say: Say) -> dict[str, Any]:
    """Return the clusters of a layer above, their names and the regions in which their points lie."""
    listed = [
        {
            "id": id_,
            "name": short_name(name, 120),
            "size": cluster.size,
            "at": units(np.array(cluster.centre)),
            "regions": [units(corners.ravel()) for corners in cluster.regions],
        }
        for id_, name, cluster in zip(clusters.ids, clusters.names, clusters.clusters, strict=True)
    ]
    others = say("explore.map.others", n=clusters.n_others) if clusters.n_others else ""
    title = say("explore.map.clusters_of", layer=clusters.layer)
    return {
        "layer": clusters.layer,
        "title": title,
        "of": clusters.cluster_of.tolist(),
        "clusters": listed,
        "others": others,
        "othersSize": clusters.others_size,
    }
