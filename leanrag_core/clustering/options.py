"""What clustering is asked for and what it answers."""

from dataclasses import dataclass, fields

import numpy as np

from leanrag_core.clustering.reference import ReferenceOptions
from leanrag_core.errors import InvalidConfig
from leanrag_core.types.config import IndexConfig

CAPS = ("capacity", "split", "none")


@dataclass(frozen=True)
class ClusterOptions:
    """How a layer is clustered.

    cluster_size: wanted nodes of a cluster; m = ceil(n / cluster_size) components. cap: how clusters above 2 x
    cluster_size are brought down, by "capacity" (points move to their next best component with room), by "split"
    (the cluster is cut along its longest axis) or not ("none"). smoothing: rounds of averaging with the nearest
    neighbours; 0 is the plain mixture. neighbours: how many are averaged. space: principal components in which the
    mixture is fitted. join_singletons: a cluster of one node joins its best component with room, if it is
    not much less probable there than the fringe of the members is. reference: fits scikit-learn's mixture with these
    options instead; smoothing and neighbours then have no effect, and a cap always splits.
    """

    cluster_size: int = 20
    cap: str = "capacity"
    smoothing: int = 1
    neighbours: int = 12
    space: int = 128
    join_singletons: bool = True
    seed: int = 0
    reference: ReferenceOptions | None = None

    def __post_init__(self) -> None:
        if self.cluster_size < 2:
            raise InvalidConfig("clustering.cluster_size_too_small", cluster_size=self.cluster_size)
        if self.cap not in CAPS:
            raise InvalidConfig("clustering.unknown_cap", cap=self.cap, caps=", ".join(CAPS))
        if self.smoothing < 0 or self.smoothing > 8:
            raise InvalidConfig("clustering.smoothing_out_of_bounds", smoothing=self.smoothing)
        if self.neighbours < 1 or self.space < 1:
            raise InvalidConfig(
                "clustering.neighbours_or_space_too_small", neighbours=self.neighbours, space=self.space
            )

    @property
    def largest(self) -> int | None:
        """The most nodes that a cluster may hold; None without a cap."""
        return None if self.cap == "none" else 2 * self.cluster_size

    def settings(self) -> dict[str, str | int | bool]:
        """Return the options by name, as a report records them; those of the reference engine only where it is used."""
        values = {spec.name: getattr(self, spec.name) for spec in fields(self) if spec.name != "reference"}
        return values | (self.reference.settings() if self.reference else {})


def cluster_options(config: IndexConfig) -> ClusterOptions:
    """Return the clustering options that the settings of an index ask for."""
    return ClusterOptions(
        cluster_size=config.cluster_size,
        cap=config.cap_by if config.size_cap else "none",
        smoothing=config.smoothing,
        neighbours=config.neighbours,
        space=config.space,
        join_singletons=config.singletons == "join",
        seed=config.seed,
        reference=ReferenceOptions(config.covariance, config.cluster_count, config.reduction, config.starts)
        if config.cluster_engine == "reference"
        else None,
    )


@dataclass(frozen=True)
class ClusterFacts:
    """Measures of a clustering.

    components: as asked. likelihood: mean log likelihood of a node, None for one cluster. smallest to singletons: of
    the clusters' sizes. neighbours_inside: share of a node's 10 nearest neighbours in its cluster. relations_inside:
    share of relations with both ends in one cluster, None without relations.
    """

    nodes: int
    components: int
    likelihood: float | None
    clusters: int
    smallest: int
    median: float
    largest: int
    singletons: int
    neighbours_inside: float
    relations_inside: float | None
    covariance: str


@dataclass(frozen=True, eq=False)
class Clustering:
    """labels: (n,) int32, 0 ... clusters-1, every label used, numbered by their first row."""

    labels: np.ndarray
    facts: ClusterFacts


def n_components(n: int, cluster_size: int) -> int:
    """Return m = ceil(n / cluster_size), the number of components for n entities (section 3.1)."""
    if cluster_size < 2:
        raise InvalidConfig("clustering.cluster_size_too_small", cluster_size=cluster_size)
    return -(-n // cluster_size)


def numbered_by_first_row(labels: np.ndarray) -> np.ndarray:
    """Renumber the labels 0, 1, ... in the order of their first rows. labels: (n,) int. Returns (n,) int32."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return rank[inverse]
