"""Entities, neighbours, children, members and chunks of an index as lists show; rows are made for what is shown."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.types.graph import Layer, Place, Relation
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import NearNode, NearRelation, Neighbourhood


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
    relation: Relation


def locate(index: Index, entity_id: str) -> Place | None:
    """Return the entity's place, None when the index has no such id."""
    for layer in reversed(index.layers):
        row = layer.row_of.get(entity_id)
        if row is not None:
            return Place(layer.number, row)
    return None


def entity_rows(index: Index, number: int, rows: Sequence[int] | np.ndarray) -> list[EntityRow]:
    """Return those entities of a layer, in the order given. rows: (k,) int."""
    import pyarrow.compute as pc

    layer, layer_rows = index.layers[number], np.asarray(rows, dtype=np.int64)
    below, relations = index.leaf_counts[number], layer.degrees
    cells = layer.entities.select(["id", "name", "type", "chunks"]).take(pa.array(layer_rows))
    chunks = pc.fill_null(pc.list_value_length(cells["chunks"]), 0).to_pylist()
    texts = (cells[column].to_pylist() for column in ("id", "name", "type"))
    return [
        EntityRow(id_, number, row, name, type_, int(below[row]), int(relations[row]), n_chunks)
        for row, id_, name, type_, n_chunks in zip(layer_rows.tolist(), *texts, chunks, strict=True)
    ]


def neighbours(index: Index, place: Place, limit: int | None = None) -> list[Neighbour]:
    """Return the relations of an entity in its layer, the strongest first, at most `limit`."""
    layer = index.layers[place.layer]
    rows = layer.relations_of(place.row)
    if not len(rows):
        return []
    others = pa.array(layer.other_ends(rows, place.row))
    table = layer.relations.select(["strength", "weight"]).take(pa.array(rows))
    for column in ("name", "id"):
        table = table.append_column(column, layer.entities[column].take(others))
    order = _first(table.append_column("row", pa.array(rows)), limit)
    return [
        Neighbour(table["id"][at].as_py(), table["name"][at].as_py(), layer.relation(int(rows[at]))) for at in order
    ]


def unfold(index: Index, relation: Relation, limit: int | None = None) -> list[MemberRelation]:
    """Return the relations of the layer below that an aggregated relation stands for, the strongest first, at most
    `limit`; none for a base relation.
    """
    if relation.layer == 0 or not relation.members:
        return []
    below = index.layers[relation.layer - 1]
    rows = np.array(relation.members, dtype=np.int64)
    table = below.relations.select(["strength", "weight"]).take(pa.array(rows))
    for column, end in (("name", 0), ("target", 1)):
        table = table.append_column(column, below.entities["name"].take(pa.array(below.ends[rows, end])))
    order = _first(table.append_column("row", pa.array(rows)), limit)
    return [
        MemberRelation(table["name"][at].as_py(), table["target"][at].as_py(), below.relation(int(rows[at])))
        for at in order
    ]


def _first(table: pa.Table, limit: int | None) -> list[int]:
    """Return the rows of the table, sorted by its columns in their order: numbers descending, texts ascending."""
    import pyarrow.compute as pc

    numbers = ("strength", "weight", "below", "relations")
    keys = [(column, "descending" if column in numbers else "ascending") for column in table.column_names]
    if limit is None or limit >= table.num_rows:
        return list(pc.sort_indices(table, keys).to_pylist())
    return list(pc.select_k_unstable(table, limit, keys).to_pylist())  # the last column leaves no two rows alike


def chunks_of_relation(index: Index, relation: Relation) -> list[int]:
    """Return the rows of the chunks that a relation was extracted from, down through its members."""
    import pyarrow.compute as pc

    chunk_rows, rows = [np.array(relation.chunks, dtype=np.int64)], np.array(relation.members, dtype=np.int64)
    for layer in reversed(index.layers[: relation.layer]):
        members = layer.relations.select(["chunks", "members"]).take(pa.array(np.unique(rows)))
        chunk_rows.append(pc.list_flatten(members["chunks"]).to_numpy())
        rows = pc.list_flatten(members["members"]).to_numpy()
    return [int(row) for row in np.unique(np.concatenate(chunk_rows))]


def children(index: Index, place: Place, limit: int | None = None) -> list[EntityRow]:
    """Return the nodes that an aggregated entity stands for, those with most below them first, at most `limit`."""
    rows = index.children_of(place.layer, place.row)
    if not len(rows):
        return []
    layer, number = index.layers[place.layer - 1], place.layer - 1
    table = layer.entities.select(["name", "id"]).take(pa.array(rows))
    table = table.add_column(0, "relations", pa.array(layer.degrees[rows]))
    table = table.add_column(0, "below", pa.array(index.leaf_counts[number][rows]))
    return entity_rows(index, number, rows[_first(table.append_column("row", pa.array(rows)), limit)])


_FORMS_AT_MOST = 40  # of one name


def entities_in(index: Index, chunk: int) -> np.ndarray:
    """Return the rows of the base entities that the chunk mentions, (k,), those with most relations first."""
    rows = _owners(*index.layers[0].mention_lists, chunk)
    return rows[np.lexsort((rows, -index.layers[0].degrees[rows]))]


def relations_in(index: Index, chunk: int) -> np.ndarray:
    """Return the rows of the base relations that the chunk states, (k,), those of most weight first."""
    layer = index.layers[0]
    lists = layer.relation_chunk_lists
    rows = _owners(lists.offsets, lists.values, chunk)
    return rows[np.lexsort((rows, -layer.weights[rows]))]


def _owners(offsets: np.ndarray, values: np.ndarray, value: int) -> np.ndarray:
    """Return the rows of the lists that hold that value, (k,) int64; each list has it once at most.

    offsets: (n + 1,). values: those of all lists.
    """
    first = int(offsets[0])
    places = np.flatnonzero(values[first : int(offsets[-1])] == value) + first
    return np.searchsorted(offsets, places, side="right") - 1


def forms_by_name(aliases: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Group other forms of names by the name that is shown. aliases: of each form the shown name, as in a build
    report."""
    forms: dict[str, list[str]] = defaultdict(list)
    for form, shown in aliases.items():
        if len(forms[shown]) < _FORMS_AT_MOST:
            forms[shown].append(form)
    return {name: tuple(of_name) for name, of_name in forms.items()}


def with_forms(names: Sequence[str], forms: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each of the names with its other forms."""
    return [form for name in names for form in (name, *forms.get(name, ()))]


_MOST_HOPS = 2


def neighbourhood(index: Index, place: Place, *, max_nodes: int) -> Neighbourhood:
    """Return the node with what one and two relations lead to: at most max_nodes, the nearest and strongest of them."""
    layer = index.layers[place.layer]
    strength = layer.strengths
    hops_of, left_out = {place.row: 0}, 0
    frontier = [place.row]
    for hop in range(1, _MOST_HOPS + 1):
        reached = _reached(layer, frontier, hops_of, strength)
        room = max_nodes - len(hops_of)
        frontier = reached[:room]
        left_out += len(reached) - len(frontier)
        hops_of |= dict.fromkeys(frontier, hop)
        if left_out:
            break
    rows = list(hops_of)
    cells = layer.entities.select(["id", "name", "type"]).take(pa.array(rows))
    ids, names, types = (cells[column].to_pylist() for column in cells.column_names)
    nodes = tuple(
        NearNode(id_, name, type_ or "", hops_of[row])
        for row, id_, name, type_ in zip(rows, ids, names, types, strict=True)
    )
    position_of = {row: position for position, row in enumerate(rows)}
    inside = layer.relations_inside(rows)
    texts = layer.relations.select(["id", "kind"]).take(pa.array(inside)).to_pydict()
    relations = tuple(
        NearRelation(id_, position_of[source], position_of[target], float(strength[row]), kind or "")
        for id_, kind, row, (source, target) in zip(
            texts["id"], texts["kind"], inside.tolist(), layer.ends[inside].tolist(), strict=True
        )
    )
    return Neighbourhood(layer.number, nodes, relations, left_out)


def _reached(layer: Layer, frontier: list[int], known: dict[int, int], strength: np.ndarray) -> list[int]:
    """Return the nodes that a relation joins with the frontier and that are not known yet, the strongest relation
    first.

    strength: (r,), see Layer.strengths.
    """
    best: dict[int, float] = {}
    for row in frontier:
        relations = layer.relations_of(row)
        for other, value in zip(layer.other_ends(relations, row).tolist(), strength[relations].tolist(), strict=True):
            if other not in known:
                best[other] = max(best.get(other, 0.0), value)
    return sorted(best, key=lambda row: (-best[row], row))
