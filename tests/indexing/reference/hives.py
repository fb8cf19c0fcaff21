"""A document of two sentences and a reference graph of it, written by hand."""

from leanrag_core.indexing.reference.records import (
    AggregatedSentence,
    AggregatedText,
    Quote,
    ReferenceEntity,
    ReferenceGraph,
    ReferenceRelation,
)
from leanrag_core.types.corpus import Document
from leanrag_core.types.graph import Finding

TEXT = "The queen lays eggs\nin the  brood nest. Workers feed the larvae. Drones mate with a young queen."
DOCUMENT = Document("doc-hive", "hive.md", "Hive", "markdown", TEXT, language="en")


def entity(name: str, quote: str, *aliases: str) -> ReferenceEntity:
    return ReferenceEntity(name, "organism", f"{name} of the hive.", (Quote("hive.md", quote),), aliases)


def relation(source: str, target: str, quote: str) -> ReferenceRelation:
    return ReferenceRelation(source, target, f"{source} and {target}.", ("bees",), 8, (Quote("hive.md", quote),))


ENTITIES = (
    entity("Queen", "queen lays eggs in the brood nest"),
    entity("Worker", "Workers feed the larvae", "workers"),
    entity("Drone", "Drones mate", "drones"),
    entity("Larva", "feed the larvae", "larvae"),
)
RELATIONS = (
    relation("Queen", "Drone", "Drones mate with a young queen"),
    relation("Worker", "Larva", "Workers feed the larvae."),
)
HIVE = ReferenceGraph(
    ENTITIES,
    RELATIONS,
    (
        AggregatedText(1, ("Queen", "Drone"), "Reproduction", "How bees mate.", (Finding("Mating", "In flight."),)),
        AggregatedText(1, ("Worker", "Larva"), "Brood care", "How larvae are fed.", ()),
    ),
    (AggregatedSentence(1, "Reproduction", "Brood care", "What is laid must be fed."),),
)
