"""An index as an undirected networkx multigraph, row by row: what the writers of networkx read of a graph, and no more.

A graph of networkx holds a dictionary for every node and every edge, which at 100,000 entities is the larger part of a
gigabyte. Its writers only go through nodes and edges, so they get these from the tables.
"""

from collections.abc import Callable, Iterator
from typing import Any

from leanrag_core.exporting.rows import PARENT, edges, nodes
from leanrag_core.types.index import Index

Text = Callable[[str], str]


class StreamedGraph:
    """Entities of all layers as nodes, relations and parent links as edges. text: applied to every text.

    An edge of kind "parent" leads from an entity to its parent and has a kind alone.
    """

    def __init__(self, index: Index, text: Text = str) -> None:
        self._index, self._text = index, text
        self.graph: dict[str, Any] = {"name": text(index.manifest.name), "layers": len(index.layers)}

    def is_directed(self) -> bool:
        """No: the ends of a relation have no order."""
        return False

    def is_multigraph(self) -> bool:
        """Yes: edges have ids."""
        return True

    def nodes(self, *, data: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
        """Id and attributes of every entity."""
        text = self._text
        for node in nodes(self._index):
            yield (
                text(node.id),
                {
                    "layer": node.layer,
                    "name": text(node.name),
                    "type": text(node.type),
                    "description": text(node.description),
                },
            )

    def edges(self, *, data: bool = True, keys: bool = True) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Ends, id and attributes of every parent link and every relation."""
        text = self._text
        for node in nodes(self._index):
            if node.parent:
                yield text(node.id), text(node.parent), f"{PARENT}-{text(node.id)}", {"kind": PARENT}
        for edge in edges(self._index):
            yield (
                text(edge.source),
                text(edge.target),
                text(edge.id),
                {
                    "kind": text(edge.kind),
                    "strength": edge.strength,
                    "weight": edge.weight,
                    "layer": edge.layer,
                    "description": text(edge.description),
                    "keywords": text(", ".join(edge.keywords)),
                },
            )
