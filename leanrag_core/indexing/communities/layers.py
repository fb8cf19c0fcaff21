"""The layers of the hierarchy as one graph: relations of each layer, and links from entities to their parents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.indexing.communities.elements import ElementGraph, graph_of_layer
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index

LINK_WEIGHT = 1.0


@dataclass(frozen=True, eq=False)
class JoinedEdges:
    """starts: (layers + 1,) the first node of each layer. ends: (r + links, 2), relations before links. weights: (r +
    links,)."""

    starts: np.ndarray
    ends: np.ndarray
    weights: np.ndarray


def joined_layers(index: Index) -> tuple[Layer, ...]:
    """Return all layers below the root, which would lie between any two entities; the base layer at least."""
    return index.layers[: max(1, len(index.layers) - 1)]


def joined_edges(layers: Sequence[Layer]) -> JoinedEdges:
    """Return the edges of the joined graph."""
    starts = np.cumsum([0, *(len(layer) for layer in layers)])
    relations = [layer.ends + start for layer, start in zip(layers, starts[:-1], strict=True)]
    links = [
        np.stack([np.arange(len(layer)) + starts[number], layer.parent + starts[number + 1]], axis=1)
        for number, layer in enumerate(layers[:-1])
    ]
    weights = [layer.weights for layer in layers]
    n_links = sum(map(len, links))
    return JoinedEdges(
        starts,
        np.concatenate([*relations, *links]).astype(np.int64),
        np.concatenate([*weights, np.full(n_links, LINK_WEIGHT)]).astype(np.float32),
    )


def joined_graph(layers: Sequence[Layer]) -> ElementGraph:
    """Return the joined graph with the texts of its nodes and edges."""
    graphs, edges = [graph_of_layer(layer) for layer in layers], joined_edges(layers)
    names = [name for graph in graphs for name in graph.names]
    n_relations = sum(len(graph.edge_texts) for graph in graphs)
    links = edges.ends[n_relations:].tolist()
    return ElementGraph(
        names=names,
        types=[type_ for graph in graphs for type_ in graph.types],
        descriptions=[text for graph in graphs for text in graph.descriptions],
        ends=edges.ends,
        weights=edges.weights,
        edge_texts=[
            *(text for graph in graphs for text in graph.edge_texts),
            *(f"{names[child]} belongs to {names[parent]}." for child, parent in links),
        ],
    )
