"""The columns of a new layer: ids, unions of chunks, entity and relation tables."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.columns import distinct, joined, list_offsets
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Finding, Graph


@dataclass(frozen=True)
class NewEntity:
    """A parent before it gets its id and chunks. promoted: carries its only child's texts."""

    name: str
    type: str
    description: str
    findings: tuple[Finding, ...]
    promoted: bool


@dataclass(frozen=True, eq=False)
class NewRelations:
    """Columns of a layer's relations, p of them.

    ends: (p, 2) rows of the layer, left < right. weight, strength: (p,). summarised: (p,) bool. offsets: (p + 1,) and
    members: relations of the layer below, those of relation j being members[offsets[j] : offsets[j + 1]].
    """

    ends: np.ndarray
    weight: np.ndarray
    strength: np.ndarray
    summarised: np.ndarray
    descriptions: pa.ChunkedArray
    keywords: pa.ListArray
    offsets: np.ndarray
    members: np.ndarray


def hashed_id(prefix: str, parts: Sequence[str]) -> str:
    """Return the prefix and 16 hex digits that follow from the parts alone."""
    return prefix + hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def entity_id(layer: int, child_ids: Sequence[str]) -> str:
    """Return the id of an aggregated (or promoted) entity, made of its layer and its children."""
    return hashed_id("agg-", [str(layer), *sorted(child_ids)])


def relation_id(layer: int, left: str, right: str) -> str:
    """Return the id of an aggregated relation, made of its ends and its layer."""
    return hashed_id("rel-", [*sorted((left, right)), str(layer)])


def union_chunks(chunks: pa.ChunkedArray, parent: np.ndarray, n_parents: int) -> pa.ListArray:
    """Return the chunks of each parent, the union of its children's, sorted; (n_parents,) list<int32>.

    chunks: (n,) list<int32> of the layer below. parent: (n,) int.
    """
    lists = joined(chunks)
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    span = int(values.max(initial=0)) + 1
    unique = distinct(np.repeat(parent.astype(np.int64), lengths) * span + values)
    offsets = np.searchsorted(unique, np.arange(n_parents + 1, dtype=np.int64) * span)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(unique % span, pa.int32()))


def layer_tables(
    layer: int,
    entities: Sequence[NewEntity],
    children: Iterable[Sequence[str]],
    chunks: pa.ListArray,
    relations: NewRelations,
) -> Graph:
    """Make the tables of a new layer of n entities. children: ids of each entity's children. chunks: (n,)
    list<int32>.
    """
    ids = [entity_id(layer, child_ids) for child_ids in children]
    columns = {
        "id": ids,
        "name": [entity.name for entity in entities],
        "type": [entity.type for entity in entities],
        "description": [entity.description for entity in entities],
        "findings": _findings(entities),
        "chunks": chunks,
        "promoted": [entity.promoted for entity in entities],
    }
    ends = relations.ends.astype(np.int32).reshape(-1, 2)
    n = len(ends)
    offsets = pa.array(relations.offsets, pa.int32())
    kinds = pa.DictionaryArray.from_arrays(relations.summarised.astype(np.int8), ["concatenated", "summarised"])
    relation_columns = {
        "id": [relation_id(layer, ids[left], ids[right]) for left, right in ends.tolist()],
        "source": ends[:, 0].copy(),
        "target": ends[:, 1].copy(),
        "weight": relations.weight.astype(np.float32),
        "strength": relations.strength.astype(np.int32),
        "kind": kinds.cast(pa.string()),
        "description": relations.descriptions,
        "keywords": relations.keywords,
        "chunks": pa.ListArray.from_arrays(pa.array(np.zeros(n + 1, dtype=np.int32)), pa.array([], pa.int32())),
        "members": pa.ListArray.from_arrays(offsets, pa.array(relations.members, pa.int32())),
    }
    return Graph(
        pa.table(columns, schema=ENTITY_SCHEMA), pa.table(relation_columns, schema=RELATION_SCHEMA).combine_chunks()
    )


def _findings(entities: Sequence[NewEntity]) -> pa.ListArray:
    """Return the findings of n entities as a column, (n,) lists."""
    cell = ENTITY_SCHEMA.field("findings").type.value_type
    listed = [finding for entity in entities for finding in entity.findings]
    texts = [pa.array([getattr(finding, field.name) for finding in listed], pa.string()) for field in cell]
    lengths = np.array([len(entity.findings) for entity in entities], dtype=np.int64)
    return pa.ListArray.from_arrays(list_offsets(lengths), pa.StructArray.from_arrays(texts, fields=list(cell)))
