"""How well each layer was clustered, as an index's report keeps it."""

from dataclasses import dataclass
from typing import TypeVar

from leanrag_core.errors import IndexDamaged
from leanrag_core.types.build_report import BuildReport, LayerClusters

T = TypeVar("T")


@dataclass(frozen=True)
class ClusterFacts:
    """How a layer was grouped into the next one.

    layer: the new one. smallest, median, largest, singletons: of the clusters' sizes. neighbours_inside: share of a
    node's 10 nearest neighbours that are in its cluster, None in a report that does not say. relations_inside: share
    of the layer's relations with both ends in one cluster, None for a layer without relations. likelihood: mean log
    density, None for one cluster.
    """

    layer: int
    smallest: int
    median: float
    largest: int
    singletons: int
    neighbours_inside: float | None
    relations_inside: float | None
    likelihood: float | None


def cluster_facts(report: BuildReport) -> list[ClusterFacts]:
    """The facts of every layer but the base, the lowest first. Raises IndexDamaged where the report lacks them."""
    return [_facts(layer) for layer in report.clustering]


def _facts(layer: LayerClusters) -> ClusterFacts:
    below = _recorded(layer.relations_below)
    return ClusterFacts(
        layer=_recorded(layer.layer),
        smallest=_recorded(layer.smallest),
        median=_recorded(layer.median),
        largest=_recorded(layer.largest),
        singletons=_recorded(layer.singletons),
        neighbours_inside=layer.neighbours_inside,
        relations_inside=_recorded(layer.relations_inside) / below if below else None,  # both are counts
        likelihood=layer.likelihood,
    )


def _recorded(value: T | None) -> T:
    if value is None:
        raise IndexDamaged("index.clustering_unknown")
    return value
