"""The base graph G0 made of entities and relations of other systems, with their sources."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.communities import claims_of, communities_of
from leanrag_core.importing.described import described_rows
from leanrag_core.importing.rows import Drops
from leanrag_core.importing.sources import Sources
from leanrag_core.importing.taken import TakenEntity, TakenRelation
from leanrag_core.indexing.parsing.blocks import clean, one_line
from leanrag_core.indexing.resolution import entity_id, name_key, relation_id, resolve, tidy_name
from leanrag_core.messages.message import Message, message
from leanrag_core.system.threads import collector_paused
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.extraction import Extraction, Mention, RelationMention
from leanrag_core.types.imported import (
    ForeignId,
    ImportCounts,
    ImportedClaim,
    ImportedCommunity,
    ImportedExtras,
    ImportedGraph,
)

MAX_ENTITIES, MAX_RELATIONS = 2_000_000, 10_000_000  # rows; a row takes a kilobyte or two while it is merged
_MAX_NAME, _MAX_DESCRIPTION = 300, 20_000  # characters
_MAX_ID = 300
_MAX_WEIGHT = 1e6
_ROW_IS_KEPT = (
    "import.name_again",
    "import.pair_again",
    "import.no_description",
    "import.weight",
    "import.text_cut",
    "import.no_passage",
    "import.community_members",
)


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
    """A relation of another system. source, target: ids or names of its ends. weight: None where none is given.

    id: what the other system calls it, else empty.
    """

    place: str
    source: str
    target: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    weight: float | None = None
    passages: tuple[str, ...] = ()
    id: str = ""


def graph_of(
    entities: Iterable[ImportedEntity],
    relations: Iterable[ImportedRelation],
    sources: Sources,
    drops: Drops,
    *,
    name: str,
    format_name: str = "",
    communities: Iterable[ImportedCommunity] = (),
    claims: Iterable[ImportedClaim] = (),
    notes: Sequence[Message] = (),
) -> ImportedGraph:
    """Build the graph; names are merged as in a build (section 2, step 3).

    Rows of one name are one entity, rows of one pair of ends one relation, whose weights add up. A relation with an end
    that is no entity is dropped. What names no source gets one: a document made of the descriptions, called `name`.
    communities, claims: their entities by foreign ids or names, their chunks by foreign ids. notes: on the import as a
    whole. Raises ImportFailed when no entity is left.
    """
    with collector_paused():
        taken = _Taken(sources, drops)
        for entity in entities:
            taken.add_entity(entity)
        if not taken.entities:
            raise ImportFailed("import.no_entities")
        for relation in relations:
            taken.add_relation(relation)
        extras = ImportedExtras(
            format_name,
            communities_of(communities, taken.entity_id, drops),
            claims_of(claims, taken.entity_id, sources.chunk_of, drops),
            taken.foreign_ids(),
        )
        return taken.graph(name, notes, extras)


class _Taken:
    """Rows that are taken so far."""

    def __init__(self, sources: Sources, drops: Drops) -> None:
        self.sources, self.drops = sources, drops
        self.entities: list[TakenEntity] = []
        self.relations: list[TakenRelation] = []
        self._by_id: dict[str, TakenEntity] = {}
        self._by_key: dict[str, TakenEntity] = {}
        self._pairs: set[tuple[str, ...]] = set()
        self._spellings: set[str] = set()
        self._n_entities = self._n_relations = 0

    def add_entity(self, row: ImportedEntity) -> None:
        """Add the entity, unless its name or id cannot be used."""
        self._n_entities += 1
        if self._n_entities > MAX_ENTITIES:
            raise ImportFailed("import.too_many_entities", limit=MAX_ENTITIES)
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
        entity = TakenEntity(key, name, one_line(row.type)[:100], self._description(row), self._chunks(row))
        earlier = self._by_key.get(key)
        if earlier is not None:
            self.drops.remark(row.place, "import.name_again", name=name)
            if name != earlier.name:
                self._spellings.add(name)
        elif not entity.description:
            self.drops.remark(row.place, "import.no_description", name=name)
        self.entities.append(entity)
        self._by_id.setdefault(row.id or name, entity)
        self._by_key.setdefault(key, entity)

    def add_relation(self, row: ImportedRelation) -> None:
        """Add the relation, unless an end of it is no entity."""
        self._n_relations += 1
        if self._n_relations > MAX_RELATIONS:
            raise ImportFailed("import.too_many_relations", limit=MAX_RELATIONS)
        source, target = self._end(row.source), self._end(row.target)
        if source is None or target is None:
            missing = row.source if source is None else row.target
            self.drops.add(row.place, "import.dangling_end" if missing.strip() else "import.no_end", end=missing[:80])
            return
        if source.key == target.key:
            self.drops.add(row.place, "import.self_loop", name=source.name)
            return
        weight = 1.0 if row.weight is None else row.weight
        if not (math.isfinite(weight) and 0 <= weight <= _MAX_WEIGHT):
            self.drops.add(row.place, "import.weight")
            weight = 1.0
        keywords = tuple(one_line(word)[:100] for word in row.keywords)
        ends = f"{source.name} – {target.name}"
        described = self._description(row)
        pair = tuple(sorted((source.key, target.key)))
        if pair in self._pairs:
            self.drops.remark(row.place, "import.pair_again", name=ends)
        elif not described:
            self.drops.remark(row.place, "import.no_description", name=ends)
        self._pairs.add(pair)
        self.relations.append(
            TakenRelation(source, target, described or ends, keywords, weight, self._chunks(row), row.id)
        )

    def _end(self, id_or_name: str) -> TakenEntity | None:
        return self._by_id.get(id_or_name) or self._by_key.get(name_key(one_line(id_or_name)))

    def entity_id(self, id_or_name: str) -> str:
        """Return the id in the index of the entity with that foreign id or name; empty when there is none."""
        entity = self._end(id_or_name)
        return entity_id(entity.key) if entity is not None else ""

    def foreign_ids(self) -> tuple[ForeignId, ...]:
        """Return the other system's ids of the things that the index holds, where they say more than the names."""
        ids = [
            ForeignId("entity", entity_id(entity.key), id_)
            for id_, entity in self._by_id.items()
            if id_ != entity.name and name_key(id_) != entity.key
        ]
        for relation in self.relations:
            if relation.id:
                ends = entity_id(relation.source.key), entity_id(relation.target.key)
                ids.append(ForeignId("relation", relation_id(*ends), relation.id))
        ids += [ForeignId("chunk", id_, foreign) for foreign, id_ in self.sources.named_chunks.items()]
        ids += [ForeignId("document", id_, foreign) for foreign, id_ in self.sources.named_documents.items()]
        return tuple(replace(each, foreign_id=clean(each.foreign_id)[:_MAX_ID]) for each in ids)

    def _description(self, row: ImportedEntity | ImportedRelation) -> str:
        text = clean(row.description).strip()
        if len(text) > _MAX_DESCRIPTION:
            self.drops.add(row.place, "import.text_cut", limit=_MAX_DESCRIPTION)
            text = text[:_MAX_DESCRIPTION].rstrip()
        return text

    def _chunks(self, row: ImportedEntity | ImportedRelation) -> tuple[str, ...]:
        known = [self.sources.chunk_of[passage] for passage in row.passages if passage in self.sources.chunk_of]
        if len(known) < len(row.passages) and self.sources.chunk_of:  # else one note says that all texts are missing
            self.drops.add(row.place, "import.no_passage", n=len(row.passages) - len(known))
        return tuple(dict.fromkeys(known))

    def graph(self, name: str, notes: Sequence[Message], extras: ImportedExtras) -> ImportedGraph:
        """Merge all that was taken into a graph."""
        without = self._without_source()
        documents, chunks = self.sources.documents, self.sources.chunks
        if without:
            described = described_rows(without, name)
            self.entities = [described.with_chunks(entity) for entity in self.entities]
            self.relations = [described.with_chunks(relation) for relation in self.relations]
            documents = tuple(sorted((*documents, described.document), key=lambda each: (each.name, each.id)))
            by_document = defaultdict(list)
            for chunk in (*chunks, *described.chunks):
                by_document[chunk.document_id].append(chunk)
            ordered = [chunk for document in documents for chunk in by_document[document.id]]
            chunks = tuple(replace(chunk, position=place) for place, chunk in enumerate(ordered))
        merged = resolve(self._extractions(chunks), chunks, heuristic=False)
        if without:
            notes = (*notes, message("import.described", n=len(without), name=name))
        drops = (*self.drops.drops, *merged.drops, *self.drops.remarks)
        return ImportedGraph(
            documents, chunks, merged.graph, tuple(notes), drops, merged.aliases, self._counts(), extras
        )

    def _counts(self) -> ImportCounts:
        n = self.drops.counted
        return ImportCounts(
            entity_rows=self._n_entities,
            relation_rows=self._n_relations,
            duplicate_entities=n["import.name_again"],
            other_spellings=len(self._spellings),
            duplicate_relations=n["import.pair_again"],
            dangling=n["import.dangling_end"] + n["import.no_end"],
            self_loops=n["import.self_loop"],
            empty_descriptions=n["import.no_description"],
            unknown_chunks=n["import.no_passage"],
            left_out=sum(n[code] for code in n if code not in _ROW_IS_KEPT),
        )

    def _without_source(self) -> list[TakenEntity | TakenRelation]:
        sourced = {entity.key for entity in self.entities if entity.chunks}
        entities = [entity for entity in self.entities if entity.key not in sourced]
        return [*entities, *(relation for relation in self.relations if not relation.chunks)]

    def _extractions(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return the rows by chunk. A relation's weight counts in the first of its chunks alone."""
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
