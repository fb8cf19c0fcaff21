"""Entities of an index as programs look them up: what one is, its neighbours, and the ways between two."""

from dataclasses import dataclass

from leanrag_core.errors import InvalidConfig
from leanrag_core.queries.browse import children, locate, neighbours
from leanrag_core.queries.entity_search import nearest_names, place_of_name
from leanrag_core.retrieval.graph_walks import shortest_path
from leanrag_core.retrieval.lca import lca_subtree
from leanrag_core.types.graph import Layer, Place
from leanrag_core.types.index import Index

_MOST_HOPS = 12  # between two entities; beyond, a way by relations says little
_PASSAGES, _CHILDREN = 5, 20  # that are told of an entity


@dataclass(frozen=True)
class Named:
    """An entity by name. layer: 0 for what the documents name, above it what was aggregated."""

    id: str
    name: str
    layer: int


@dataclass(frozen=True)
class Passage:
    """A passage that mentions an entity. start, end: characters of the document."""

    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class EntityValues:
    """An entity: what the index says of it, where it stands in the hierarchy, and the first passages that mention it.
    parent: what it was aggregated to, None for the root. children: what it was aggregated from, at most 20. passages:
    the first 5 of n_passages. n_relations: within its layer."""

    id: str
    name: str
    type: str
    layer: int
    description: str
    parent: Named | None
    children: tuple[Named, ...]
    n_relations: int
    n_passages: int
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class NeighbourValues:
    """A relation of an entity and what it leads to. strength: the relation's weight, above layer 0 how many relations
    of the layer below it stands for."""

    entity: Named
    relation: str
    strength: float


@dataclass(frozen=True)
class Hop:
    """A step of a way. relation: what joins the entity with the one before; "" for the first."""

    entity: Named
    relation: str


@dataclass(frozen=True)
class Ways:
    """The ways between two entities. by_relations: the fewest relations between them, empty where they are in two
    layers or more than 12 relations apart. through_ancestor: up the hierarchy from the first to their lowest common
    ancestor, and down to the second."""

    by_relations: tuple[Hop, ...]
    through_ancestor: tuple[Named, ...]
    ancestor: Named


def entity_values(index: Index, wanted: str) -> EntityValues:
    """Return the entity of that id or name. Raises InvalidConfig where the index has none."""
    place = place_of(index, wanted)
    layer = index.layers[place.layer]
    entity = layer.entity(place.row)
    above = Place(place.layer + 1, int(layer.parent[place.row])) if place.layer + 1 < len(index.layers) else None
    passages = []
    for row in entity.chunks[:_PASSAGES]:
        chunk = index.chunk(row)
        document = index.document_cells.value("name", index.chunk_cells.value("document", row))
        passages.append(Passage(document, chunk.start, chunk.end, chunk.text))
    below = children(index, place, _CHILDREN) if place.layer else []
    parent = None if above is None else _named(index, above)
    own = (entity.id, entity.name, entity.type, entity.layer, entity.description)
    members = tuple(Named(row.id, row.name, row.layer) for row in below)
    n_relations = int(layer.degrees[place.row])
    return EntityValues(*own, parent, members, n_relations, len(entity.chunks), tuple(passages))


def neighbour_values(index: Index, wanted: str, limit: int) -> list[NeighbourValues]:
    """Return the relations of the entity in its layer, the strongest first. Raises as entity_values() does."""
    place = place_of(index, wanted)
    return [
        NeighbourValues(
            Named(each.id, each.name, place.layer),
            each.relation.description,
            float(each.relation.strength if place.layer else each.relation.weight),
        )
        for each in neighbours(index, place, limit)
    ]


def ways_between(index: Index, first: str, second: str) -> Ways:
    """Return the ways between two entities, each by id or name. Raises as entity_values() does."""
    ends = place_of(index, first), place_of(index, second)
    layer = index.layers[ends[0].layer]
    rows: list[int] = []
    if ends[0].layer == ends[1].layer:
        rows = shortest_path(layer.adjacency, ends[0].row, ends[1].row, most_hops=_MOST_HOPS)
    hops = [
        Hop(_named(index, Place(layer.number, row)), _joining(layer, before, row))
        for before, row in zip([None, *rows], rows, strict=False)
    ]
    tree = lca_subtree([each.parent for each in index.layers], [(end.layer, end.row) for end in ends])
    climbs = []
    for end in ends:
        node = (end.layer, end.row)
        climb = [node]
        while (node := tree.parent.get(node, node)) != climb[-1]:
            climb.append(node)
        climbs.append(climb)
    through = [*climbs[0], *reversed(climbs[1][:-1])]
    return Ways(tuple(hops), tuple(_named(index, Place(*node)) for node in through), _named(index, Place(*tree.top)))


def place_of(index: Index, wanted: str) -> Place:
    """Return where the entity of that id, or of that name in any case, is; of several of one name the topmost. Raises
    InvalidConfig where there is none."""
    place = locate(index, wanted) or place_of_name(index, wanted)
    if place is not None:
        return place
    near = ", ".join(nearest_names(index, wanted)) if wanted.strip() else ""
    if near:
        raise InvalidConfig("serving.no_entity_but", name=wanted[:200], near=near)
    raise InvalidConfig("serving.no_entity", name=wanted[:200])


def _named(index: Index, place: Place) -> Named:
    cells = index.layers[place.layer].entity_cells
    return Named(cells.value("id", place.row), cells.value("name", place.row), place.layer)


def _joining(layer: Layer, before: "int | None", row: int) -> str:
    """Return what the strongest relation between the two rows says; of equally strong ones the first."""
    if before is None:
        return ""
    rows = layer.relations_inside([before, row]).tolist()
    strength = layer.relations["strength" if layer.number else "weight"]
    best = max(rows, key=lambda relation: (strength[relation].as_py(), -relation))
    return layer.relation(best).description
