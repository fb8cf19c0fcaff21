"""Merging names of the same thing: from extractions of chunks to the base graph G0."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.names import entity_id, name_key, relation_id, tidy_name
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph

MAX_WORDS = 60
_CLAUSE = re.compile(r"[;:,–—.!?)](?=\s)")


@lru_cache(maxsize=50_000)
def trim_sentence(text: str) -> str:
    """Return the sentence, cut at the last clause that ends within MAX_WORDS (or there, when none does), with an
    ellipsis.
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) <= MAX_WORDS:
        return text
    limit = words[MAX_WORDS - 1].end()
    clauses = [match.start() for match in _CLAUSE.finditer(text, words[MAX_WORDS // 2].start(), limit)]
    return f"{text[: clauses[-1] if clauses else limit].rstrip(' ,;:–—')} …"


def most_telling(candidates: Sequence[tuple[float, int, str]], count: int) -> list[str]:
    """Return the texts of most weight, each text once and from different chunks as far as there are any, trimmed.

    candidates: (weight, chunk row, text) in reading order. Result: the most telling first, ties in reading order.
    """
    best: dict[str, tuple[float, int, int]] = {}
    for order, (weight, chunk, text) in enumerate(candidates):
        if text and (text not in best or best[text][0] < weight):
            best[text] = (weight, chunk, best[text][2] if text in best else order)
    ranked = sorted(best, key=lambda text: (-best[text][0], best[text][2]))
    chosen: list[str] = []
    used_chunks: set[int] = set()
    for text in ranked:
        if len(chosen) < count and best[text][1] not in used_chunks:
            used_chunks.add(best[text][1])
            chosen.append(text)
    chosen += [text for text in ranked if text not in chosen][: count - len(chosen)]
    return [trim_sentence(text) for text in sorted(chosen, key=ranked.index)]


def each_once(texts: Sequence[str]) -> list[str]:
    """Return the texts without exact repeats and empty ones, in order."""
    return [text for text in dict.fromkeys(text.strip() for text in texts) if text]


MERGE_RULES = "3"  # version of the rules of merging and condensing; raise it when they make another graph
SENTENCES_KEPT = 3  # of a heuristic entity: name and three sentences embed best, more add nothing
RELATION_SENTENCES_KEPT = 5
KEYWORDS_KEPT = 8  # of a heuristic relation, whose every sentence has some
_VAGUE = ("concept", "title", "heading", "unknown", "")  # types that say less than any other, in this order
_KINDS = ("stated", "verb", "apposition", "preposition", "heading", "co-occurrence")  # strongest first


@dataclass(frozen=True, eq=False)
class Resolution:
    """The base graph. drops: what was left out. aliases: every other form of a name, to the name that is shown."""

    graph: Graph
    drops: tuple[Drop, ...]
    aliases: dict[str, str]


@dataclass(slots=True)
class _Entity:
    first: int  # row of the first chunk that mentions it
    names: dict[str, int] = field(default_factory=dict)  # how often each form of the name comes
    surfaces: dict[str, None] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    descriptions: list[tuple[float, int, str]] = field(default_factory=list)
    chunks: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Relation:
    weight: float = 0.0
    kinds: set[str] = field(default_factory=set)
    descriptions: dict[str, float] = field(default_factory=dict)
    keywords: dict[str, int] = field(default_factory=dict)
    chunks: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _EntityRow:
    """What is kept of an entity when all its mentions are merged. forms: other forms of its name, in their order."""

    first: int
    key: str
    name: str
    type: str
    description: str
    chunks: np.ndarray  # (k,) int32, ascending
    mentions: int
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _RelationRow:
    """What is kept of a relation when all its mentions are merged. low, high: keys of its ends."""

    low: str
    high: str
    weight: float
    kind: str
    description: str
    keywords: tuple[str, ...]
    chunks: np.ndarray  # (k,) int32, ascending


def resolve(
    extractions: Iterable[Extraction], chunks: Sequence[Chunk], *, heuristic: bool, n_parts: int = 1
) -> Resolution:
    """Merge mentions into G0 = (V0, R0): each name once, each unordered pair of ends once, with the chunks they come
    from (section 2.3).

    Entities are ordered by the first chunk that mentions them, then by key; relations by their ends. An end that no
    mention names becomes an entity of type "unknown". heuristic: descriptions are source sentences, of which the most
    telling are kept, and a sentence that two overlapping chunks share counts once. Time is linear in the mentions.
    n_parts: the extractions are passed over so many times, each time for the names of one hash, so that memory holds
    the mentions of one part; the result is the same.
    """
    row_of = {chunk.id: row for row, chunk in enumerate(chunks)}
    entities: list[_EntityRow] = []
    relations: list[_RelationRow] = []
    drops: list[Drop] = []
    for number in range(n_parts):
        part = _Part(number, n_parts, heuristic)
        for extraction in extractions:
            row = row_of[extraction.chunk_id]
            for mention in extraction.mentions:
                part.add_mention(mention, row)
            for relation in extraction.relations:
                part.add_relation(relation, row)
        entities += part.entity_rows()
        relations += part.relation_rows()
        drops += part.drops
    entities.sort(key=lambda row: (row.first, row.key))
    ids = {row.key: entity_id(row.key) for row in entities}
    graph = Graph(_entity_table(entities, ids), _relation_table(entities, relations, ids))
    return Resolution(graph, tuple(drops), _aliases(entities))


class _Part:
    """Merges the mentions whose names have one hash of n_parts. drops: what was left out, told by the first part."""

    def __init__(self, number: int, n_parts: int, heuristic: bool) -> None:
        self._number, self._n_parts, self._heuristic = number, n_parts, heuristic
        self._entities: dict[str, _Entity] = {}
        self._pairs: dict[tuple[str, str], _Relation] = {}
        self.drops: list[Drop] = []

    def _has(self, key: str) -> bool:
        return self._n_parts == 1 or crc32(key.encode("utf-8", "surrogatepass")) % self._n_parts == self._number

    def add_mention(self, mention: Mention, row: int) -> None:
        """Add the mention of the chunk of that row, where its name is of this part."""
        key = name_key(mention.name)
        if not key:
            if self._number == 0:
                reason = "the name holds nothing but punctuation"
                self.drops.append(Drop("merge", f"entity {mention.name!r}", reason))
            return
        if not self._has(key):
            return
        entity = self._entities.get(key)
        if entity is None:
            entity = self._entities[key] = _Entity(first=row)
        elif row < entity.first:
            entity.first = row
        name, type_ = tidy_name(mention.name), mention.type.strip().lower()
        entity.names[name] = entity.names.get(name, 0) + 1
        if mention.surface:
            entity.surfaces.setdefault(tidy_name(mention.surface))
        entity.types[type_] = entity.types.get(type_, 0) + 1
        entity.descriptions.append((mention.weight, row, mention.description.strip()))
        entity.chunks.add(row)

    def add_relation(self, mention: RelationMention, row: int) -> None:
        """Add the relation of the chunk of that row, and its ends, as far as they are of this part."""
        ends = name_key(mention.source), name_key(mention.target)
        if not all(ends) or ends[0] == ends[1]:
            if self._number == 0:
                reason = "both ends are the same entity" if all(ends) else "an end holds nothing but punctuation"
                self.drops.append(Drop("merge", f"relation {mention.source} – {mention.target}", reason))
            return
        for key, name in zip(ends, (mention.source, mention.target), strict=True):
            if key not in self._entities and self._has(key):
                self.add_mention(Mention(name, "unknown", mention.description, mention.chunk_id), row)
        pair = ends if ends[0] < ends[1] else (ends[1], ends[0])
        if not self._has(pair[0]):
            return
        relation = self._pairs.get(pair)
        if relation is None:
            relation = self._pairs[pair] = _Relation()
        relation.chunks.add(row)
        description = mention.description.strip()
        if not (self._heuristic and description in relation.descriptions):
            relation.weight += mention.strength
        relation.descriptions[description] = max(relation.descriptions.get(description, 0.0), mention.strength)
        relation.kinds.add(mention.kind)
        for keyword in mention.keywords:
            word = keyword.strip()
            if word:
                relation.keywords[word] = relation.keywords.get(word, 0) + 1

    def entity_rows(self) -> Iterator[_EntityRow]:
        """Yield the entities of this part, in no order."""
        for key, entity in self._entities.items():
            name = _most_frequent(entity.names)
            yield _EntityRow(
                entity.first,
                key,
                name,
                _type(entity.types),
                _description(entity, self._heuristic) or name,
                np.array(sorted(entity.chunks), dtype=np.int32),
                sum(entity.names.values()),
                tuple(form for form in (*entity.names, *entity.surfaces) if form != name),
            )

    def relation_rows(self) -> Iterator[_RelationRow]:
        """Yield the relations whose first end is of this part, in no order."""
        for (low, high), relation in self._pairs.items():
            yield _RelationRow(
                low,
                high,
                relation.weight,
                min(relation.kinds, key=_kind_rank),
                _relation_description(relation, self._heuristic),
                tuple(_keywords(relation.keywords, self._heuristic)),
                np.array(sorted(relation.chunks), dtype=np.int32),
            )


def _entity_table(rows: Sequence[_EntityRow], ids: Mapping[str, str]) -> pa.Table:
    columns: dict[str, Any] = {
        "id": [ids[row.key] for row in rows],
        "name": [row.name for row in rows],
        "type": [row.type for row in rows],
        "description": [row.description for row in rows],
        "findings": [[] for _ in rows],
        "chunks": [row.chunks for row in rows],
        "promoted": [False for _ in rows],
    }
    return pa.table(columns, schema=ENTITY_SCHEMA)


def _relation_table(
    entities: Sequence[_EntityRow], relations: Iterable[_RelationRow], ids: Mapping[str, str]
) -> pa.Table:
    place = {entity.key: row for row, entity in enumerate(entities)}
    ends = ((place[relation.low], place[relation.high], relation) for relation in relations)
    placed = sorted(((min(low, high), max(low, high), each) for low, high, each in ends), key=itemgetter(0, 1))
    kept = [relation for _, _, relation in placed]
    columns: dict[str, Any] = {
        "id": [relation_id(ids[relation.low], ids[relation.high]) for relation in kept],
        "source": np.array([row[0] for row in placed], dtype=np.int32),
        "target": np.array([row[1] for row in placed], dtype=np.int32),
        "weight": np.array([relation.weight for relation in kept], dtype=np.float32),
        "strength": np.ones(len(kept), dtype=np.int32),
        "kind": [relation.kind for relation in kept],
        "description": [relation.description for relation in kept],
        "keywords": [relation.keywords for relation in kept],
        "chunks": [relation.chunks for relation in kept],
        "members": [[] for _ in kept],
    }
    return pa.table(columns, schema=RELATION_SCHEMA)


def _most_frequent(counted: Mapping[str, int]) -> str:
    return min(counted, key=lambda name: (-counted[name], name))


def _type(counted: Mapping[str, int]) -> str:
    """Return the majority among the types; a heading or "unknown" counts only when nothing else is known."""
    for vague in (_VAGUE[1:], ()):
        known = {name: n for name, n in counted.items() if name not in vague}
        if known:
            return min(known, key=lambda name: (-known[name], _vagueness(name), name)) or "unknown"
    return "unknown"


def _keywords(counted: Mapping[str, int], heuristic: bool) -> list[str]:
    """Return all keywords as they came; of a heuristic relation the most frequent."""
    words = list(counted)
    if not heuristic or len(words) <= KEYWORDS_KEPT:
        return words
    return sorted(words, key=lambda word: -counted[word])[:KEYWORDS_KEPT]  # stable: ties as they came


def _vagueness(name: str) -> int:
    return _VAGUE.index(name) + 1 if name in _VAGUE else 0


def _kind_rank(kind: str) -> tuple[int, str]:
    return (_KINDS.index(kind) if kind in _KINDS else 0, kind)


def _description(entity: _Entity, heuristic: bool) -> str:
    if heuristic:
        return " ".join(most_telling(entity.descriptions, SENTENCES_KEPT))
    return " ".join(each_once([text for _, _, text in entity.descriptions]))


def _relation_description(relation: _Relation, heuristic: bool) -> str:
    if not heuristic:
        return " ".join(each_once(list(relation.descriptions)))
    strongest = sorted(
        relation.descriptions, key=lambda text: -relation.descriptions[text]
    )  # stable: ties in reading order
    return " ".join(trim_sentence(text) for text in strongest[:RELATION_SENTENCES_KEPT])


def _aliases(entities: Sequence[_EntityRow]) -> dict[str, str]:
    """Return every other form of a name; a form of several entities goes to the one with most mentions."""
    claims: dict[str, tuple[int, str]] = {}
    for entity in entities:
        rank = (-entity.mentions, entity.name)
        for form in entity.forms:
            if form not in claims or rank < claims[form]:
                claims[form] = rank
    return {form: claims[form][1] for form in sorted(claims)}
