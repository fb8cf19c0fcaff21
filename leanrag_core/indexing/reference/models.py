"""A graph that comes with a corpus, used in place of models: read instead of the chunks, and its texts taken for
clusters.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leanrag_core.files.records import to_json
from leanrag_core.indexing.aggregation.writer import (
    AggregationWriter,
    ClusterView,
    RelationGroupView,
    Sentence,
    Summary,
)
from leanrag_core.indexing.extraction.gathered import Extractor
from leanrag_core.indexing.names import name_key
from leanrag_core.indexing.reference.anchoring import Anchors
from leanrag_core.indexing.reference.records import AggregatedText, ReferenceGraph
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.graph import Layer
from leanrag_core.types.manifest import REFERENCE_GRAPH

Members = frozenset[str]  # keys of the names of base entities


def members_of(names: tuple[str, ...]) -> Members:
    """Return the key of a cluster over base entities of those names."""
    return frozenset(map(name_key, names))


def end_members(graph: ReferenceGraph, layer: int, name: str) -> Members | None:
    """Return the base entities below the node of that name in the layer; None when no node has the name.

    A node that was promoted keeps its name, so names of lower layers count as well, the highest first.
    """
    named = [row for row in graph.aggregated_entities if row.name == name and row.layer <= layer]
    if named:
        return members_of(max(named, key=lambda row: row.layer).members)
    key = name_key(name)
    return frozenset({key}) if any(name_key(row.name) == key for row in graph.entities) else None


_RULES = "1"  # version of the rules of anchoring; raise it when they give entities or relations other chunks


class ReferenceExtractor(Extractor):
    """Gives the entities and relations that were written by hand. See Extractor."""

    name = "reference"
    kind = REFERENCE_GRAPH

    def __init__(self, graph: ReferenceGraph) -> None:
        super().__init__()
        self._graph = graph

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


@dataclass(frozen=True)
class _Prepared:
    """The coming layer. texts: written by hand, by the cluster's label. ends: base entities below each node whose name
    was written by hand."""

    texts: dict[int, AggregatedText] = field(default_factory=dict)
    ends: dict[str, Members] = field(default_factory=dict)


class ReferenceWriter:
    """Takes texts from a reference graph, others from `fallback`. See AggregationWriter.

    by_builtin: the fallback is the built-in writer, which the report of the build says.
    """

    def __init__(self, graph: ReferenceGraph, fallback: AggregationWriter, *, by_builtin: bool) -> None:
        self._fallback, self._by_builtin = fallback, by_builtin
        self._texts = {(row.layer, members_of(row.members)): row for row in graph.aggregated_entities}
        self._sentences = {
            (row.layer, frozenset(end_members(graph, row.layer, end) for end in (row.source, row.target))): row
            for row in graph.aggregated_relations
        }
        self._prepared = _Prepared()

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Look up the clusters of the coming layer by the base entities below them. labels: (n,) int of the top
        layer.
        """
        self._fallback.prepare(layers, labels)
        labels = np.asarray(labels)
        cluster_of = np.arange(len(layers[0]))
        for layer in layers[:-1]:
            cluster_of = layer.parent[cluster_of]
        members: dict[int, set[str]] = {label: set() for label in range(int(labels.max()) + 1)}
        for name, label in zip(layers[0].entities["name"].to_pylist(), labels[cluster_of].tolist(), strict=True):
            members[label].add(name_key(name))
        number, sizes = layers[-1].number + 1, np.bincount(labels)
        looked_up = {label: self._texts.get((number, frozenset(below))) for label, below in members.items()}
        texts = {label: text for label, text in looked_up.items() if text is not None and sizes[label] > 1}
        names = {label: text.name for label, text in texts.items()}
        below_names = layers[-1].entities["name"].to_pylist()
        promoted = {int(labels[row]): name for row, name in enumerate(below_names) if sizes[labels[row]] == 1}
        ends = {name: frozenset(members[label]) for label, name in (promoted | names).items()}
        self._prepared = _Prepared(texts, ends)

    def entity(self, members: ClusterView) -> Summary:
        """Return the text written for these members, or the fallback's with a drop that says so."""
        text = self._prepared.texts.get(members.label)
        if text is not None:
            return Summary(text.name, text.description, text.findings)
        summary = self._fallback.entity(members)
        name = summary.name
        while name in self._prepared.ends:  # a relation is looked up by the names of its ends
            name += " (2)"
        item = f"layer {members.layer}, {name}"
        return replace(summary, name=name, drops=(*summary.drops, self._drop("aggregate entities", item)))

    def relation(self, view: RelationGroupView) -> Sentence:
        """Return the sentence written for these two ends, or the fallback's with a drop that says so."""
        ends = frozenset(self._prepared.ends.get(name) for name in (view.left_name, view.right_name))
        written = None if None in ends else self._sentences.get((view.layer, ends))
        if written is not None:
            return Sentence(written.description)
        by_fallback = self._fallback.relation(view)
        item = f"layer {view.layer}, {view.left_name} – {view.right_name}"
        return replace(by_fallback, drops=(*by_fallback.drops, self._drop("aggregate relations", item)))

    def _drop(self, stage: str, item: str) -> Drop:
        return Drop(stage, item, sentence(message("reference.no_text")), by_builtin=self._by_builtin)
