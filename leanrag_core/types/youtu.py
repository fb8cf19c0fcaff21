"""What Youtu-GraphRAG adds to an index: a schema with attributes, and a tree of communities and keywords over it."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from leanrag_core.types.communities import Communities
from leanrag_core.types.graph import Layer, children_offsets
from leanrag_core.types.rows import Columns, numbers, places_of_runs

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

ENTITY, RELATION, ATTRIBUTE = "entity", "relation", "attribute"
KINDS = (ENTITY, RELATION, ATTRIBUTE)
# Relation types that every schema begins with: of relations that fit no other, and of attributes.
RELATED, HAS_ATTRIBUTE = "related to", "has attribute"
TYPE_SCHEMA = pa.schema([("kind", pa.string()), ("name", pa.string()), ("frequency", pa.int32())])
ATTRIBUTE_SCHEMA = pa.schema(
    [
        ("entity", pa.int32()),  # row in layer 0
        ("type", pa.int32()),  # row among the attribute types
        ("value", pa.string()),
        ("chunk", pa.int32()),  # row of the chunk table, -1 when it is not known
    ]
)
PROPOSAL_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("frequency", pa.int32()),
        ("confidence", pa.float32()),
        ("example", pa.string()),
        ("accepted", pa.bool_()),
    ]
)


@dataclass(frozen=True, eq=False)
class Schema:
    """Types of entities, relations and attributes, and what of the index has which type.

    types: TYPE_SCHEMA, by kind in the order of KINDS. type_vectors: (t, d) float32 unit rows, of the names.
    entity_type: (n,) int32, row among the entity types, -1 for none of them. relation_type: (r,) int32, row among the
    relation types. attributes: ATTRIBUTE_SCHEMA, by entity. attribute_vectors: (a, d) float32 unit rows. proposals:
    PROPOSAL_SCHEMA, types that were frequent and sure enough to be proposed to a person. by_model: whether a language
    model made it.
    """

    types: pa.Table
    type_vectors: np.ndarray
    entity_type: np.ndarray
    relation_type: np.ndarray
    attributes: pa.Table
    attribute_vectors: np.ndarray
    proposals: pa.Table
    by_model: bool

    @cached_property
    def _places(self) -> dict[str, np.ndarray]:
        """Rows of the types of each kind, (t,) int64."""
        kinds = np.array(self.types["kind"].to_pylist())
        return {kind: np.flatnonzero(kinds == kind) for kind in KINDS}

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names of the types of that kind, in the order of their rows."""
        return tuple(self.types["name"].take(pa.array(self._places[kind])).to_pylist())

    def vectors(self, kind: str) -> np.ndarray:
        """Return the vectors of the names of that kind, (t, d) float32 unit rows."""
        return np.asarray(self.type_vectors[self._places[kind]])

    @cached_property
    def attribute_cells(self) -> Columns:
        """The columns of the attributes, for reading single cells."""
        return Columns(self.attributes)

    @cached_property
    def attribute_entity(self) -> np.ndarray:
        """(a,) int32, ascending: the entity of each attribute."""
        return numbers(self.attributes["entity"])

    @cached_property
    def attribute_type(self) -> np.ndarray:
        """(a,) int32: the type of each attribute."""
        return numbers(self.attributes["type"])

    @cached_property
    def attribute_chunk(self) -> np.ndarray:
        """(a,) int32: the chunk of each attribute, -1 when it is not known."""
        return numbers(self.attributes["chunk"])

    def attributes_of(self, entities: np.ndarray) -> np.ndarray:
        """Return the rows of the attributes of those entities, entity by entity; (k,) int64. entities: (m,) int."""
        first = np.searchsorted(self.attribute_entity, entities)
        last = np.searchsorted(self.attribute_entity, entities, side="right")
        counts = last - first
        return places_of_runs(first, counts)


def unbounded_schema(base: Layer) -> Schema:
    """Return the schema of a graph without one: no types of entities, one type of relations without meaning (its vector
    is null), and no attributes.

    Source: the ablation without schema of Youtu-GraphRAG, table 3.
    """
    names = (RELATED, HAS_ATTRIBUTE)
    columns = ([RELATION] * len(names), names, [0] * len(names))
    return Schema(
        types=pa.table(dict(zip(TYPE_SCHEMA.names, columns, strict=True)), schema=TYPE_SCHEMA),
        type_vectors=np.zeros((len(names), base.vectors.shape[1]), dtype=np.float32),
        entity_type=np.full(len(base), -1, dtype=np.int32),
        relation_type=np.zeros(len(base.ends), dtype=np.int32),
        attributes=ATTRIBUTE_SCHEMA.empty_table(),
        attribute_vectors=np.zeros((0, base.vectors.shape[1]), dtype=np.float32),
        proposals=PROPOSAL_SCHEMA.empty_table(),
        by_model=False,
    )


@dataclass(frozen=True, eq=False)
class KnowledgeTree:
    """Communities, then their keywords, then the triples of the entities below each keyword, then their attributes.

    community_of: (n,) int32. keywords: (q,) int32, the entities that are keywords, by community, best first.
    keyword_of: (n,) int32, place among the keywords of the one that the entity is below.
    """

    communities: Communities
    community_of: np.ndarray
    keywords: np.ndarray
    keyword_of: np.ndarray

    @cached_property
    def _communities_of_keywords(self) -> np.ndarray:
        """(q,) int32, the community of each keyword."""
        return np.asarray(self.community_of[self.keywords])

    def keywords_in(self, community: int) -> np.ndarray:
        """Return the places of the keywords of that community, (k,) int64."""
        return np.flatnonzero(self._communities_of_keywords == community)

    @cached_property
    def _below_keywords(self) -> tuple[np.ndarray, np.ndarray]:
        """Offsets (q + 1,) and entities (n,): those below keyword i are entities[offsets[i] : offsets[i + 1]]."""
        return children_offsets(self.keyword_of, len(self.keywords))

    def entities_below(self, places: np.ndarray) -> np.ndarray:
        """Return the entities below those keywords, each once, ascending, (k,) int32. places: (m,) int, of keywords."""
        offsets, entities = self._below_keywords
        lists = [entities[offsets[place] : offsets[place + 1]] for place in np.unique(places).tolist()]
        return np.sort(np.concatenate([*lists, np.zeros(0, dtype=np.int32)]))


def incident_types(n_entities: int, ends: np.ndarray, schema: Schema) -> "csr_array":
    """Count how many triples of each relation type an entity is in, its attributes included; (n, t) float32.

    ends: (r, 2) rows of the entities of each relation.
    """
    from scipy.sparse import coo_array

    owner = schema.attribute_entity
    entities = np.concatenate([ends[:, 0], ends[:, 1], owner])
    has_attribute = schema.names(RELATION).index(HAS_ATTRIBUTE)
    types = np.concatenate([schema.relation_type, schema.relation_type, np.full(len(owner), has_attribute)])
    size = (n_entities, len(schema.names(RELATION)))
    return coo_array((np.ones(len(entities), dtype=np.float32), (entities, types)), shape=size).tocsr()
