"""What a community is described by: nodes and edges as lines, the most connected first (GraphRAG, section 3.1.5)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.graph import Layer
from leanrag_core.types.rows import numbers


@dataclass(frozen=True, eq=False)
class ElementGraph:
    """A graph with the texts of its nodes and edges. ends: (r, 2) int. weights: (r,). claims: texts, by row of a
    node."""

    names: Sequence[str]
    types: Sequence[str]
    descriptions: Sequence[str]
    ends: np.ndarray
    weights: np.ndarray
    edge_texts: Sequence[str]
    claims: dict[int, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def degrees(self) -> np.ndarray:
        """(n,) edges of each node."""
        return np.bincount(self.ends.ravel(), minlength=len(self))

    @cached_property
    def prominence(self) -> np.ndarray:
        """(r,) the degrees of both ends of each edge, added up."""
        return np.asarray(self.degrees[self.ends].sum(axis=1))

    @cached_property
    def _edges_by_node(self) -> tuple[np.ndarray, np.ndarray]:
        """Offsets (n + 1,) and edges (r,) int64: node i is the first end of edges[offsets[i] : offsets[i + 1]]."""
        order = np.argsort(self.ends[:, 0], kind="stable")
        return np.searchsorted(self.ends[order, 0], np.arange(len(self) + 1)), order

    def edges_inside(self, nodes: np.ndarray) -> np.ndarray:
        """Return the edges with both ends among those nodes, (q,) rows, the most prominent first. nodes: (k,) int,
        ascending.
        """
        offsets, order = self._edges_by_node
        edges = np.concatenate([order[offsets[node] : offsets[node + 1]] for node in nodes.tolist()])
        place = np.searchsorted(nodes, self.ends[edges, 1]).clip(max=len(nodes) - 1)
        inside = edges[nodes[place] == self.ends[edges, 1]]
        return np.asarray(inside[np.lexsort((inside, -self.prominence[inside]))])

    def by_degree(self, nodes: np.ndarray) -> np.ndarray:
        """Return those nodes, (k,) int, the most connected first."""
        return np.asarray(nodes[np.lexsort((nodes, -self.degrees[nodes]))])

    def node_line(self, node: int) -> str:
        """Return the node as a line of a prompt."""
        return f"- {self.names[node]} ({self.types[node]}): {' '.join(self.descriptions[node].split())}"

    def edge_line(self, edge: int) -> str:
        """Return the edge as a line of a prompt."""
        source, target = (self.names[node] for node in self.ends[edge])
        return f"- {source} / {target}: {' '.join(self.edge_texts[edge].split())}"


def graph_of_layer(layer: Layer, claims: dict[int, list[str]] | None = None) -> ElementGraph:
    """Return the graph of one layer of the index."""
    return ElementGraph(
        names=layer.entities["name"].to_pylist(),
        types=layer.entities["type"].to_pylist(),
        descriptions=layer.entities["description"].to_pylist(),
        ends=layer.ends,
        weights=numbers(layer.relations["weight"]),
        edge_texts=layer.relations["description"].to_pylist(),
        claims=claims or {},
    )


def element_lines(graph: ElementGraph, nodes: np.ndarray) -> list[str]:
    """Return the lines of a community in the order in which a prompt takes them. nodes: (k,) int.

    For each edge in falling order of the degrees of its ends come both ends with their claims, then the edge; at last
    the nodes without an edge inside.
    """
    lines: list[str] = []
    listed: set[int] = set()

    def add(node: int) -> None:
        if node not in listed:
            listed.add(node)
            lines.append(graph.node_line(node))
            lines.extend(f"- claim on {graph.names[node]}: {claim}" for claim in graph.claims.get(node, ()))

    for edge in graph.edges_inside(nodes).tolist():
        for node in graph.ends[edge].tolist():
            add(node)
        lines.append(graph.edge_line(edge))
    for node in graph.by_degree(nodes).tolist():
        add(node)
    return lines


@dataclass(frozen=True)
class Material:
    """What a prompt is given of a community. left_out: lines that did not fit."""

    text: str
    left_out: int = 0


def fitted(lines: Sequence[str], max_tokens: int) -> Material:
    """Return the first lines that fit."""
    used = 0
    for place, line in enumerate(lines):
        used += count_tokens(f"{line}\n")
        if used > max_tokens:
            return Material("\n".join(lines[:place]), len(lines) - place)
    return Material("\n".join(lines))


def tokens_of(lines: Sequence[str]) -> int:
    """Count the tokens of those lines, each with its end."""
    return sum(count_tokens(f"{line}\n") for line in lines)
