"""Layers of the hierarchy, in columns; an Entity or a Relation is a view made on demand.

A layer's strings live in Arrow tables, so that a million entities load without a million objects.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

ENTITY_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("name", pa.string()),
        ("type", pa.string()),
        ("description", pa.string()),
        ("findings", pa.list_(pa.struct([("summary", pa.string()), ("explanation", pa.string())]))),
        ("chunks", pa.list_(pa.int32())),  # sorted rows of the chunk table
        ("promoted", pa.bool_()),  # a cluster of one: carries its only child's name and description
    ]
)
RELATION_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.int32()),  # row in this layer's entities; source < target
        ("target", pa.int32()),
        ("weight", pa.float32()),
        ("strength", pa.int32()),  # lambda: relations of the layer below that it stands for; 1 in layer 0
        ("kind", pa.string()),  # layer 0: verb, co-occurrence, stated, ...; above: summarised, concatenated
        ("description", pa.string()),
        ("keywords", pa.list_(pa.string())),
        ("chunks", pa.list_(pa.int32())),  # layer 0 only: sorted rows of the chunk table
        ("members", pa.list_(pa.int32())),  # above layer 0: rows of the relations of the layer below
    ]
)


@dataclass(frozen=True)
class Finding:
    """One thing that a summary states, and why."""

    summary: str
    explanation: str


@dataclass(frozen=True)
class Entity:
    """View of one row of a layer."""

    layer: int
    row: int
    id: str
    name: str
    type: str
    description: str
    findings: tuple[Finding, ...]
    chunks: tuple[int, ...]
    promoted: bool


@dataclass(frozen=True)
class Relation:
    """View of one relation of a layer; source and target are rows of the same layer."""

    layer: int
    row: int
    id: str
    source: int
    target: int
    weight: float
    strength: int
    kind: str
    description: str
    keywords: tuple[str, ...]
    chunks: tuple[int, ...]
    members: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Graph:
    """Entities and relations of one layer, without embeddings: what extraction and merging make.

    entities: table of ENTITY_SCHEMA, n rows. relations: table of RELATION_SCHEMA, ends are rows of entities.
    """

    entities: pa.Table
    relations: pa.Table

    @cached_property
    def ends(self) -> np.ndarray:
        """(r, 2) int32, rows of source and target of every relation."""
        source = self.relations["source"].to_numpy()
        return np.stack([source, self.relations["target"].to_numpy()], axis=1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Layer(Graph):
    """A layer G_i of the hierarchy H.

    number: 0 for the base graph. vectors: (n, d) float32, unit rows, same order as entities.
    parent: (n,) int32, row in the layer above; empty for the root's layer. The only truth about the tree.
    """

    number: int
    vectors: np.ndarray
    parent: np.ndarray

    def __len__(self) -> int:
        return self.entities.num_rows

    def entity(self, row: int) -> Entity:
        """The entity in that row."""
        cells: dict[str, Any] = self.entities.slice(row, 1).to_pylist()[0]
        findings = tuple(Finding(**finding) for finding in cells.pop("findings") or ())
        chunks = tuple(cells.pop("chunks") or ())
        return Entity(layer=self.number, row=int(row), findings=findings, chunks=chunks, **cells)

    def relation(self, row: int) -> Relation:
        """The relation in that row."""
        cells: dict[str, Any] = self.relations.slice(row, 1).to_pylist()[0]
        many: dict[str, Any] = {name: tuple(cells.pop(name) or ()) for name in ("keywords", "chunks", "members")}
        return Relation(layer=self.number, row=int(row), **cells, **many)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each entity id."""
        return {id_: row for row, id_ in enumerate(self.entities["id"].to_pylist())}

    @cached_property
    def relation_row_of(self) -> dict[str, int]:
        """Row of each relation id."""
        return {id_: row for row, id_ in enumerate(self.relations["id"].to_pylist())}

    @cached_property
    def _incident(self) -> tuple[np.ndarray, np.ndarray]:
        ends = self.ends
        nodes = ends.ravel()
        rows = np.repeat(np.arange(len(ends), dtype=np.int32), 2)
        order = np.argsort(nodes, kind="stable")
        return np.searchsorted(nodes[order], np.arange(len(self) + 1)), rows[order]

    def relations_of(self, row: int) -> np.ndarray:
        """Rows of the relations with an end in that entity, ascending."""
        offsets, rows = self._incident
        return rows[offsets[row] : offsets[row + 1]]


def children_offsets(parent: np.ndarray, n_parents: int) -> tuple[np.ndarray, np.ndarray]:
    """Children of every parent row: `order[offsets[p]:offsets[p + 1]]` are the child rows of p, ascending.

    parent: (n,) int. Returns offsets (n_parents + 1,) and order (n,).
    """
    order = np.argsort(parent, kind="stable").astype(np.int32)
    return np.searchsorted(parent[order], np.arange(n_parents + 1)), order
