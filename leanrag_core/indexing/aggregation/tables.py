"""The columns of a new layer: ids, unions of chunks, entity and relation tables."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.relations import Lists, RelationGroups, Texts, distinct, joined, list_offsets
from leanrag_core.indexing.aggregation.rules import findings_text
from leanrag_core.indexing.aggregation.writer import ClusterView, InsideRelation, RelationGroupView
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Finding, Graph, Layer


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


@dataclass(frozen=True, eq=False)
class LayerColumns:
    """A layer's columns, whose cells become Python values when they are looked at.

    weights: (r,) float32 and strengths: (r,) int32, of its relations.
    """

    names: Texts
    types: Texts
    descriptions: Texts
    ids: Texts
    relation_kinds: Texts
    relation_descriptions: Texts
    relation_keywords: Lists
    weights: np.ndarray
    strengths: np.ndarray


def columns_of(layer: Layer) -> LayerColumns:
    """Return the columns of a layer; empty cells read as empty texts and lists."""
    entities, relations = layer.entities, layer.relations
    return LayerColumns(
        names=Texts(entities["name"]),
        types=Texts(entities["type"]),
        descriptions=Texts(entities["description"]),
        ids=Texts(entities["id"]),
        relation_kinds=Texts(relations["kind"], empty="stated"),
        relation_descriptions=Texts(relations["description"]),
        relation_keywords=Lists(relations["keywords"]),
        weights=relations["weight"].to_numpy(),
        strengths=relations["strength"].to_numpy(),
    )


def inside_rows(ends: np.ndarray, parent: np.ndarray, n_parents: int) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets (n_parents + 1,) and rows (k,), int64: cluster j has inside it the relations
    rows[offsets[j]:offsets[j + 1]].

    They ascend within a cluster. ends: (r, 2) rows. parent: (n,) cluster of each node.
    """
    lifted = parent[ends.reshape(-1, 2)]
    rows = np.flatnonzero(lifted[:, 0] == lifted[:, 1])
    owner = lifted[rows, 0]
    order = np.argsort(owner, kind="stable")
    return np.searchsorted(owner[order], np.arange(n_parents + 1)), rows[order]


def cluster_view(
    layer: Layer, columns: LayerColumns, label: int, members: np.ndarray, relation_rows: np.ndarray
) -> ClusterView:
    """Make the view of one cluster of `layer`. members: (k,) int rows, ascending; relation_rows: (q,) int, relations
    inside.
    """
    position = {row: place for place, row in enumerate(members.tolist())}
    degrees = [0] * len(position)
    relations = []
    for (left, right), kind, weight, strength, keywords, description in zip(
        layer.ends[relation_rows].tolist(),
        columns.relation_kinds.of(relation_rows),
        columns.weights[relation_rows].tolist(),
        columns.strengths[relation_rows].tolist(),
        columns.relation_keywords.of(relation_rows),
        columns.relation_descriptions.of(relation_rows),
        strict=True,
    ):
        source, target = position[left], position[right]
        degrees[source] += 1
        degrees[target] += 1
        relations.append(InsideRelation(source, target, kind, weight, strength, keywords, description))
    return ClusterView(
        layer=layer.number + 1,
        label=label,
        rows=tuple(position),
        names=tuple(columns.names.of(members)),
        types=tuple(columns.types.of(members)),
        descriptions=tuple(columns.descriptions.of(members)),
        vectors=layer.vectors[members],
        degrees=tuple(degrees),
        relations=tuple(relations),
    )


def relation_view(
    layer: Layer,
    columns: LayerColumns,
    groups: RelationGroups,
    group: int,
    rows: np.ndarray,
    parents: Sequence[NewEntity],
    *,
    findings: bool,
) -> RelationGroupView:
    """Make the view of one group of relations of `layer`, for the relation between parents[left] and parents[right],
    without its kinds and keywords.

    rows: (k,) int, the group's relations, the strongest first. findings: both ends are described by their findings.
    """
    left, right = parents[int(groups.left[group])], parents[int(groups.right[group])]
    texts = [findings_text(end.description, end.findings if findings else ()) for end in (left, right)]
    return RelationGroupView(
        layer=layer.number + 1,
        left_name=left.name,
        left_description=texts[0],
        right_name=right.name,
        right_description=texts[1],
        strength=int(groups.strength[group]),
        base_kinds=(),
        keywords=(),
        descriptions=tuple(columns.relation_descriptions.of(rows)),
        pairs=tuple(zip(*(columns.names.of(ends) for ends in layer.ends[rows].T.copy()), strict=True)),
    )
