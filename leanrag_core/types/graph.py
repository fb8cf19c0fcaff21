"""Layers of the hierarchy, in columns; an Entity or a Relation is a view made on demand.

A layer's strings live in Arrow tables, so that a million entities load without a million objects.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from leanrag_core.types.rows import Columns, Lists, RowOf, numbers, places_of_runs

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

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
        ("strength", pa.int32()),  # lambda: relations of the layer below that it aggregates; 1 in layer 0
        ("kind", pa.string()),  # layer 0: verb, co-occurrence, stated, ...; above: summarised, concatenated
        ("description", pa.string()),
        ("keywords", pa.list_(pa.string())),
        ("chunks", pa.list_(pa.int32())),  # layer 0 only: sorted rows of the chunk table
        ("members", pa.list_(pa.int32())),  # above layer 0: rows of the relations of the layer below
    ]
)
# Tokens of stored texts as they are written in a context (retrieval.context); int32 columns that an index on disk adds.
ENTITY_TOKENS = ("name_tokens", "description_tokens", "findings_tokens")
RELATION_TOKENS = ("relation_tokens",)
_ENTITY_CELLS = ("id", "name", "type", "description", "promoted")
_RELATION_CELLS = ("id", "source", "target", "weight", "strength", "kind", "description")
_RELATION_LISTS = ("keywords", "chunks", "members")


@dataclass(frozen=True)
class Place:
    """The layer and row of an entity."""

    layer: int
    row: int


def component_of_each(n_nodes: int, ends: np.ndarray) -> np.ndarray:
    """Return the connected component of each node, (n_nodes,) int, numbered in the order of their first nodes. ends:
    (r, 2) int rows of nodes that are joined."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(links, directed=False)[1])


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

    def bare(self) -> "Graph":
        """Return the tables with the columns that a build makes, and no others."""
        return Graph(
            self.entities.select(ENTITY_SCHEMA.names).cast(ENTITY_SCHEMA),
            self.relations.select(RELATION_SCHEMA.names).cast(RELATION_SCHEMA),
        )

    @cached_property
    def ends(self) -> np.ndarray:
        """(r, 2) int32, rows of source and target of every relation."""
        source, target = numbers(self.relations["source"]), numbers(self.relations["target"])
        return np.stack([source, target], axis=1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class LowerTypes:
    """names: in lower case, each once. codes: (n,) int32, the place of each entity's type among the names, -1 for
    none."""

    names: tuple[str, ...]
    codes: np.ndarray

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many entities have each type."""
        counted = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        return dict(zip(self.names, counted.tolist(), strict=True))

    def are(self, wanted: Sequence[str]) -> np.ndarray:
        """Return whether each entity has one of those types, (n,) bool."""
        is_wanted = np.array([name in wanted for name in self.names] + [False])  # the last for none
        return np.asarray(is_wanted[self.codes])


@dataclass(frozen=True, eq=False)
class Layer(Graph):
    """A layer G_i of the hierarchy H.

    number: 0 for the base graph. vectors: (n, d) float32, unit rows, same order as entities.
    parent: (n,) int32, row in the layer above; empty for the root's layer. Nothing else defines the tree.
    """

    number: int
    vectors: np.ndarray
    parent: np.ndarray

    def __len__(self) -> int:
        return int(self.entities.num_rows)

    @cached_property
    def plain_names(self) -> pa.ChunkedArray:
        """The names of the entities, (n,), in lower case, their words parted by single blanks."""
        import pyarrow.compute as pc

        words_alone = pc.replace_substring_regex(pc.utf8_lower(self.entities["name"]), r"[^\pL\pN_]+", " ")
        return pc.utf8_trim(words_alone, " ")

    @cached_property
    def unaccented_names(self) -> pa.ChunkedArray:
        """The names of the entities, (n,), as `without_accents` makes a text."""
        import pyarrow.compute as pc

        letters = pc.utf8_normalize(pc.utf8_lower(self.entities["name"]), form="NFKD")
        return pc.replace_substring_regex(letters, r"\p{Mn}+", "")

    @cached_property
    def lower_types(self) -> "LowerTypes":
        """The types of the entities in lower case."""
        import pyarrow.compute as pc

        coded = pc.utf8_lower(self.entities["type"]).combine_chunks().dictionary_encode()
        return LowerTypes(tuple(coded.dictionary.to_pylist()), numbers(coded.indices.fill_null(-1)))

    def rows_named(self, plain_names: Iterable[str]) -> np.ndarray:
        """Return the rows, ascending, of the entities with one of those plain names, (k,) int64."""
        import pyarrow.compute as pc

        names = pa.array(sorted(set(plain_names)), pa.string())
        return np.flatnonzero(pc.is_in(self.plain_names, value_set=names).to_numpy())

    def entity(self, row: int) -> Entity:
        """Return the entity in that row."""
        row = int(row)
        cells = {name: self.entity_cells.value(name, row) for name in _ENTITY_CELLS}
        findings = tuple(Finding(**finding) for finding in self.entity_cells.value("findings", row) or ())
        chunks = tuple(self.chunks_of(row).tolist())
        return Entity(layer=self.number, row=row, findings=findings, chunks=chunks, **cells)

    def relation(self, row: int) -> Relation:
        """Return the relation in that row."""
        row = int(row)
        cells = {name: self.relation_cells.value(name, row) for name in _RELATION_CELLS}
        many: dict[str, Any] = {name: tuple(self.relation_cells.value(name, row) or ()) for name in _RELATION_LISTS}
        return Relation(layer=self.number, row=row, **cells, **many)

    def chunks_of(self, row: int) -> np.ndarray:
        """Return the rows of the chunks that mention that entity, ascending; (k,) int32."""
        return self._chunk_lists[row]

    @cached_property
    def _chunk_lists(self) -> Lists:
        return Lists(self.entities["chunks"])

    @cached_property
    def entity_cells(self) -> Columns:
        """The columns of the entities, for reading single cells."""
        return Columns(self.entities)

    @cached_property
    def relation_cells(self) -> Columns:
        """The columns of the relations, for reading single cells."""
        return Columns(self.relations)

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """Row of each entity id."""
        return RowOf(self.entities["id"])

    @cached_property
    def relation_row_of(self) -> Mapping[str, int]:
        """Row of each relation id."""
        return RowOf(self.relations["id"])

    @cached_property
    def token_counts(self) -> dict[str, np.ndarray]:
        """The stored token columns, by name: (n,) int32 of ENTITY_TOKENS, (r,) of RELATION_TOKENS; empty when the
        tables hold none."""
        tables = ((self.entities, ENTITY_TOKENS), (self.relations, RELATION_TOKENS))
        return {name: numbers(table[name]) for table, names in tables for name in names if name in table.column_names}

    @cached_property
    def degrees(self) -> np.ndarray:
        """(n,) int64, relations of each entity."""
        return np.bincount(self.ends.ravel(), minlength=len(self))

    @cached_property
    def weights(self) -> np.ndarray:
        """(r,) float32, weight of each relation."""
        return numbers(self.relations["weight"])

    @property
    def strengths(self) -> np.ndarray:
        """(r,) lambda of each relation, in layer 0 its weight."""
        return numbers(self.relations["strength"]) if self.number else self.weights

    @cached_property
    def adjacency(self) -> "csr_array":
        """(n, n) float32, symmetric: the weights of the relations between two entities, added up."""
        return symmetric(self.ends, self.weights.astype(np.float32), len(self))

    @cached_property
    def relation_chunk_lists(self) -> Lists:
        """The rows of the chunks that state each relation, ascending."""
        return Lists(self.relations["chunks"])

    @cached_property
    def mention_lists(self) -> tuple[np.ndarray, np.ndarray]:
        """Offsets (n + 1,), rows (m,), int: the chunks that mention entity i are rows[offsets[i] : offsets[i + 1]]."""
        return self._chunk_lists.offsets, self._chunk_lists.values

    @cached_property
    def _incident(self) -> tuple[np.ndarray, np.ndarray]:
        """Offsets (n + 1,) and relations (2 r,) int32: those of entity i are relations[offsets[i] : offsets[i + 1]]."""
        nodes = self.ends.ravel()
        offsets = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=len(self)))])
        return offsets, (np.argsort(nodes, kind="stable") // 2).astype(np.int32)

    def relations_of(self, row: int) -> np.ndarray:
        """Return the rows of the relations with an end in that entity, (k,) int32, ascending."""
        offsets, rows = self._incident
        return rows[offsets[row] : offsets[row + 1]]

    def other_ends(self, relations: np.ndarray, row: int) -> np.ndarray:
        """Return the entity at the other end of each of those relations of an entity, (k,) int32. relations: (k,) int
        rows."""
        ends = self.ends[relations]
        return np.asarray(np.where(ends[:, 0] == row, ends[:, 1], ends[:, 0]))

    def relations_of_any(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows of the relations with an end in one of those entities, (k,) int32, ascending, each once.
        rows: (m,) int."""
        return np.unique(self._incident_to(rows))

    def _incident_to(self, rows: np.ndarray) -> np.ndarray:
        """Return the relations of each of those entities, one entity after the other, (k,) int32. rows: (m,) int."""
        offsets, relations = self._incident
        starts = offsets[rows]
        return np.asarray(relations[places_of_runs(starts, offsets[rows + 1] - starts)])

    def relations_inside(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the relations with both ends among those entities, (k,) int32 rows, ascending. rows: (m,) int."""
        if len(rows) < 2 or not len(self.ends):
            return np.zeros(0, dtype=np.int32)
        incident_relations = np.sort(self._incident_to(np.unique(np.asarray(rows))))
        twice = incident_relations[1:][incident_relations[1:] == incident_relations[:-1]]  # once for each end
        return np.asarray(twice)


def symmetric(ends: np.ndarray, weights: np.ndarray, n: int) -> "csr_array":
    """Return the (n, n) matrix of links in both directions; weights of the same two nodes are added up. ends: (p, 2)
    rows. weights: (p,)."""
    from scipy.sparse import coo_array

    both_ways = np.concatenate([ends, ends[:, ::-1]])
    twice = np.concatenate([weights, weights])
    return coo_array((twice, (both_ways[:, 0], both_ways[:, 1])), shape=(n, n)).tocsr()


def children_offsets(parent: np.ndarray, n_parents: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort the rows of a layer by parent: `order[offsets[p]:offsets[p + 1]]` are the child rows of p, ascending.

    parent: (n,) int. Returns offsets (n_parents + 1,) int64 and order (n,) int32.
    """
    order = np.argsort(parent, kind="stable").astype(np.int32)
    return np.searchsorted(parent[order], np.arange(n_parents + 1)), order
