"""What is wrong with a reference graph: names, ends, and documents of which too little is said."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leanrag_core.indexing.names import name_key
from leanrag_core.indexing.reference.models import end_members, members_of
from leanrag_core.indexing.reference.records import ReferenceGraph
from leanrag_core.messages.message import Message, message

LEAST = 20  # entities, and relations, that quote a document


@dataclass(frozen=True)
class Quoted:
    """How many entities and relations quote a document."""

    document: str
    entities: int
    relations: int

    @property
    def enough(self) -> bool:
        """Whether the document is covered well enough for a reference graph."""
        return min(self.entities, self.relations) >= LEAST


def quoted_documents(graph: ReferenceGraph, names: Sequence[str]) -> list[Quoted]:
    """Return how well each document of those names is covered, sorted."""
    entities = Counter(name for row in graph.entities for name in {quote.document for quote in row.quotes})
    relations = Counter(name for row in graph.relations for name in {quote.document for quote in row.quotes})
    return [Quoted(name, entities[name], relations[name]) for name in sorted(names)]


def faults(graph: ReferenceGraph) -> list[Message]:
    """Return everything that makes the graph unusable, whatever the documents: names that are used twice, relations
    without their ends, texts of clusters that cannot be.
    """
    return [*_entity_faults(graph), *_relation_faults(graph), *_aggregated_faults(graph)]


def _entity_faults(graph: ReferenceGraph) -> Iterator[Message]:
    names = Counter(name_key(row.name) for row in graph.entities)
    forms = Counter(form for row in graph.entities for form in {name_key(name) for name in (row.name, *row.aliases)})
    for row in graph.entities:
        key = name_key(row.name)
        if not key:
            yield message("reference.empty_name", name=row.name)
        elif names[key] > 1:
            yield message("reference.name_twice", name=row.name)
        for alias in row.aliases:
            if forms[name_key(alias)] > 1:
                yield message("reference.alias_twice", alias=alias, name=row.name)


def _relation_faults(graph: ReferenceGraph) -> Iterator[Message]:
    names = {name_key(row.name) for row in graph.entities}
    pairs = Counter(frozenset((name_key(row.source), name_key(row.target))) for row in graph.relations)
    for row in graph.relations:
        ends = (row.source, row.target)
        label = f"{row.source} – {row.target}"
        for end in ends:
            if name_key(end) not in names:
                yield message("reference.no_end", label=label, end=end)
        pair = frozenset(map(name_key, ends))
        if len(pair) == 1:
            yield message("reference.same_ends", label=label)
        elif pairs[pair] > 1:
            yield message("reference.pair_twice", label=label)


def _aggregated_faults(graph: ReferenceGraph) -> Iterator[Message]:
    names = {name_key(row.name) for row in graph.entities}
    n_uses = Counter((row.layer, row.name) for row in graph.aggregated_entities)
    clusters = Counter((row.layer, members_of(row.members)) for row in graph.aggregated_entities)
    for row in graph.aggregated_entities:
        for member in row.members:
            if name_key(member) not in names:
                yield message("reference.no_member", label=f"{row.name} (layer {row.layer})", member=member)
        if n_uses[row.layer, row.name] > 1:
            yield message("reference.aggregated_name_twice", name=row.name, layer=row.layer)
        if clusters[row.layer, members_of(row.members)] > 1:
            yield message("reference.members_twice", name=row.name, layer=row.layer)
    for relation in graph.aggregated_relations:
        for end in (relation.source, relation.target):
            if end_members(graph, relation.layer, end) is None:
                label = f"{relation.source} – {relation.target}"
                yield message("reference.no_aggregated_end", label=label, layer=relation.layer, end=end)
