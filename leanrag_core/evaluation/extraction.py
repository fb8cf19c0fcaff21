"""How much of a reference graph an extraction has: entities by name, relations by their pair of entities, three ways to
compare names, by type, with what was missed and what was given besides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.evaluation.gold import normalised
from leanrag_core.indexing.reference.anchoring import QuotedText, name_pattern
from leanrag_core.indexing.reference.records import ReferenceEntity, ReferenceGraph, ReferenceRelation
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.types.index import Index

EXACT, NORMALISED, EMBEDDING = "exact", "normalised", "embedding"
# Cosine from which two names count as the same under EMBEDDING. With the built-in model, on two sample corpora, about
# four in five pairs above it mean the same thing or a part of it, and fewer than half of those between .75 and .85.
NEAR = 0.85


@dataclass(frozen=True)
class Resolved:
    """The given names under one way to compare them.

    key_of: how a name is written for it; names of an equal key count once, and those of an empty one do not count.
    entity_of: of each key the number of the reference entity that it stands for; keys that stand for none are absent.
    """

    match: str
    key_of: Mapping[str, str]
    entity_of: Mapping[str, int]

    def number(self, name: str) -> int | None:
        """Return the entity that the name stands for."""
        return self.entity_of.get(self.key_of[name])


def resolutions(
    names: Sequence[str], entities: Sequence[ReferenceEntity], embedding: EmbeddingModel | None
) -> tuple[Resolved, ...]:
    """Match the given names exactly as the reference writes them; in lower case without articles and punctuation; and,
    where a model is given, these with the nearest name of the reference from a cosine of NEAR. Aliases count as
    names."""
    distinct = list(dict.fromkeys(names))
    exact = {name: number for number, entity in enumerate(entities) for name in (entity.name, *entity.aliases)}
    plain = {normalised(name): number for name, number in exact.items()}
    plain.pop("", None)
    keys = {name: normalised(name) for name in distinct}
    ways = [
        Resolved(EXACT, {name: name for name in distinct}, {name: exact[name] for name in distinct if name in exact}),
        Resolved(NORMALISED, keys, {key: plain[key] for key in keys.values() if key in plain}),
    ]
    if embedding is not None:
        near = _nearest(distinct, ways[1], exact, embedding)
        ways.append(Resolved(EMBEDDING, keys, {**near, **ways[1].entity_of}))
    return tuple(ways)


def _nearest(
    names: Sequence[str], plain: Resolved, gold: Mapping[str, int], embedding: EmbeddingModel
) -> dict[str, int]:
    """Find the nearest entity for keys that equal no name of the reference."""
    name_of = {plain.key_of[name]: name for name in reversed(names) if plain.number(name) is None}
    name_of.pop("", None)
    if not name_of or not gold:
        return {}
    wanted = list(gold)
    cosines = embedding.embed(list(name_of.values())) @ embedding.embed(wanted).T
    best = np.argmax(cosines, axis=1)
    return {
        key: gold[wanted[column]]
        for row, (key, column) in enumerate(zip(name_of, best.tolist(), strict=True))
        if cosines[row, column] >= NEAR
    }


EXAMPLES = 20  # of each list


@dataclass(frozen=True)
class Share:
    """wanted: in the reference graph. given: by the model. right: of the given ones those that the reference has; of
    several that stand for the same entity each counts. hit: of the wanted ones those that were given."""

    wanted: int
    given: int
    hit: int
    right: int

    @property
    def recall(self) -> float | None:
        """Return hit / wanted; None where nothing is wanted."""
        return self.hit / self.wanted if self.wanted else None

    @property
    def precision(self) -> float | None:
        """Return right / given; None where nothing was given."""
        return self.right / self.given if self.given else None


@dataclass(frozen=True)
class MatchScore:
    """The shares under one way to compare names: exact, normalised or embedding."""

    match: str
    entities: Share
    relations: Share


@dataclass(frozen=True)
class Example:
    """Something that was missed, or that was given and is not in the reference. type: of an entity; of a relation its
    kind, or its first keyword in the reference. quote, document: what the reference quotes for it, "" for what is
    not in the reference."""

    name: str
    type: str = ""
    quote: str = ""
    document: str = ""


@dataclass(frozen=True)
class Examples:
    """The most important first: by the quotes of the reference, by how often the extraction gives it. Names are
    compared as normalised."""

    missed_entities: tuple[Example, ...] = ()
    missed_relations: tuple[Example, ...] = ()
    other_entities: tuple[Example, ...] = ()
    other_relations: tuple[Example, ...] = ()


@dataclass(frozen=True)
class ExtractionScore:
    """An extraction beside the reference graph.

    matches: exact and normalised, and embedding where a model was given. types: entities by type, wanted and hit by
    that of the reference, given and right by that of the extraction, in lower case. kinds: given relations by kind,
    where the extraction says one.
    """

    matches: tuple[MatchScore, ...]
    types: Mapping[str, Share]
    kinds: Mapping[str, Share]
    examples: Examples

    @property
    def entities(self) -> Share:
        """Return the match of entities, names compared as normalised."""
        return self.match(NORMALISED).entities

    @property
    def relations(self) -> Share:
        """Return the match of relations, names compared as normalised."""
        return self.match(NORMALISED).relations

    def match(self, name: str) -> MatchScore:
        """Return the shares under that way to compare names. Raises KeyError where names were not compared so."""
        return {match.match: match for match in self.matches}[name]


@dataclass(frozen=True)
class GivenGraph:
    """What an extraction gave: entities with type, relations as pairs of names with their kind, most frequent first."""

    entities: tuple[tuple[str, str], ...]
    relations: tuple[tuple[str, str, str], ...]


def extraction_score(
    graph: GivenGraph,
    gold_entities: Sequence[ReferenceEntity],
    gold_relations: Sequence[ReferenceRelation],
    *,
    embedding: EmbeddingModel | None = None,
) -> ExtractionScore:
    """Score the extracted graph. A relation counts when both of its entities are those of a relation of the reference,
    in either order; what it says is not compared. embedding: of names, for the third way to compare."""
    names = [name for name, _ in graph.entities]
    ends = [name for source, target, _ in graph.relations for name in (source, target)]
    ways = resolutions([*names, *ends], gold_entities, embedding)
    wanted = _wanted_pairs(gold_entities, gold_relations)
    matches = tuple(_match(way, graph, len(gold_entities), wanted) for way in ways)
    plain = next(way for way in ways if way.match == NORMALISED)
    return ExtractionScore(
        matches=matches,
        types=_types(graph, gold_entities, plain),
        kinds=_kinds(graph, wanted, plain),
        examples=_examples(graph, gold_entities, wanted, plain),
    )


def index_score(index: Index, reference: ReferenceGraph, *, embedding: EmbeddingModel | None = None) -> ExtractionScore:
    """Score an index's base graph against the reference graph of its corpus."""
    base = index.layers[0]
    names, types = (base.entities[column].to_pylist() for column in ("name", "type"))
    kinds, weights = base.relations["kind"].to_pylist(), base.weights.tolist()
    mentions = np.diff(base.mention_lists[0]).tolist()
    by_mentions = sorted(range(len(names)), key=lambda row: (-mentions[row], row))
    by_weight = sorted(range(len(kinds)), key=lambda row: (-weights[row], row))
    ends = base.ends.tolist()
    graph = GivenGraph(
        tuple((names[row], types[row]) for row in by_mentions),
        tuple((names[ends[row][0]], names[ends[row][1]], kinds[row]) for row in by_weight),
    )
    return extraction_score(graph, reference.entities, reference.relations, embedding=embedding)


def _match(
    way: Resolved, graph: GivenGraph, n_entities: int, wanted: Mapping[frozenset[int], ReferenceRelation]
) -> MatchScore:
    keys = {way.key_of[name] for name, _ in graph.entities} - {""}
    entities = _share(range(n_entities), [way.entity_of.get(key) for key in sorted(keys)])
    return MatchScore(way.match, entities, _share(wanted, list(_pairs(way, graph).values())))


def _share(wanted: Iterable[object], given: Sequence[object]) -> Share:
    """Count shares. given: what each given thing stands for; None, and what is not in `wanted`, count as wrong."""
    known = set(wanted)
    return Share(len(known), len(given), len(known & set(given)), sum(each in known for each in given))


def _pairs(way: Resolved, graph: GivenGraph) -> dict[frozenset[str], frozenset[int] | None]:
    """Map each given pair of keys to the pair of reference entities that it stands for."""
    pairs: dict[frozenset[str], frozenset[int] | None] = {}
    for source, target, _ in graph.relations:
        numbers = way.number(source), way.number(target)
        known = frozenset(number for number in numbers if number is not None)
        pairs[frozenset((way.key_of[source], way.key_of[target]))] = None if None in numbers else known
    return pairs


def _wanted_pairs(
    gold_entities: Sequence[ReferenceEntity], gold_relations: Sequence[ReferenceRelation]
) -> dict[frozenset[int], ReferenceRelation]:
    """Map the reference's pairs of entities to the first relation of each."""
    names = ((number, name) for number, entity in enumerate(gold_entities) for name in (entity.name, *entity.aliases))
    number_of = {normalised(name): number for number, name in names}
    pairs: dict[frozenset[int], ReferenceRelation] = {}
    for relation in gold_relations:
        ends = frozenset(number_of[normalised(name)] for name in (relation.source, relation.target))
        pairs.setdefault(ends, relation)
    return pairs


def _types(graph: GivenGraph, gold_entities: Sequence[ReferenceEntity], way: Resolved) -> dict[str, Share]:
    given = {way.key_of[name]: type_.strip().lower() for name, type_ in reversed(graph.entities) if way.key_of[name]}
    hit = {way.entity_of[key] for key in given if key in way.entity_of}
    gold = [entity.type.strip().lower() for entity in gold_entities]
    return {
        type_: Share(
            gold.count(type_),
            sum(each == type_ for each in given.values()),
            sum(gold[number] == type_ for number in hit),
            sum(each == type_ and key in way.entity_of for key, each in given.items()),
        )
        for type_ in sorted({*gold, *given.values()})
    }


def _kinds(graph: GivenGraph, gold_relations: Mapping[frozenset[int], object], way: Resolved) -> dict[str, Share]:
    pairs, by_kind = _pairs(way, graph), dict[str, set[frozenset[str]]]()
    for source, target, kind in graph.relations:
        if kind:
            by_kind.setdefault(kind, set()).add(frozenset((way.key_of[source], way.key_of[target])))
    return {
        kind: _share(gold_relations, [pairs[keys] for keys in sorted(by_kind[kind], key=sorted)])
        for kind in sorted(by_kind)
    }


def _examples(
    graph: GivenGraph,
    gold_entities: Sequence[ReferenceEntity],
    gold_relations: Mapping[frozenset[int], ReferenceRelation],
    way: Resolved,
) -> Examples:
    hit = {number for name, _ in graph.entities if (number := way.number(name)) is not None}
    pairs = _pairs(way, graph)
    joined = set(pairs.values())
    missed = [entity for number, entity in enumerate(gold_entities) if number not in hit]
    missed_pairs = [relation for pair, relation in gold_relations.items() if pair not in joined]
    others = {way.key_of[name]: (name, type_) for name, type_ in reversed(graph.entities) if way.number(name) is None}
    other_pairs: dict[frozenset[str], tuple[str, str]] = {}
    for source, target, kind in graph.relations:
        keys = frozenset((way.key_of[source], way.key_of[target]))
        if pairs[keys] not in gold_relations:
            other_pairs.setdefault(keys, (_joined(source, target), kind))
    return Examples(
        tuple(
            Example(each.name, each.type, each.quotes[0].quote, each.quotes[0].document)
            for each in sorted(missed, key=lambda entity: -len(entity.quotes))[:EXAMPLES]
        ),
        tuple(
            Example(_joined(each.source, each.target), each.keywords[0], each.quotes[0].quote, each.quotes[0].document)
            for each in sorted(missed_pairs, key=lambda relation: -relation.strength)[:EXAMPLES]
        ),
        tuple(Example(*named) for named in list(reversed(others.values()))[:EXAMPLES]),
        tuple(Example(*named) for named in list(other_pairs.values())[:EXAMPLES]),
    )


def _joined(source: str, target: str) -> str:
    return f"{source} – {target}"


@dataclass(frozen=True)
class PassageGold:
    """What the reference graph says of a passage: entities that it names or is quoted for, relations that it states."""

    entities: tuple[ReferenceEntity, ...]
    relations: tuple[ReferenceRelation, ...]


def passage_gold(passage: str, reference: ReferenceGraph) -> PassageGold:
    """Return the entities and relations of the reference graph that the passage should give."""
    text = QuotedText(passage)
    relations = [each for each in reference.relations if any(text.spans(quote.quote) for quote in each.quotes)]
    ends = {name for relation in relations for name in (relation.source, relation.target)}
    entities = [
        entity
        for entity in reference.entities
        if entity.name in ends
        or any(text.spans(quote.quote) for quote in entity.quotes)
        or any(text.names(name_pattern(name)) for name in (entity.name, *entity.aliases))
    ]
    return PassageGold(tuple(entities), tuple(relations))
