"""Views of an index for a reader: find, list, unfold. Rows are made only for what is shown."""

import difflib
from dataclasses import dataclass

import numpy as np

from leanrag_core.types.graph import Relation
from leanrag_core.types.index import Index


@dataclass(frozen=True)
class Place:
    """Where an entity stands."""

    layer: int
    row: int


@dataclass(frozen=True)
class EntityRow:
    """An entity as a list shows it. below: base entities under it (1 for a base entity itself)."""

    id: str
    layer: int
    row: int
    name: str
    type: str
    below: int
    relations: int
    chunks: int


@dataclass(frozen=True)
class Neighbour:
    """A relation seen from one of its ends: the other end, and the relation."""

    id: str
    name: str
    relation: Relation


@dataclass(frozen=True)
class MemberRelation:
    """A relation that an aggregated one stands for, with the names of its ends."""

    source: str
    target: str
    source_id: str
    target_id: str
    relation: Relation


def locate(index: Index, entity_id: str) -> Place | None:
    """The entity's place, None when the index has no such id."""
    for layer in reversed(index.layers):
        row = layer.row_of.get(entity_id)
        if row is not None:
            return Place(layer.number, row)
    return None


def leaf_counts(index: Index) -> tuple[np.ndarray, ...]:
    """For each layer (n,) int: how many base entities lie below each node."""
    counts = [np.ones(len(index.layers[0]), dtype=np.int64)]
    for below, above in zip(index.layers, index.layers[1:], strict=False):
        counts.append(np.bincount(below.parent, weights=counts[-1], minlength=len(above)).astype(np.int64))
    return tuple(counts)


@dataclass(frozen=True)
class Found:
    """The first rows of a search, and how many there are in all."""

    rows: tuple[EntityRow, ...]
    total: int


def find_entities(index: Index, text: str, *, layer: int | None = None, limit: int = 500) -> Found:
    """Entities whose name holds the text in any case, aggregated layers first.

    Within a layer names that begin with the text come first, then those with more relations.
    """
    import pyarrow.compute as pc

    wanted, counts = text.strip(), leaf_counts(index)
    rows: list[EntityRow] = []
    total = 0
    for level in reversed(index.layers):
        if layer is not None and level.number != layer:
            continue
        names = level.entities["name"]
        hits = np.arange(len(level))
        if wanted:
            matched = pc.match_substring(names, wanted, ignore_case=True)
            hits = np.flatnonzero(matched.to_numpy(zero_copy_only=False))
        total += len(hits)
        degrees = (
            np.bincount(level.ends.ravel(), minlength=len(level)) if len(level.ends) else np.zeros(len(level), int)
        )
        starts = np.zeros(len(level), dtype=bool)
        if wanted:
            matched = pc.starts_with(names, wanted, ignore_case=True)
            starts = matched.to_numpy(zero_copy_only=False).astype(bool)
        order = sorted(hits, key=lambda row: (not starts[row], -counts[level.number][row], -degrees[row], row))
        for row in order[: max(0, limit - len(rows))]:
            cells = level.entities.slice(int(row), 1)
            rows.append(
                EntityRow(
                    id=cells["id"][0].as_py(),
                    layer=level.number,
                    row=int(row),
                    name=cells["name"][0].as_py(),
                    type=cells["type"][0].as_py(),
                    below=int(counts[level.number][row]),
                    relations=int(degrees[row]),
                    chunks=len(cells["chunks"][0].as_py() or ()),
                )
            )
    return Found(tuple(rows), total)


def nearest_names(index: Index, text: str, n: int = 3) -> list[str]:
    """Names most like the text, for a search without a hit."""
    names = sorted({name for layer in index.layers for name in layer.entities["name"].to_pylist()})
    folded = {name.casefold(): name for name in reversed(names)}
    return [folded[hit] for hit in difflib.get_close_matches(text.casefold(), list(folded), n=n, cutoff=0.5)]


def neighbours(index: Index, place: Place) -> list[Neighbour]:
    """Relations of an entity in its layer, the strongest first."""
    layer = index.layers[place.layer]
    found = []
    for row in layer.relations_of(place.row):
        relation = layer.relation(int(row))
        other = relation.target if relation.source == place.row else relation.source
        cells = layer.entities.slice(other, 1)
        found.append(Neighbour(cells["id"][0].as_py(), cells["name"][0].as_py(), relation))
    return sorted(found, key=lambda one: (-one.relation.strength, -one.relation.weight, one.name, one.id))


def unfold(index: Index, relation: Relation) -> list[MemberRelation]:
    """The relations of the layer below that an aggregated relation stands for; none for a base relation."""
    if relation.layer == 0:
        return []
    below = index.layers[relation.layer - 1]
    found = []
    for row in relation.members:
        member = below.relation(row)
        ends = [below.entities.slice(end, 1) for end in (member.source, member.target)]
        names, ids = ([end[column][0].as_py() for end in ends] for column in ("name", "id"))
        found.append(MemberRelation(names[0], names[1], ids[0], ids[1], member))
    return sorted(found, key=lambda one: (-one.relation.strength, -one.relation.weight, one.source, one.target))


def chunks_of_relation(index: Index, relation: Relation) -> list[int]:
    """Chunk rows that a relation rests on, down through its members."""
    rows: set[int] = set()
    pending = [relation]
    while pending:
        one = pending.pop()
        rows.update(one.chunks)
        if one.layer:
            pending += [index.layers[one.layer - 1].relation(row) for row in one.members]
    return sorted(rows)


def children(index: Index, place: Place) -> list[EntityRow]:
    """The nodes that an aggregated entity stands for, those with most below them first."""
    if place.layer == 0:
        return []
    layer, counts = index.layers[place.layer - 1], leaf_counts(index)[place.layer - 1]
    rows = []
    for row in index.children_of(place.layer, place.row):
        cells = layer.entities.slice(int(row), 1)
        rows.append(
            EntityRow(
                id=cells["id"][0].as_py(),
                layer=layer.number,
                row=int(row),
                name=cells["name"][0].as_py(),
                type=cells["type"][0].as_py(),
                below=int(counts[row]),
                relations=len(layer.relations_of(int(row))),
                chunks=len(cells["chunks"][0].as_py() or ()),
            )
        )
    return sorted(rows, key=lambda one: (-one.below, -one.relations, one.name, one.id))
