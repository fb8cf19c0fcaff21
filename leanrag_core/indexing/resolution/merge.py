"""The merge: mentions of one name become one entity, mentions of one pair of ends become one relation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.resolution.descriptions import each_once, most_telling, trim_sentence
from leanrag_core.indexing.resolution.names import entity_id, name_key, relation_id, tidy_name
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph

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


def resolve(extractions: Sequence[Extraction], chunks: Sequence[Chunk], *, heuristic: bool) -> Resolution:
    """Merge mentions into G0 = (V0, R0): each name once, each unordered pair of ends once, with the chunks they come
    from (section 2.3).

    Entities are ordered by the first chunk that mentions them, then by key; relations by their ends. An end that no
    mention names becomes an entity of type "unknown". heuristic: descriptions are source sentences, of which the most
    telling are kept, and a sentence that two overlapping chunks share counts once. Time is linear in the mentions.
    """
    row_of = {chunk.id: row for row, chunk in enumerate(chunks)}
    entities: dict[str, _Entity] = {}
    pairs: dict[tuple[str, str], _Relation] = {}
    drops: list[Drop] = []
    for extraction in extractions:
        row = row_of[extraction.chunk_id]
        for mention in extraction.mentions:
            _add_mention(entities, mention, row, drops)
        for relation in extraction.relations:
            _add_relation(entities, pairs, relation, row, drops, heuristic)
    order = sorted(entities, key=lambda key: (entities[key].first, key))
    ids = {key: entity_id(key) for key in order}
    shown = {key: _most_frequent(entities[key].names) for key in order}
    graph = Graph(_entity_table(order, entities, ids, shown, heuristic), _relation_table(order, pairs, ids, heuristic))
    return Resolution(graph, tuple(drops), _aliases(order, entities, shown))


def _add_mention(entities: dict[str, _Entity], mention: Mention, row: int, drops: list[Drop]) -> None:
    key = name_key(mention.name)
    if not key:
        drops.append(Drop("merge", f"entity {mention.name!r}", "the name holds nothing but punctuation"))
        return
    entity = entities.get(key)
    if entity is None:
        entity = entities[key] = _Entity(first=row)
    elif row < entity.first:
        entity.first = row
    name, type_ = tidy_name(mention.name), mention.type.strip().lower()
    entity.names[name] = entity.names.get(name, 0) + 1
    if mention.surface:
        entity.surfaces.setdefault(tidy_name(mention.surface))
    entity.types[type_] = entity.types.get(type_, 0) + 1
    entity.descriptions.append((mention.weight, row, mention.description.strip()))
    entity.chunks.add(row)


def _add_relation(
    entities: dict[str, _Entity],
    pairs: dict[tuple[str, str], _Relation],
    mention: RelationMention,
    row: int,
    drops: list[Drop],
    heuristic: bool,
) -> None:
    ends = name_key(mention.source), name_key(mention.target)
    if not all(ends) or ends[0] == ends[1]:
        reason = "both ends are the same entity" if all(ends) else "an end holds nothing but punctuation"
        drops.append(Drop("merge", f"relation {mention.source} – {mention.target}", reason))
        return
    for key, name in zip(ends, (mention.source, mention.target), strict=True):
        if key not in entities:
            _add_mention(entities, Mention(name, "unknown", mention.description, mention.chunk_id), row, drops)
    pair = ends if ends[0] < ends[1] else (ends[1], ends[0])
    relation = pairs.get(pair)
    if relation is None:
        relation = pairs[pair] = _Relation()
    relation.chunks.add(row)
    description = mention.description.strip()
    if not (heuristic and description in relation.descriptions):
        relation.weight += mention.strength
    relation.descriptions[description] = max(relation.descriptions.get(description, 0.0), mention.strength)
    relation.kinds.add(mention.kind)
    for keyword in mention.keywords:
        word = keyword.strip()
        if word:
            relation.keywords[word] = relation.keywords.get(word, 0) + 1


def _entity_table(
    order: list[str], entities: dict[str, _Entity], ids: dict[str, str], shown: dict[str, str], heuristic: bool
) -> pa.Table:
    columns: dict[str, Any] = {
        "id": [ids[key] for key in order],
        "name": [shown[key] for key in order],
        "type": [_type(entities[key].types) for key in order],
        "description": [_description(entities[key], heuristic) or shown[key] for key in order],
        "findings": [[] for _ in order],
        "chunks": [sorted(entities[key].chunks) for key in order],
        "promoted": [False for _ in order],
    }
    return pa.table(columns, schema=ENTITY_SCHEMA)


def _relation_table(
    order: list[str], pairs: dict[tuple[str, str], _Relation], ids: dict[str, str], heuristic: bool
) -> pa.Table:
    place = {key: row for row, key in enumerate(order)}
    rows = sorted((min(place[low], place[high]), max(place[low], place[high]), low, high) for low, high in pairs)
    kept = [pairs[low, high] for _, _, low, high in rows]
    columns: dict[str, Any] = {
        "id": [relation_id(ids[low], ids[high]) for _, _, low, high in rows],
        "source": np.array([row[0] for row in rows], dtype=np.int32),
        "target": np.array([row[1] for row in rows], dtype=np.int32),
        "weight": np.array([relation.weight for relation in kept], dtype=np.float32),
        "strength": np.ones(len(rows), dtype=np.int32),
        "kind": [min(relation.kinds, key=_kind_rank) for relation in kept],
        "description": [_relation_description(relation, heuristic) for relation in kept],
        "keywords": [_keywords(relation.keywords, heuristic) for relation in kept],
        "chunks": [sorted(relation.chunks) for relation in kept],
        "members": [[] for _ in rows],
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


def _aliases(order: list[str], entities: dict[str, _Entity], shown: dict[str, str]) -> dict[str, str]:
    """Return every other form of a name; a form of several entities goes to the one with most mentions."""
    claims: dict[str, tuple[int, str]] = {}
    for key in order:
        entity, name = entities[key], shown[key]
        rank = (-sum(entity.names.values()), name)
        for form in (*entity.names, *entity.surfaces):
            if form != name and (form not in claims or rank < claims[form]):
                claims[form] = rank
    return {form: claims[form][1] for form in sorted(claims)}
