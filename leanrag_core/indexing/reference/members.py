"""Aggregated entities by the base entities below them, so that text written by hand is used where these agree."""

from leanrag_core.indexing.reference.records import ReferenceGraph
from leanrag_core.indexing.resolution import name_key

Members = frozenset[str]  # keys of the names of base entities


def members_of(names: tuple[str, ...]) -> Members:
    """Return the key of a cluster over base entities of those names."""
    return frozenset(map(name_key, names))


def end_members(graph: ReferenceGraph, layer: int, name: str) -> Members | None:
    """Return the base entities below the node of that name in the layer; None when no node has the name.

    A node that was promoted keeps its name, so names of lower layers count as well, the highest first.
    """
    named = [row for row in graph.aggregated_entities if row.name == name and row.layer <= layer]
    if named:
        return members_of(max(named, key=lambda row: row.layer).members)
    key = name_key(name)
    return frozenset({key}) if any(name_key(row.name) == key for row in graph.entities) else None
