"""Anything of an index by its id: an entity, a relation or a chunk."""

from dataclasses import dataclass
from typing import Literal

from leanrag_core.queries.browse import locate
from leanrag_core.queries.entity_search import find_entities
from leanrag_core.types.graph import Relation
from leanrag_core.types.index import Index


@dataclass(frozen=True)
class Thing:
    """A thing of an index as text. layer: 0 for a chunk. name: of a relation both ends, of a chunk its document."""

    id: str
    what: Literal["entity", "relation", "chunk"]
    layer: int
    name: str
    text: str


def thing_of(index: Index, wanted: str) -> Thing | None:
    """Return the thing of that id, or the entity of that name, the topmost one; None when there is neither."""
    place = locate(index, wanted)
    if place is None:
        relation = relation_of(index, wanted)
        if relation is not None:
            return _relation(index, relation)
        chunk = chunk_of(index, wanted)
        if chunk is not None:
            document = index.document_cells["name"][index.chunk_cells["document"][chunk].as_py()].as_py()
            return Thing(wanted, "chunk", 0, f"{document}, {chunk + 1}", index.chunk(chunk).text)
        named = [row for row in find_entities(index, wanted).rows if row.name.casefold() == wanted.strip().casefold()]
        place = locate(index, named[0].id) if named else None
    if place is None:
        return None
    entity = index.layers[place.layer].entity(place.row)
    return Thing(entity.id, "entity", entity.layer, entity.name, entity.description)


def relation_of(index: Index, id_: str) -> Relation | None:
    """Return the relation of that id, in whatever layer."""
    for layer in index.layers:
        row = layer.relation_row_of.get(id_)
        if row is not None:
            return layer.relation(row)
    return None


def chunk_of(index: Index, id_: str) -> int | None:
    """Return the row of the chunk of that id."""
    import pyarrow.compute as pc

    row = pc.index(index.chunks["id"], id_).as_py()
    return row if row >= 0 else None


def _relation(index: Index, relation: Relation) -> Thing:
    names = [
        index.layers[relation.layer].entity_cells["name"][row].as_py() for row in (relation.source, relation.target)
    ]
    return Thing(relation.id, "relation", relation.layer, " – ".join(names), relation.description)
