"""The base graph G0 and the communities made of rows of other systems, with their sources."""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.rows import Drops
from leanrag_core.importing.sources import Sources, document_of_text, windows
from leanrag_core.indexing.extraction.denials import denies
from leanrag_core.indexing.names import entity_id, name_key, relation_id, tidy_name
from leanrag_core.indexing.parsing.blocks import clean, one_line
from leanrag_core.indexing.resolution import resolve
from leanrag_core.messages.message import Message, message
from leanrag_core.system.threads import collector_paused
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Extraction, Mention, RelationMention
from leanrag_core.types.graph import Finding
from leanrag_core.types.imported import (
    ForeignId,
    ImportCounts,
    ImportedClaim,
    ImportedCommunity,
    ImportedExtras,
    ImportedGraph,
    ImportedReport,
)


@dataclass(frozen=True)
class TakenEntity:
    """An entity that is taken. key: what equal names share. chunks: ids of its sources."""

    key: str
    name: str
    type: str
    description: str
    chunks: tuple[str, ...]


@dataclass(frozen=True)
class TakenRelation:
    """A relation that is taken. id: what the other system calls it, else empty."""

    source: TakenEntity
    target: TakenEntity
    description: str
    keywords: tuple[str, ...]
    weight: float
    chunks: tuple[str, ...]
    id: str = ""


Row = TypeVar("Row", TakenEntity, TakenRelation)


@dataclass(frozen=True)
class DescribedRows:
    """A document with a line for each row. chunk_of: id of the chunk that a row's line begins in."""

    document: Document
    chunks: tuple[Chunk, ...]
    chunk_of: dict[TakenEntity | TakenRelation, str]

    def with_chunks(self, row: Row) -> Row:
        """Return the row with its chunk; one that has sources stays as it is."""
        chunk = self.chunk_of.get(row)
        return row if chunk is None else replace(row, chunks=(chunk,))


def described_rows(rows: Sequence[TakenEntity | TakenRelation], name: str) -> DescribedRows:
    """Make the document of that name that holds the descriptions of these rows."""
    lines = [_line(row) for row in rows]
    document = document_of_text(name, name, "\n".join(lines))
    chunks = tuple(windows(document))
    begins = [chunk.start for chunk in chunks]
    chunk_of: dict[TakenEntity | TakenRelation, str] = {}
    start = 0
    for row, line in zip(rows, lines, strict=True):
        chunk_of[row] = chunks[bisect_right(begins, start) - 1].id
        start += len(line) + 1
    return DescribedRows(document, chunks, chunk_of)


def _line(row: TakenEntity | TakenRelation) -> str:
    if isinstance(row, TakenEntity):
        return one_line(f"{row.name}: {row.description}" if row.description else row.name)
    ends = f"{row.source.name} – {row.target.name}"
    return one_line(row.description if row.description == ends else f"{ends}: {row.description}")


_MAX_TITLE, _MAX_TEXT, _MAX_FINDINGS = 500, 20_000, 100
_MAX_LEVEL = 100

EntityId = Callable[[str], str]  # a foreign id or name to the id of an entity; "" when there is none


def communities_of(
    communities: Iterable[ImportedCommunity], entity_id: EntityId, drops: Drops
) -> tuple[ImportedCommunity, ...]:
    """Sort the communities by level and id, and give their entities the ids of the index.

    A community without an entity of the import is left out, and so is a second one of the same id.
    """
    kept: dict[str, ImportedCommunity] = {}
    for community in communities:
        place = f"community {community.id[:80]}"
        ids = [entity_id(name) for name in community.entities]
        members = tuple(sorted({id_ for id_ in ids if id_}))
        if not 0 <= community.level <= _MAX_LEVEL or not members:
            drops.add(place, "import.empty_community")
        elif community.id in kept:
            drops.add(place, "import.id_twice")
        else:
            if "" in ids:
                drops.add(place, "import.community_members", n=ids.count(""))
            title = one_line(community.title)[:_MAX_TITLE]
            report = _report(community.report) if community.report is not None else None
            kept[community.id] = replace(community, title=title, entities=members, report=report)
    known = [replace(each, parent=_parent(each, kept)) for each in kept.values()]
    return tuple(sorted(known, key=lambda each: (each.level, len(each.id), each.id)))


def _parent(community: ImportedCommunity, kept: Mapping[str, ImportedCommunity]) -> str:
    """Return the id of its parent, if that is there and coarser."""
    parent = kept.get(community.parent)
    return parent.id if parent is not None and parent.level < community.level else ""


def _report(report: ImportedReport) -> ImportedReport:
    findings = tuple(
        Finding(_text(finding.summary), _text(finding.explanation)) for finding in report.findings[:_MAX_FINDINGS]
    )
    rating = report.rating if report.rating is not None and 0 <= report.rating <= 1000 else None
    return ImportedReport(one_line(report.title)[:_MAX_TITLE], _text(report.summary), rating, findings)


def _text(text: str) -> str:
    return clean(text).strip()[:_MAX_TEXT]


_CLAIM_LINES, _CLAIM_TEXTS = ("object", "type", "status", "start", "end"), ("description", "source_text")


def claims_of(
    claims: Iterable[ImportedClaim], entity_id: EntityId, chunk_of: dict[str, str], drops: Drops
) -> tuple[ImportedClaim, ...]:
    """Return the claims whose subject is an entity of the import, each with the id of its chunk."""
    kept = []
    for number, claim in enumerate(claims, 1):
        subject = entity_id(claim.subject)
        if not subject:
            drops.add(f"claim {number}", "import.claim_subject", end=claim.subject[:80])
            continue
        lines = {name: one_line(getattr(claim, name))[:_MAX_TITLE] for name in _CLAIM_LINES}
        texts = {name: _text(getattr(claim, name)) for name in _CLAIM_TEXTS}
        kept.append(ImportedClaim(subject=subject, **lines, **texts, chunk=chunk_of.get(claim.chunk, "")))
    return tuple(kept)


MAX_ENTITIES, MAX_RELATIONS = 2_000_000, 10_000_000  # rows; a row takes a kilobyte or two while it is merged
_MAX_NAME, _MAX_DESCRIPTION = 300, 20_000  # characters
_MAX_ID = 300
_SHOWN = 120  # characters of a description in a drop
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


def graph_of(  # noqa: PLR0913  # an importer gives what its system has: all but the rows are keywords
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
    that is not an entity is dropped. Rows that name no source get one: a document made of the descriptions, called
    `name`. communities, claims: their entities by foreign ids or names, their chunks by foreign ids. notes: on the
    import as a whole. Raises ImportFailed when no entity is left.
    """
    with collector_paused():
        collected = _Taken(sources, drops)
        for entity in entities:
            collected.add_entity(entity)
        if not collected.entities:
            raise ImportFailed("import.no_entities")
        for relation in relations:
            collected.add_relation(relation)
        extras = ImportedExtras(
            format_name,
            communities_of(communities, collected.entity_id, drops),
            claims_of(claims, collected.entity_id, sources.chunk_of, drops),
            collected.foreign_ids(),
        )
        return collected.graph(name, notes, extras)


class _Taken:
    """Collects the rows that an import takes over."""

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
        """Add the relation, unless one of its ends is not an entity."""
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
        described = self._description(row)
        if denies(described):
            self.drops.add(row.place, "reply.relation_denied", description=described[:_SHOWN])
            return
        keywords = tuple(one_line(word)[:100] for word in row.keywords)
        ends = f"{source.name} – {target.name}"
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
