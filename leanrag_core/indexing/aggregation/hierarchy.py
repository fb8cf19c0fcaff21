"""Hierarchical aggregation: from the base graph G0 to the hierarchy H (section 3 of the method, eq. 3-5)."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.clusters import cluster
from leanrag_core.clustering.options import ClusterFacts, Clustering, ClusterOptions
from leanrag_core.errors import TooFewEntities
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder, embedding_text
from leanrag_core.indexing.aggregation.layer_step import LayerStep, StageProgress, expected_totals
from leanrag_core.indexing.aggregation.relations import Texts, joined, lift_counts
from leanrag_core.indexing.aggregation.rules import AggregationRules, released_depth
from leanrag_core.indexing.aggregation.writer import AggregationWriter
from leanrag_core.types.build_report import LayerClusters
from leanrag_core.types.calls import Usage, WrittenCall
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Graph, Layer
from leanrag_core.types.job import Report, silent
from leanrag_core.types.settings import Apply

Group = Callable[[Layer, ClusterOptions, Apply], Clustering]  # the clusters of a layer


def fresh_clusters(below: Layer, options: ClusterOptions, apply: Apply) -> Clustering:
    """Cluster a layer without regard to earlier clusters."""
    return cluster(below.vectors, options, ends=below.ends, apply=apply)


@dataclass(frozen=True, eq=False)
class Start:
    """What a hierarchy is made with: who embeds, who writes, who groups."""

    embedder: OnceEmbedder
    writer: AggregationWriter
    group: Group = fresh_clusters


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """H = {G0, ..., Gk}: layers[0] is the base graph with its vectors, layers[-1] holds the root alone.

    drops: what was shortened or fell back, in order. clustering: how each new layer was made. calls: of a language
    model, layer by layer.
    """

    layers: tuple[Layer, ...]
    drops: tuple[Drop, ...]
    usage: Usage
    clustering: tuple[LayerClusters, ...]
    calls: tuple[WrittenCall, ...] = ()


def build_hierarchy(
    base: Graph,
    start: Start,
    clustering: ClusterOptions,
    rules: AggregationRules,
    *,
    report: Report = silent,
    apply: Apply = map,
    executor: Apply = map,
) -> Hierarchy:
    """Build the hierarchy over the base graph; same arguments, same hierarchy.

    Every layer is embedded, clustered and aggregated until one node is left; a base graph of one entity is its own
    root. apply maps a function over work and yields results in order (a thread pool's map makes the writer's calls
    overlap without changing the result); `executor` does so with pure functions of batches, maybe elsewhere.
    report: hears of the stages of the whole build; totals of layers that are not there yet are estimated.
    Raises TooFewEntities for an empty graph.
    """
    if base.entities.num_rows == 0:
        raise TooFewEntities("build.nothing_to_aggregate")
    depth = released_depth(base.entities.num_rows, clustering.cluster_size)
    progress = StageProgress(report, expected_totals(base.entities.num_rows, clustering.cluster_size))
    layers = [embedded(base, 0, start.embedder, progress)]
    kinds, kind_counts = base_kinds(base)
    drops: list[Drop] = []
    usage = Usage()
    calls: list[WrittenCall] = []
    clusterings: list[LayerClusters] = []
    while len(layers[-1]) > 1:
        below = layers[-1]
        clustered = start.group(below, clustering, executor)
        labels = rules.stopped(clustered.labels, below.number, depth)
        facts = clustered.facts if labels is clustered.labels else _of_the_root(clustered.facts)
        layers[-1] = below = Layer(below.entities, below.relations, below.number, below.vectors, labels)
        progress.advance("cluster", 1, made=below)
        start.writer.prepare(tuple(layers), labels)
        step = LayerStep(below, start.writer, rules, apply, progress, depth)
        graph = step.run(kinds, kind_counts)
        kind_counts = lift_counts(kind_counts, step.groups)
        clusterings.append(
            LayerClusters(
                **{**vars(facts), **vars(step.counts)},
                layer=below.number + 1,
                cap=clustering.largest,
                options=clustering.settings(),
            )
        )
        drops.extend(step.drops)
        usage = usage + step.usage
        calls.extend(step.calls)
        layers.append(embedded(graph, below.number + 1, start.embedder, progress))
    progress.finish()
    return Hierarchy(tuple(layers), tuple(drops), usage, tuple(clusterings), tuple(calls))


class EmbeddingTexts(Collection[str]):
    """The texts that are embedded for the entities of a graph, one after another."""

    def __init__(self, entities: pa.Table) -> None:
        self.names, self.descriptions = Texts(entities["name"]), Texts(entities["description"])

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return map(embedding_text, self.names, self.descriptions)

    def __contains__(self, text: object) -> bool:
        return any(text == other for other in self)


def remember_layers(embedder: OnceEmbedder, layers: Iterable[Layer]) -> None:
    """Keep the vectors of all entities of these layers, so that their texts are not embedded again."""
    for layer in layers:
        embedder.remember(EmbeddingTexts(layer.entities), np.asarray(layer.vectors))


def embedded(graph: Graph, number: int, embedder: OnceEmbedder, progress: StageProgress) -> Layer:
    """Return the graph as the layer of that number, with its vectors and without parents."""
    texts = EmbeddingTexts(graph.entities)
    progress.expect("embed", len(texts))
    reported = 0

    def tell(done: int) -> None:
        nonlocal reported
        progress.advance("embed", done - reported)
        reported = done

    vectors = embedder(texts, tell)
    return Layer(graph.entities, graph.relations, number, vectors, np.zeros(0, dtype=np.int32))


def base_kinds(base: Graph) -> tuple[list[str], np.ndarray]:
    """Return the kinds of the base relations, sorted, and (r, kinds) int64 with a one where a relation is of that
    kind.
    """
    coded = joined(base.relations["kind"]).fill_null("stated").dictionary_encode()
    named = [kind or "stated" for kind in coded.dictionary.to_pylist()]
    kinds = sorted(set(named))
    place = np.array([kinds.index(kind) for kind in named], dtype=np.int64)
    counts = np.zeros((len(coded), len(kinds)), dtype=np.int64)
    counts[np.arange(len(coded)), place[coded.indices.to_numpy()]] = 1
    return kinds, counts


def _of_the_root(facts: ClusterFacts) -> ClusterFacts:
    """Return the facts of a layer whose clusters were given up for the root."""
    n = facts.nodes
    return replace(facts, clusters=1, smallest=n, median=n, largest=n, singletons=0, neighbours_inside=1.0)
