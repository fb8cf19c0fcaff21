"""Texts of aggregated entities and relations written by hand, taken where the members are the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leanrag_core.indexing.aggregation.writer import (
    AggregationWriter,
    ClusterView,
    RelationGroupView,
    Sentence,
    Summary,
)
from leanrag_core.indexing.reference.members import Members, end_members, members_of
from leanrag_core.indexing.reference.records import AggregatedText, ReferenceGraph
from leanrag_core.indexing.resolution import name_key
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Layer


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
