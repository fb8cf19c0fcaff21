"""Entities and relations of other systems to the base graph G0, with their sources."""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.rows import Drops
from leanrag_core.importing.sources import Sources, document_of_text, windows
from leanrag_core.indexing.parsing.blocks import clean, one_line
from leanrag_core.indexing.resolution import name_key, resolve, tidy_name
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Extraction, Mention, RelationMention
from leanrag_core.types.imported import ImportedGraph

_MAX_NAME, _MAX_DESCRIPTION = 300, 20_000  # characters
_MAX_WEIGHT = 1e6


@dataclass(frozen=True)
class ImportedEntity:
    """An entity of another system. id: what its relations call it, else empty. passages: ids of its sources."""

    place: str
    name: str
    id: str = ""
    type: str = ""
    description: str = ""
    passages: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportedRelation:
    """A relation of another system. source, target: ids or names of its ends. weight: None where none is given."""

    place: str
    source: str
    target: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    weight: float | None = None
    passages: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Entity:
    """An entity that is taken. key: what equal names share. chunks: ids of its sources."""

    key: str
    name: str
    type: str
    description: str
    chunks: tuple[str, ...]


@dataclass(frozen=True)
class _Relation:
    source: _Entity
    target: _Entity
    description: str
    keywords: tuple[str, ...]
    weight: float
    chunks: tuple[str, ...]


def graph_of(
    entities: Iterable[ImportedEntity],
    relations: Iterable[ImportedRelation],
    sources: Sources,
    drops: Drops,
    *,
    name: str,
) -> ImportedGraph:
    """The graph, names merged as those of a build (section 2, step 3).

    Rows of one name are one entity, rows of one pair of ends one relation, whose weights add up. A relation with an end
    that is no entity is dropped. What names no source gets one: a document made of the descriptions, called `name`.
    Raises ImportFailed when no entity is left.
    """
    taken = _Taken(sources, drops)
    for entity in entities:
        taken.add_entity(entity)
    if not taken.entities:
        raise ImportFailed("import.no_entities")
    for relation in relations:
        taken.add_relation(relation)
    return taken.graph(name)


class _Taken:
    """Rows that are taken so far."""

    def __init__(self, sources: Sources, drops: Drops) -> None:
        self.sources, self.drops = sources, drops
        self.entities: list[_Entity] = []
        self.relations: list[_Relation] = []
        self._by_id: dict[str, _Entity] = {}
        self._by_key: dict[str, _Entity] = {}

    def add_entity(self, row: ImportedEntity) -> None:
        """The entity counts, unless its name or id cannot be used."""
        name = tidy_name(one_line(row.name))
        key = name_key(name)
        if not key:
            self.drops.add(row.place, "import.no_name")
            return
        if len(name) > _MAX_NAME:
            self.drops.add(row.place, "import.name_too_long", limit=_MAX_NAME)
            return
        if row.id and row.id in self._by_id and self._by_id[row.id].key != key:
            self.drops.add(row.place, "import.id_twice")
            return
        entity = _Entity(key, name, one_line(row.type)[:100], self._description(row), self._chunks(row))
        self.entities.append(entity)
        self._by_id.setdefault(row.id or name, entity)
        self._by_key.setdefault(key, entity)

    def add_relation(self, row: ImportedRelation) -> None:
        """The relation counts, unless an end of it is no entity."""
        source, target = self._end(row.source), self._end(row.target)
        if source is None or target is None:
            missing = row.source if source is None else row.target
            self.drops.add(row.place, "import.dangling_end" if missing.strip() else "import.no_end", end=missing[:80])
            return
        weight = 1.0 if row.weight is None else row.weight
        if not (math.isfinite(weight) and 0 <= weight <= _MAX_WEIGHT):
            self.drops.add(row.place, "import.weight")
            weight = 1.0
        keywords = tuple(one_line(word)[:100] for word in row.keywords)
        description = self._description(row) or f"{source.name} – {target.name}"
        self.relations.append(_Relation(source, target, description, keywords, weight, self._chunks(row)))

    def _end(self, id_or_name: str) -> _Entity | None:
        return self._by_id.get(id_or_name) or self._by_key.get(name_key(one_line(id_or_name)))

    def _description(self, row: ImportedEntity | ImportedRelation) -> str:
        text = clean(row.description).strip()
        if len(text) > _MAX_DESCRIPTION:
            self.drops.add(row.place, "import.text_cut", limit=_MAX_DESCRIPTION)
            text = text[:_MAX_DESCRIPTION].rstrip()
        return text

    def _chunks(self, row: ImportedEntity | ImportedRelation) -> tuple[str, ...]:
        known = [self.sources.chunk_of[passage] for passage in row.passages if passage in self.sources.chunk_of]
        if len(known) < len(row.passages):
            self.drops.add(row.place, "import.no_passage", n=len(row.passages) - len(known))
        return tuple(dict.fromkeys(known))

    def graph(self, name: str) -> ImportedGraph:
        """All that was taken, merged."""
        without = self._without_source()
        documents, chunks = self.sources.documents, self.sources.chunks
        if without:
            described = _Descriptions.of(without, name)
            self.entities = [described.with_chunks(entity) for entity in self.entities]
            self.relations = [described.with_chunks(relation) for relation in self.relations]
            documents = tuple(sorted((*documents, described.document), key=lambda each: (each.name, each.id)))
            by_document = defaultdict(list)
            for chunk in (*chunks, *described.chunks):
                by_document[chunk.document_id].append(chunk)
            ordered = [chunk for document in documents for chunk in by_document[document.id]]
            chunks = tuple(replace(chunk, position=place) for place, chunk in enumerate(ordered))
        merged = resolve(self._extractions(chunks), chunks, heuristic=False)
        notes = (message("import.described", n=len(without), name=name),) if without else ()
        drops = (*self.drops.drops, *merged.drops)
        return ImportedGraph(documents, chunks, merged.graph, notes, drops, merged.aliases)

    def _without_source(self) -> list[_Entity | _Relation]:
        sourced = {entity.key for entity in self.entities if entity.chunks}
        entities = [entity for entity in self.entities if entity.key not in sourced]
        return [*entities, *(relation for relation in self.relations if not relation.chunks)]

    def _extractions(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        """The rows by chunk. A relation's weight counts in the first of its chunks alone."""
        mentions: dict[str, list[Mention]] = defaultdict(list)
        relations: dict[str, list[RelationMention]] = defaultdict(list)
        for entity in self.entities:
            for chunk in entity.chunks:
                mentions[chunk].append(Mention(entity.name, entity.type, entity.description, chunk))
        for relation in self.relations:
            for place, chunk in enumerate(relation.chunks):
                weight = 0.0 if place else relation.weight
                ends = relation.source.name, relation.target.name
                relations[chunk].append(RelationMention(*ends, relation.description, chunk, relation.keywords, weight))
        return [Extraction(chunk.id, tuple(mentions[chunk.id]), tuple(relations[chunk.id])) for chunk in chunks]


Row = TypeVar("Row", _Entity, _Relation)


@dataclass(frozen=True)
class _Descriptions:
    """A document made of descriptions. starts: where each line begins; line_of: the line of each row."""

    document: Document
    chunks: tuple[Chunk, ...]
    starts: tuple[int, ...]
    line_of: dict[_Entity | _Relation, int]

    @classmethod
    def of(cls, rows: Sequence[_Entity | _Relation], name: str) -> "_Descriptions":
        lines = [_line(row) for row in rows]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        document = document_of_text(name, name, "\n".join(lines))
        line_of: dict[_Entity | _Relation, int] = {row: place for place, row in enumerate(rows)}
        return cls(document, tuple(windows(document)), tuple(starts), line_of)

    def with_chunks(self, row: Row) -> Row:
        """The row with the chunk that its description begins in; one that has sources stays as it is."""
        line = self.line_of.get(row)
        if line is None:
            return row
        place = bisect_right([chunk.start for chunk in self.chunks], self.starts[line]) - 1
        return replace(row, chunks=(self.chunks[place].id,))


def _line(row: _Entity | _Relation) -> str:
    if isinstance(row, _Entity):
        return one_line(f"{row.name}: {row.description}" if row.description else row.name)
    ends = f"{row.source.name} – {row.target.name}"
    return one_line(row.description if row.description == ends else f"{ends}: {row.description}")
