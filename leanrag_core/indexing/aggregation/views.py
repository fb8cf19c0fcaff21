"""What a writer sees of a layer: its clusters, and the groups of relations between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.indexing.aggregation.columns import Lists, Texts
from leanrag_core.indexing.aggregation.relations import RelationGroups
from leanrag_core.indexing.aggregation.tables import NewEntity
from leanrag_core.indexing.aggregation.writer import ClusterView, InsideRelation, RelationGroupView
from leanrag_core.types.graph import Layer


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
    base_kinds: Sequence[tuple[str, int]],
    keywords: Sequence[str],
) -> RelationGroupView:
    """Make the view of one group of relations of `layer`, for the relation between parents[left] and parents[right].

    rows: (k,) int, the group's relations, the strongest first.
    """
    left, right = parents[int(groups.left[group])], parents[int(groups.right[group])]
    return RelationGroupView(
        layer=layer.number + 1,
        left_name=left.name,
        left_description=left.description,
        right_name=right.name,
        right_description=right.description,
        strength=int(groups.strength[group]),
        base_kinds=tuple(base_kinds),
        keywords=tuple(keywords),
        descriptions=tuple(columns.relation_descriptions.of(rows)),
        pairs=tuple(zip(*(columns.names.of(ends) for ends in layer.ends[rows].T.copy()), strict=True)),
    )
