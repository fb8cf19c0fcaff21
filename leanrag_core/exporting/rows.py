"""Entities, relations and parent links of all layers of an index, one after the other, read in batches."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa

from leanrag_core.types.index import Index

PARENT = "parent"  # the kind of the edge between an entity and its parent
T = TypeVar("T")
_BATCH = 8192  # rows that are Python objects at a time
Text = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Node:
    """An entity. parent: id of its parent, empty for the root."""

    id: str
    layer: int
    name: str
    type: str
    description: str
    parent: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation of one layer; source and target are ids of entities, and their order means nothing."""

    id: str
    source: str
    target: str
    layer: int
    kind: str
    strength: int
    weight: float
    description: str
    keywords: tuple[str, ...]


def batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the rows in lists of that length; the last may be shorter."""
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch


def nodes(index: Index) -> Iterator[Node]:
    """Yield every entity, layer 0 first, in the order of the rows."""
    for layer in index.layers:
        above = index.layers[layer.number + 1].entities["id"] if len(layer.parent) else None
        for start in range(0, len(layer), _BATCH):
            rows = layer.entities.slice(start, _BATCH)
            cells = [rows[name].to_pylist() for name in ("id", "name", "type", "description")]
            parents = [""] * rows.num_rows
            if above is not None:
                parents = above.take(pa.array(layer.parent[start : start + _BATCH])).to_pylist()
            for id_, name, type_, description, parent in zip(*cells, parents, strict=True):
                yield Node(id_, layer.number, name or "", type_ or "", description or "", parent)


def edges(index: Index) -> Iterator[Edge]:
    """Yield every relation, layer 0 first, in the order of the rows."""
    for layer in index.layers:
        ids = layer.entities["id"]
        for start in range(0, layer.relations.num_rows, _BATCH):
            rows = layer.relations.slice(start, _BATCH)
            ends = (ids.take(rows[end].combine_chunks()).to_pylist() for end in ("source", "target"))
            names = ("kind", "strength", "weight", "description", "keywords")
            cells = (rows[name].to_pylist() for name in names)
            columns = zip(rows["id"].to_pylist(), *ends, *cells, strict=True)
            for id_, source, target, kind, strength, weight, said, words in columns:
                keywords = tuple(words or ())
                yield Edge(id_, source, target, layer.number, kind or "", strength, weight, said or "", keywords)


class StreamedGraph:
    """Entities of all layers as nodes, relations and parent links as edges. text: applied to every text.

    An edge of kind "parent" leads from an entity to its parent and has a kind alone.
    """

    def __init__(self, index: Index, text: Text = str) -> None:
        self._index, self._text = index, text
        self.graph: dict[str, Any] = {"name": text(index.manifest.name), "layers": len(index.layers)}

    def is_directed(self) -> bool:
        """Return False: the ends of a relation have no order."""
        return False

    def is_multigraph(self) -> bool:
        """Return True: edges have ids."""
        return True

    def nodes(self, *, data: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield id and attributes of every entity."""
        text = self._text
        for node in nodes(self._index):
            texts = {name: text(getattr(node, name)) for name in ("name", "type", "description")}
            yield text(node.id), {"layer": node.layer, **texts}

    def edges(self, *, data: bool = True, keys: bool = True) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Yield end, id and attributes of every parent link and every relation."""
        text = self._text
        for node in nodes(self._index):
            if node.parent:
                yield text(node.id), text(node.parent), f"{PARENT}-{text(node.id)}", {"kind": PARENT}
        for edge in edges(self._index):
            attributes = {
                "kind": text(edge.kind),
                "strength": edge.strength,
                "weight": edge.weight,
                "layer": edge.layer,
            }
            attributes |= {"description": text(edge.description), "keywords": text(", ".join(edge.keywords))}
            yield text(edge.source), text(edge.target), text(edge.id), attributes
