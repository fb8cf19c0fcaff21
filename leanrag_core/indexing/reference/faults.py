"""What is wrong with a reference graph: names, ends, quotes, and documents of which too little is said."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from leanrag_core.indexing.names import name_key
from leanrag_core.indexing.reference.anchoring import Anchors
from leanrag_core.indexing.reference.models import Members, end_members, members_of
from leanrag_core.indexing.reference.records import Quote, ReferenceGraph
from leanrag_core.messages.message import Message, message
from leanrag_core.text.words import whole_words
from leanrag_core.types.corpus import Document

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


def quote_faults(graph: ReferenceGraph, documents: Sequence[Document]) -> list[Message]:
    """Return quotes that their documents do not hold."""
    anchors = Anchors(documents)
    rows = [(row.name, row.quotes) for row in graph.entities]
    rows += [(f"{row.source} – {row.target}", row.quotes) for row in graph.relations]
    return [fault for label, quotes in rows for quote in quotes for fault in _quote_faults(anchors, label, quote)]


def naming_faults(graph: ReferenceGraph) -> list[Message]:
    """Return aggregated entities that bear the name of a member, and aggregated relations that mention one: their texts
    are about groups, as the prompts aggregate_entity and aggregate_relation ask of a model.
    """
    return [*_borrowed_names(graph), *_named_members(graph)]


def _borrowed_names(graph: ReferenceGraph) -> Iterator[Message]:
    for row in graph.aggregated_entities:
        names = _names_below(graph, members_of(row.members), row.layer)
        if name_key(row.name) in map(name_key, names):
            yield message("reference.name_of_member", name=row.name, layer=row.layer)


def _named_members(graph: ReferenceGraph) -> Iterator[Message]:
    for row in graph.aggregated_relations:
        ends = (end_members(graph, row.layer, end) or frozenset[str]() for end in (row.source, row.target))
        for name in _mentioned(row.description, _names_below(graph, frozenset[str]().union(*ends), row.layer)):
            yield message("reference.names_member", label=f"{row.source} – {row.target}", member=name)


def _names_below(graph: ReferenceGraph, members: Members, layer: int) -> list[str]:
    """Return the names and aliases of the base entities, and names of the aggregated entities over them below the
    layer.
    """
    names = [name for row in graph.entities if name_key(row.name) in members for name in (row.name, *row.aliases)]
    between = (row for row in graph.aggregated_entities if row.layer < layer and members_of(row.members) <= members)
    return [*names, *(row.name for row in between)]


def _mentioned(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that the text has as whole words, however they are written, each once."""
    folded = text.casefold()
    return [name for name in dict.fromkeys(names) if re.search(whole_words(name.casefold()), folded) is not None]


def _quote_faults(anchors: Anchors, label: str, quote: Quote) -> Iterator[Message]:
    if not anchors.has_document(quote.document):
        yield message("reference.no_document", label=label, document=quote.document)
    elif not anchors.holds(quote):
        yield message("reference.no_quote", label=label, document=quote.document, quote=quote.quote)


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
