"""What a reference graph says of a single passage."""

from dataclasses import dataclass

from leanrag_core.indexing.reference.anchoring import QuotedText, name_pattern
from leanrag_core.indexing.reference.records import ReferenceEntity, ReferenceGraph, ReferenceRelation


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
