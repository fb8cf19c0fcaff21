"""Damage to relations, clusters and vectors."""

from typing import Any

import numpy as np

from tests.checking.damage import between, damage, row_of
from tests.checking.stored import Stored


@damage("kind and tau", "relations-1.arrow")
def a_summarised_relation_said_to_be_concatenated(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    stored.change("relations-1.arrow", "kind", row, "concatenated")
    return row


@damage("kind and tau", "relations-1.arrow")
def a_concatenated_relation_said_to_be_summarised(stored: Stored) -> int:
    row = row_of(stored, "concatenated")
    stored.change("relations-1.arrow", "kind", row, "summarised")
    return row


@damage("kind and tau", "relations-1.arrow")
def tau_falsified_with_all_that_names_it(stored: Stored) -> int:
    from leanrag_core.indexing.manifest import index_id

    def falsify(manifest: dict[str, Any]) -> None:
        manifest["config"]["tau"] = 0
        manifest["id"] = index_id(manifest)

    stored.record("manifest.json", falsify)
    return row_of(stored, "concatenated")


@damage("kind and tau", "relations-0.arrow")
def a_base_relation_said_to_be_summarised(stored: Stored) -> int:
    stored.change("relations-0.arrow", "kind", 2, "summarised")
    return 2


@damage("connectivity", "relations-1.arrow")
def a_lambda_changed(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    stored.change("relations-1.arrow", "strength", row, lambda strength: strength + 1)
    return row


@damage("connectivity", "relations-0.arrow")
def the_strength_of_a_base_relation_changed(stored: Stored) -> int:
    stored.change("relations-0.arrow", "strength", 4, 2)
    return 4


@damage("unfolding", "relations-1.arrow")
def two_relations_that_exchanged_a_member(stored: Stored) -> int:
    cells = stored.cells("relations-1.arrow", "members")
    cells[0], cells[1] = [cells[1][0], *cells[0][1:]], [cells[0][0], *cells[1][1:]]
    stored.put("relations-1.arrow", "members", cells)
    return 0


@damage("unfolding", "relations-0.arrow")
def a_member_lost(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    [*kept, lost] = stored.cells("relations-1.arrow", "members")[row]
    stored.change("relations-1.arrow", "members", row, kept)
    return int(lost)


@damage("ids from content", "relations-0.arrow")
def a_relation_moved_within_its_cluster(stored: Stored) -> int:
    """Move a relation within its cluster, so that no lambda changes."""
    index, row = stored.index(), between(stored, inside=False)
    base = index.layers[0]
    source, target = base.ends[row].tolist()
    taken = {tuple(ends) for ends in base.ends.tolist()}
    siblings = index.children_of(1, int(base.parent[target])).tolist()
    stored.change(
        "relations-0.arrow",
        "target",
        row,
        next(other for other in siblings if other > source and (source, other) not in taken),
    )
    return row


@damage("unfolding", "relations-1.arrow")
def a_relation_moved_to_another_cluster(stored: Stored) -> int:
    base = stored.index().layers[0]
    row = between(stored, inside=False)
    source, target = base.ends[row].tolist()
    [owner] = [at for at, members in enumerate(stored.cells("relations-1.arrow", "members")) if row in members]
    inside = np.flatnonzero(base.parent == base.parent[source])
    stored.change("relations-0.arrow", "target", row, int(inside[inside != source].max()))
    assert target not in inside
    return owner


@damage("relation ends", "relations-0.arrow")
def a_relation_turned_round(stored: Stored) -> int:
    source, target = (stored.cells("relations-0.arrow", name)[3] for name in ("source", "target"))
    stored.change("relations-0.arrow", "source", 3, target)
    stored.change("relations-0.arrow", "target", 3, source)
    return 3


@damage("weights", "relations-1.arrow")
def the_weight_of_an_aggregated_relation_changed(stored: Stored) -> int:
    stored.change("relations-1.arrow", "weight", 2, lambda weight: weight + 0.25)
    return 2


@damage("weights", "relations-1.arrow")
def the_weight_of_a_base_relation_changed(stored: Stored) -> int:
    stored.change("relations-0.arrow", "weight", stored.cells("relations-1.arrow", "members")[1][0], 9.5)
    return 1


@damage("ids from content", "entities-1.arrow")
def an_entity_moved_to_another_cluster(stored: Stored) -> int:
    parent = stored.cells("hierarchy.arrow", "parent")
    sizes = np.bincount(parent[:20])
    row = parent.index(int(sizes.argmax()))
    to = int(sizes.argmin())
    stored.change("hierarchy.arrow", "parent", row, to)
    return to


@damage("cluster sizes", "entities-1.arrow")
def a_cluster_above_the_cap(stored: Stored) -> int:
    parent = stored.cells("hierarchy.arrow", "parent")
    stored.put("hierarchy.arrow", "parent", [0] * 12 + parent[12:])
    return 0


@damage("one parent", "entities-1.arrow")
def a_cluster_without_members(stored: Stored) -> int:
    parent = stored.cells("hierarchy.arrow", "parent")
    stored.put("hierarchy.arrow", "parent", [3 if cluster == 4 else cluster for cluster in parent[:20]] + parent[20:])
    return 4


@damage("chunks of entities", "entities-1.arrow")
def a_chunk_missing_from_an_entity(stored: Stored) -> int:
    chunk_lists = stored.cells("entities-1.arrow", "chunks")
    row = next(at for at, chunks in enumerate(chunk_lists) if len(chunks) > 1)
    stored.change("entities-1.arrow", "chunks", row, chunk_lists[row][1:])
    return row


@damage("chunks of entities", "entities-0.arrow")
def a_base_entity_without_a_chunk(stored: Stored) -> int:
    stored.change("entities-0.arrow", "chunks", 7, [])
    return 7


@damage("vectors of texts", "vectors-0.npy")
def two_vectors_exchanged(stored: Stored) -> int:
    def exchange(vectors: np.ndarray) -> None:
        vectors[[2, 9]] = vectors[[9, 2]]

    stored.vectors(0, exchange)
    return 9


@damage("vectors of texts", "vectors-chunks.npy")
def two_vectors_of_chunks_exchanged(stored: Stored) -> int:
    def exchange(vectors: np.ndarray) -> None:
        vectors[[0, 1]] = vectors[[1, 0]]

    stored.vectors("chunks", exchange)
    return 1
