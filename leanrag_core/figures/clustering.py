"""How well each layer was clustered, as an index's report keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import IndexDamaged


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
    """The facts of every layer but the base, the lowest first. report: the index's. Raises IndexDamaged where it does
    not say them."""
    try:
        return [_facts(kept) for kept in report.get("clustering", ())]
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise IndexDamaged(
            "report.json of this index does not say how its layers were clustered: build the index again to see it"
        ) from error


def _facts(kept: Mapping[str, Any]) -> ClusterFacts:
    below = int(kept["relations_below"])
    return ClusterFacts(
        layer=int(kept["layer"]),
        smallest=int(kept["smallest"]),
        median=float(kept["median"]),
        largest=int(kept["largest"]),
        singletons=int(kept["singletons"]),
        neighbours_inside=_number(kept.get("neighbours_inside")),
        relations_inside=float(kept["relations_inside"]) / below if below else None,  # both are counts
        likelihood=_number(kept.get("likelihood")),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
