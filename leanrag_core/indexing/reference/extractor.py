"""The base graph of a reference graph: its entities and relations in the chunks that they are anchored to."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence

from leanrag_core.files.records import to_json
from leanrag_core.indexing.reference.anchoring import Anchors
from leanrag_core.indexing.reference.records import ReferenceGraph
from leanrag_core.indexing.resolution import name_key
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.manifest import REFERENCE_GRAPH

_RULES = "1"  # version of the rules of anchoring; raise it when they give entities or relations other chunks


class ReferenceExtractor:
    """Gives what was written by hand. See Extractor."""

    name = "reference"
    kind = REFERENCE_GRAPH

    def __init__(self, graph: ReferenceGraph) -> None:
        self._graph = graph
        self.latest = ""
        self.names: set[str] = set()
        self.n_relations = 0

    @property
    def fingerprint(self) -> str:
        """Hash of the graph, texts of aggregated entities and relations included."""
        return f"reference:{_RULES}/{hashlib.sha256(to_json(self._graph)).hexdigest()[:16]}"

    def extract(
        self, documents: Sequence[Document], chunks: Sequence[Chunk], report: Callable[[int], None]
    ) -> list[Extraction]:
        """Return the entities in the chunks that hold a quote, their name or an alias; relations in those that hold a
        quote.

        An entity or relation that these documents do not hold is left out, with a drop in the first extraction.
        """
        anchors = Anchors(documents, chunks)
        mentions: dict[str, list[Mention]] = defaultdict(list)
        relations: dict[str, list[RelationMention]] = defaultdict(list)
        drops: list[Drop] = []
        for entity in self._graph.entities:
            quoted = anchors.quote_chunks(entity.quotes)
            names = (entity.name, *entity.aliases)
            places = sorted({chunk.position: chunk.id for chunk in (*quoted, *anchors.name_chunks(names))}.items())
            if not places:
                drops.append(_not_here(entity.name))
                continue
            self.names.add(name_key(entity.name))
            self.latest = entity.name
            for _, chunk_id in places:
                mentions[chunk_id].append(Mention(entity.name, entity.type, entity.description, chunk_id))
            first = places[0][1]
            mentions[first] += [
                Mention(entity.name, entity.type, entity.description, first, surface=alias) for alias in entity.aliases
            ]
        for relation in self._graph.relations:
            quoted = anchors.quote_chunks(relation.quotes)
            if not quoted or not {name_key(relation.source), name_key(relation.target)} <= self.names:
                drops.append(_not_here(f"{relation.source} – {relation.target}"))
                continue
            self.n_relations += 1
            for place, chunk in enumerate(quoted):
                # Chunks overlap, and one statement counts once.
                strength = 0.0 if place else float(relation.strength)
                ends = relation.source, relation.target
                relations[chunk.id].append(
                    RelationMention(*ends, relation.description, chunk.id, relation.keywords, strength)
                )
        report(len(chunks))
        return [
            Extraction(chunk.id, tuple(mentions[chunk.id]), tuple(relations[chunk.id]), () if place else tuple(drops))
            for place, chunk in enumerate(chunks)
        ]


def _not_here(item: str) -> Drop:
    return Drop("extract", item, sentence(message("reference.not_in_documents")))
