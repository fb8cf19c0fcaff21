"""How well each layer was clustered, as an index's report keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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


def cluster_facts(report: Mapping[str, Any]) -> list[ClusterFacts]:
    """The facts of every layer but the base, the lowest first. report: the index's."""
    return [_facts(kept) for kept in report.get("clustering", ())]


def _facts(kept: Mapping[str, Any]) -> ClusterFacts:
    below = kept["relations_below"]
    return ClusterFacts(
        layer=kept["layer"],
        smallest=kept["smallest"],
        median=kept["median"],
        largest=kept["largest"],
        singletons=kept["singletons"],
        neighbours_inside=kept.get("neighbours_inside"),
        relations_inside=kept["relations_inside"] / below if below else None,  # both are counts
        likelihood=kept.get("likelihood"),
    )
