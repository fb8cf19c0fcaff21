"""What is wrong with the texts of a reference graph: quotes that no document holds, and names where none should be."""

import re
from collections.abc import Iterable, Iterator, Sequence

from leanrag_core.indexing.names import name_key
from leanrag_core.indexing.reference.anchoring import Anchors
from leanrag_core.indexing.reference.models import Members, end_members, members_of
from leanrag_core.indexing.reference.records import Quote, ReferenceGraph
from leanrag_core.text.words import whole_words
from leanrag_core.types.corpus import Document


def quote_faults(graph: ReferenceGraph, documents: Sequence[Document]) -> list[str]:
    """Return quotes that their documents do not hold."""
    anchors, names = Anchors(documents), {document.name for document in documents}
    rows = [(row.name, row.quotes) for row in graph.entities]
    rows += [(f"{row.source} – {row.target}", row.quotes) for row in graph.relations]

    def fault(label: str, quote: Quote) -> str:
        if quote.document not in names:
            return f"{label}: the corpus has no document {quote.document}"
        return f"{label}: {quote.document} does not hold the quote “{quote.quote}”"

    return [fault(label, quote) for label, quotes in rows for quote in quotes if not anchors.holds(quote)]


def naming_faults(graph: ReferenceGraph) -> list[str]:
    """Return aggregated entities that bear the name of a member, and aggregated relations that mention one: their texts
    are about groups, as the prompts aggregate_entity and aggregate_relation ask of a model.
    """
    return [*_borrowed_names(graph), *_named_members(graph)]


def _borrowed_names(graph: ReferenceGraph) -> Iterator[str]:
    for row in graph.aggregated_entities:
        names = _names_below(graph, members_of(row.members), row.layer)
        if name_key(row.name) in map(name_key, names):
            yield f"{row.name}: an entity below this aggregated entity of layer {row.layer} has the same name"


def _named_members(graph: ReferenceGraph) -> Iterator[str]:
    for row in graph.aggregated_relations:
        ends = (end_members(graph, row.layer, end) or frozenset[str]() for end in (row.source, row.target))
        for name in _mentioned(row.description, _names_below(graph, frozenset[str]().union(*ends), row.layer)):
            yield f"{row.source} – {row.target}: names the member {name}; the sentence is about the groups as wholes"


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
