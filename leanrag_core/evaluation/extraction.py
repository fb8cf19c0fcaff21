"""How much of a reference graph an extraction model gives: entities by name, relations by their pair of entities."""

from collections.abc import Iterable
from dataclasses import dataclass

from leanrag_core.evaluation.gold import normalised
from leanrag_core.indexing.reference.anchoring import QuotedText, name_pattern
from leanrag_core.indexing.reference.records import ReferenceEntity, ReferenceGraph, ReferenceRelation
from leanrag_core.types.index import Index


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
        """hit / wanted; None where nothing is wanted."""
        return self.hit / self.wanted if self.wanted else None

    @property
    def precision(self) -> float | None:
        """right / given; None where nothing was given."""
        return self.right / self.given if self.given else None


@dataclass(frozen=True)
class ExtractionScore:
    """Entities and relations of an extraction beside those of the reference graph."""

    entities: Share
    relations: Share


def extraction_score(
    names: Iterable[str],
    pairs: Iterable[tuple[str, str]],
    gold_entities: Iterable[ReferenceEntity],
    gold_relations: Iterable[ReferenceRelation],
) -> ExtractionScore:
    """The score of extracted entities, by name, and relations, as pairs of names in either order.

    Names are compared in lower case without articles and punctuation, aliases of the reference among them. A relation
    counts when both of its entities are those of a relation of the reference; what it says is not compared.
    """
    entity_of = {
        normalised(name): number
        for number, entity in enumerate(gold_entities)
        for name in (entity.name, *entity.aliases)
    }
    given = {normalised(name) for name in names} - {""}
    given_pairs = {frozenset((normalised(source), normalised(target))) for source, target in pairs}
    wanted_pairs = {
        frozenset((entity_of[normalised(relation.source)], entity_of[normalised(relation.target)]))
        for relation in gold_relations
    }
    known = [frozenset(entity_of.get(name, -1) for name in pair) for pair in given_pairs]
    hit = {entity_of[name] for name in given if name in entity_of}
    return ExtractionScore(
        Share(len(set(entity_of.values())), len(given), len(hit), sum(name in entity_of for name in given)),
        Share(
            len(wanted_pairs),
            len(given_pairs),
            len(wanted_pairs & set(known)),
            sum(pair in wanted_pairs for pair in known),
        ),
    )


def index_score(index: Index, reference: ReferenceGraph) -> ExtractionScore:
    """The score of an index's base graph against the reference graph of its corpus."""
    base = index.layers[0]
    names = base.entities["name"].to_pylist()
    pairs = [(names[source], names[target]) for source, target in base.ends.tolist()]
    return extraction_score(names, pairs, reference.entities, reference.relations)


@dataclass(frozen=True)
class PassageGold:
    """What the reference graph says of a passage: entities that it names or is quoted for, relations that it states."""

    entities: tuple[ReferenceEntity, ...]
    relations: tuple[ReferenceRelation, ...]


def passage_gold(passage: str, reference: ReferenceGraph) -> PassageGold:
    """The entities and relations of the reference graph that the passage should give."""
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
