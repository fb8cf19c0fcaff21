"""Search of entities by name: substring matches, and similar names where nothing matches."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from leanrag_core.queries.browse import EntityRow, entity_rows, locate
from leanrag_core.text.words import FUNCTION_WORDS, without_accents
from leanrag_core.types.graph import Layer, Place, Relation
from leanrag_core.types.index import Index

_COMPARED = 300  # names that are compared letter by letter with a text without a match
_LONGEST = 200  # letters of that text
_NAME_WORDS, _NAME_CHARACTERS, _MOST_NAMES = 6, 12, 6  # of a name that is looked for in a text; names that it gives
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class EntityMatches:
    """The first rows of a search, and how many there are in all."""

    rows: tuple[EntityRow, ...]
    total: int


def find_entities(
    index: Index,
    text: str,
    *,
    layer: int | None = None,
    limit: int = 500,
    masks: Mapping[int, np.ndarray] | None = None,
) -> EntityMatches:
    """Return the entities whose name contains the text in any case, aggregated layers first.

    masks: by layer, (n,) bool, the entities to look among; all where there is none.

    Within a layer names that begin with the text come first, then those with most entities below them, then those with
    more relations.
    """
    import pyarrow.compute as pc

    query = text.strip()
    rows: list[EntityRow] = []
    total = 0
    for level in reversed(index.layers):
        if layer is not None and level.number != layer:
            continue
        room = max(0, limit - len(rows))
        if not query:
            listed = _order(index, level)
            if masks is not None:
                listed = listed[masks[level.number][listed]]
            total += len(listed)
            rows += entity_rows(index, level.number, listed[:room])
            continue
        names = level.entities["name"]
        hits = np.flatnonzero(pc.match_substring(names, query, ignore_case=True).to_numpy())
        if masks is not None:
            hits = hits[masks[level.number][hits]]
        total += len(hits)
        if room and len(hits):
            begins = pc.starts_with(names.take(pa.array(hits)), query, ignore_case=True).to_numpy()
            order = _order(index, level)
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order), dtype=order.dtype)
            place = rank[hits] + np.where(begins, 0, len(level))
            if len(hits) > room:
                nearest = np.argpartition(place, room - 1)[:room]
                hits, place = hits[nearest], place[nearest]
            rows += entity_rows(index, level.number, hits[np.argsort(place)])
    return EntityMatches(tuple(rows), total)


def best_matches(
    index: Index, text: str, *, limit: int, masks: Mapping[int, np.ndarray] | None = None
) -> EntityMatches:
    """Find entities whose name contains the text: names that begin with it first, then the lower layers.

    Else the order is that of `find_entities`; no text has no matches. masks: by layer, (n,) bool, see there.
    """
    query = text.strip()
    if not query:
        return EntityMatches((), 0)
    by_layer = [find_entities(index, query, layer=layer.number, limit=limit, masks=masks) for layer in index.layers]
    rows = [row for matches in by_layer for row in matches.rows]
    rows.sort(key=lambda row: not row.name.casefold().startswith(query.casefold()))  # stable
    return EntityMatches(tuple(rows[:limit]), sum(matches.total for matches in by_layer))


def matches_by_words(index: Index, text: str, *, limit: int) -> tuple[EntityRow, ...]:
    """Find entities whose name contains the text, then those whose name holds each of its words somewhere, with or
    without its accents. In each part the order is that of `best_matches`.
    """
    import pyarrow.compute as pc

    rows = list(best_matches(index, text, limit=limit).rows)
    parts = without_accents(text).split()
    if len(rows) < limit and parts:
        masks = {}
        for layer in index.layers:
            has_part = [pc.match_substring(layer.unaccented_names, part).to_numpy() for part in parts]
            masks[layer.number] = np.logical_and.reduce(has_part)
        listed_ids = {row.id for row in rows}
        by_layer = [find_entities(index, "", layer=layer.number, limit=limit, masks=masks) for layer in index.layers]
        rows += [row for matches in by_layer for row in matches.rows if row.id not in listed_ids]
    return tuple(rows[:limit])


def names_in(index: Index, text: str) -> list[str]:
    """Return the names of base entities that the text holds as whole words, the longest first; none that is a part of
    another.
    """
    import pyarrow.compute as pc

    words = _WORD.findall(text.lower())
    runs = {" ".join(words[i : i + k]) for i in range(len(words)) for k in range(1, _NAME_WORDS + 1)}
    # Scripts without blanks: every run of their characters may be a name.
    for word in (word for word in words if not word.isascii()):
        runs |= {word[i : i + k] for i in range(len(word)) for k in range(2, _NAME_CHARACTERS + 1)}
    phrases = sorted(run for run in runs if run not in FUNCTION_WORDS and (len(run) > 2 or not run.isascii()))
    base = index.layers[0]
    rows = np.flatnonzero(pc.is_in(base.plain_names, value_set=pa.array(phrases, pa.string())).to_numpy())
    names = sorted((base.entity_cells.value("name", int(row)) for row in rows), key=lambda name: (-len(name), name))
    kept: list[str] = []
    for name in names:
        if not any(name.casefold() in longer.casefold() for longer in kept):
            kept.append(name)
    return kept[:_MOST_NAMES]


def _order(index: Index, level: Layer) -> np.ndarray:
    """Return the rows of a layer, (n,), those with most base entities below first, then those with most relations."""
    degrees = level.degrees.astype(np.int64)
    weight = index.leaf_counts[level.number] * (degrees.max(initial=0) + 1) + degrees
    return np.argsort(-weight, kind="stable")


def nearest_names(index: Index, text: str) -> list[str]:
    """Return the three names that are most similar to the text, for a search without a match."""
    import pyarrow.compute as pc

    query = text.casefold().strip()[:_LONGEST]
    names = pc.unique(pa.chunked_array([chunk for level in index.layers for chunk in level.entities["name"].chunks]))
    if len(names) > _COMPARED:
        names = names.take(pa.array(_most_similar(names, query)))
    folded = {name.casefold(): name for name in sorted(names.to_pylist(), reverse=True)}
    return [folded[hit] for hit in difflib.get_close_matches(query, list(folded), n=3, cutoff=0.5)]


def _most_similar(names: pa.StringArray, text: str) -> np.ndarray:
    """Return the rows of the names that share most pairs of neighbouring bytes with the text, for their length; (k,)
    int64.
    """
    import pyarrow.compute as pc

    _, offsets, characters = pc.utf8_lower(names).buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[: len(names) + 1]
    letters = np.frombuffer(characters, dtype=np.uint8)[: bounds[-1]] if characters else np.zeros(0, dtype=np.uint8)
    in_text = np.zeros(1 << 16, dtype=bool)
    in_text[_pairs(np.frombuffer(text.encode(), dtype=np.uint8))] = True
    hits = np.append(in_text[_pairs(letters)], False)[: len(letters)]
    hits[bounds[1:] - 1] = False  # a pair of the last byte of one name and the first of the next
    sums = np.concatenate([[0], np.cumsum(hits)])
    shared = sums[bounds[1:]] - sums[bounds[:-1]]
    similarity = 2 * shared / (len(text.encode()) + np.diff(bounds))
    return np.argsort(-similarity, kind="stable")[:_COMPARED]


def _pairs(letters: np.ndarray) -> np.ndarray:
    """Return the pairs of neighbouring bytes as numbers, (n - 1,) uint16. letters: (n,) uint8."""
    return np.asarray((letters[:-1].astype(np.uint16) << 8) | letters[1:])


@dataclass(frozen=True)
class Thing:
    """A thing of an index as text. layer: 0 for a chunk. name: of a relation both ends, of a chunk its document."""

    id: str
    what: Literal["entity", "relation", "chunk"]
    layer: int
    name: str
    text: str


def thing_of(index: Index, id_or_name: str) -> Thing | None:
    """Return the thing of that id, or the entity of that name, the topmost one; None when there is neither."""
    place = locate(index, id_or_name)
    if place is None:
        relation = relation_of(index, id_or_name)
        if relation is not None:
            return _relation(index, relation)
        chunk = chunk_of(index, id_or_name)
        if chunk is not None:
            document = index.document_cells.value("name", index.chunk_cells.value("document", chunk))
            return Thing(id_or_name, "chunk", 0, f"{document}, {chunk + 1}", index.chunk(chunk).text)
        place = place_of_name(index, id_or_name)
    if place is None:
        return None
    entity = index.layers[place.layer].entity(place.row)
    return Thing(entity.id, "entity", entity.layer, entity.name, entity.description)


def place_of_name(index: Index, name: str) -> Place | None:
    """Return where the entity of that name in any case is; of several the topmost, None where there is none."""
    folded = name.strip().casefold()
    named = (row for row in find_entities(index, name).rows if row.name.casefold() == folded)
    return next((Place(row.layer, row.row) for row in named), None)


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


def names_of_chunk(index: Index, row: int) -> list[str]:
    """Return the names of the base entities that the chunk in that row mentions, in the order of their rows."""
    rows = np.unique(index.entity_chunks[:, row].nonzero()[0])
    return [index.layers[0].entity_cells.value("name", int(entity)) for entity in rows]


def _relation(index: Index, relation: Relation) -> Thing:
    names = [index.layers[relation.layer].entity_cells.value("name", row) for row in (relation.source, relation.target)]
    return Thing(relation.id, "relation", relation.layer, " – ".join(names), relation.description)
