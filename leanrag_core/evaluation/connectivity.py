"""Semantic islands: how a layer hangs together, with and without its aggregated relations."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.queries.islands import components
from leanrag_core.types.index import Index


@dataclass(frozen=True)
class Connection:
    """n_components: parts that no relation joins. largest_share: of the nodes in the largest part. mean_degree:
    relations of a node on average."""

    n_components: int
    largest_share: float
    mean_degree: float


@dataclass(frozen=True)
class LayerConnectivity:
    """A layer with all its relations, and without those that aggregation made; above layer 0 these are all of them, and
    every node is an island without them (LeanRAG, introduction)."""

    layer: int
    n_nodes: int
    with_aggregated: Connection
    without_aggregated: Connection


def connectivity(index: Index) -> tuple[LayerConnectivity, ...]:
    """Measure each layer's connectivity, from the base graph up."""
    layers = []
    for layer in index.layers:
        made = _connection(len(layer), layer.ends)
        bare = made if layer.number == 0 else _connection(len(layer), layer.ends[:0])
        layers.append(LayerConnectivity(layer.number, len(layer), made, bare))
    return tuple(layers)


def _connection(n_nodes: int, ends: np.ndarray) -> Connection:
    """Measure how a graph hangs together. ends: (n_edges, 2) int32 rows of the nodes that an edge joins."""
    parts = components(n_nodes, ends)
    return Connection(len(parts), float(parts.sizes[0] / n_nodes), 2 * len(ends) / n_nodes)
