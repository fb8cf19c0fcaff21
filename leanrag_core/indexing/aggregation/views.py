"""What a writer sees of a layer: its clusters, and the groups of relations between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.indexing.aggregation.relations import RelationGroups, frequent_keywords
from leanrag_core.indexing.aggregation.tables import NewEntity
from leanrag_core.indexing.aggregation.writer import ClusterView, InsideRelation, RelationGroupView
from leanrag_core.types.graph import Layer


@dataclass(frozen=True, eq=False)
class LayerColumns:
    """A layer's columns as Python lists, taken from Arrow once."""

    names: list[str]
    types: list[str]
    descriptions: list[str]
    ids: list[str]
    relation_kinds: list[str]
    relation_descriptions: list[str]
    relation_keywords: list[list[str]]
    weights: np.ndarray
    strengths: np.ndarray


def columns_of(layer: Layer) -> LayerColumns:
    """The columns of a layer; empty cells become empty texts and lists."""
    entities, relations = layer.entities, layer.relations
    return LayerColumns(
        names=[name or "" for name in entities["name"].to_pylist()],
        types=[type_ or "" for type_ in entities["type"].to_pylist()],
        descriptions=[description or "" for description in entities["description"].to_pylist()],
        ids=entities["id"].to_pylist(),
        relation_kinds=[kind or "stated" for kind in relations["kind"].to_pylist()],
        relation_descriptions=[description or "" for description in relations["description"].to_pylist()],
        relation_keywords=[words or [] for words in relations["keywords"].to_pylist()],
        weights=relations["weight"].to_numpy(),
        strengths=relations["strength"].to_numpy(),
    )


def inside_rows(ends: np.ndarray, parent: np.ndarray, n_parents: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the relations inside each cluster: those of cluster j are rows[offsets[j]:offsets[j + 1]], ascending."""
    lifted = parent[ends.reshape(-1, 2)]
    rows = np.flatnonzero(lifted[:, 0] == lifted[:, 1])
    owner = lifted[rows, 0]
    order = np.argsort(owner, kind="stable")
    return np.searchsorted(owner[order], np.arange(n_parents + 1)), rows[order]


def cluster_view(
    layer: Layer, columns: LayerColumns, label: int, members: np.ndarray, relation_rows: np.ndarray
) -> ClusterView:
    """The view of one cluster of `layer`. members: its rows, ascending; relation_rows: the relations inside it."""
    position = {row: place for place, row in enumerate(members.tolist())}
    degrees = [0] * len(position)
    relations = []
    for row in relation_rows.tolist():
        source, target = (position[end] for end in layer.ends[row].tolist())
        degrees[source] += 1
        degrees[target] += 1
        relations.append(
            InsideRelation(
                source=source,
                target=target,
                kind=columns.relation_kinds[row],
                weight=float(columns.weights[row]),
                strength=int(columns.strengths[row]),
                keywords=tuple(columns.relation_keywords[row]),
                description=columns.relation_descriptions[row],
            )
        )
    return ClusterView(
        layer=layer.number + 1,
        label=label,
        rows=tuple(position),
        names=tuple(columns.names[row] for row in position),
        types=tuple(columns.types[row] for row in position),
        descriptions=tuple(columns.descriptions[row] for row in position),
        vectors=layer.vectors[members],
        degrees=tuple(degrees),
        relations=tuple(relations),
    )


def strongest_first(rows: np.ndarray, columns: LayerColumns) -> list[int]:
    """Relation rows by falling strength, then falling weight, then row."""
    return sorted(rows.tolist(), key=lambda row: (-int(columns.strengths[row]), -float(columns.weights[row]), row))


def relation_view(
    layer: Layer,
    columns: LayerColumns,
    groups: RelationGroups,
    group: int,
    parents: Sequence[NewEntity],
    base_kinds: Sequence[tuple[str, int]],
) -> RelationGroupView:
    """The view of one group of relations of `layer`, for the relation between parents[left] and parents[right]."""
    left, right = parents[int(groups.left[group])], parents[int(groups.right[group])]
    rows = strongest_first(groups.members(group), columns)
    return RelationGroupView(
        layer=layer.number + 1,
        left_name=left.name,
        left_description=left.description,
        right_name=right.name,
        right_description=right.description,
        strength=int(groups.strength[group]),
        base_kinds=tuple(base_kinds),
        keywords=frequent_keywords([columns.relation_keywords[row] for row in rows]),
        descriptions=tuple(columns.relation_descriptions[row] for row in rows),
        pairs=tuple((columns.names[source], columns.names[target]) for source, target in layer.ends[rows].tolist()),
    )
