"""Hierarchical aggregation: from the base graph G0 to the hierarchy H (section 3 of the method, eq. 3-5)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.clustering.mixture import cluster_entities, n_components
from leanrag_core.errors import TooFewEntities
from leanrag_core.indexing.aggregation.concatenation import concatenate
from leanrag_core.indexing.aggregation.embedding import Embed, OnceEmbedder
from leanrag_core.indexing.aggregation.embedding_text import embedding_text
from leanrag_core.indexing.aggregation.relations import (
    RelationGroups,
    frequent_keywords,
    group_relations,
    lift_counts,
)
from leanrag_core.indexing.aggregation.tables import NewEntity, NewRelations, layer_tables, union_chunks
from leanrag_core.indexing.aggregation.threshold import TauRule, parse_tau
from leanrag_core.indexing.aggregation.views import (
    LayerColumns,
    cluster_view,
    columns_of,
    inside_rows,
    relation_view,
    strongest_first,
)
from leanrag_core.indexing.aggregation.writer import AggregationWriter
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Finding, Graph, Layer, children_offsets
from leanrag_core.types.usage import Usage

AGGREGATED = "aggregated"  # type of an entity that stands for a cluster
StageReport = Callable[[str, int, int], None]
Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """H = {G0, ..., Gk}: layers[0] is the base graph with its vectors, layers[-1] holds the root alone.

    drops: what was shortened or fell back, in order. clustering: facts of each new layer, plain JSON values.
    """

    layers: tuple[Layer, ...]
    drops: tuple[Drop, ...]
    usage: Usage
    clustering: tuple[dict[str, Any], ...]


def build_hierarchy(
    base: Graph,
    *,
    cluster_size: int,
    tau: str | int | float | None,
    size_cap: bool,
    seed: int,
    embed: Embed,
    writer: AggregationWriter,
    heuristic: bool,
    report: StageReport = lambda stage, done, total: None,
    concatenation_tokens: int = 160,
    apply: Apply = map,
) -> Hierarchy:
    """The hierarchy over the base graph; same arguments, same hierarchy.

    Every layer is embedded, clustered and aggregated until one node is left; a base graph of one entity is its own
    root. apply maps a function over work and yields results in order (a thread pool's map makes the writer's calls
    overlap without changing the result). report(stage, done, total) speaks of the whole build; totals of layers that
    are not there yet are estimated. Raises TooFewEntities for an empty graph, InvalidConfig for tau or cluster_size.
    """
    rule = parse_tau(tau, heuristic)
    if base.entities.num_rows == 0:
        raise TooFewEntities("the base graph has no entities: there is nothing to aggregate")
    progress = _Progress(report, base.entities.num_rows, cluster_size)
    embedder = OnceEmbedder(embed)
    layers = [_embedded(base, 0, embedder, progress)]
    kinds, kind_counts = _base_kinds(base)
    drops: list[Drop] = []
    usage = Usage()
    facts: list[dict[str, Any]] = []
    while len(layers[-1]) > 1:
        below = layers[-1]
        labels = cluster_entities(below.vectors, cluster_size=cluster_size, size_cap=size_cap, seed=seed)
        progress.advance("cluster", 1)
        layers[-1] = below = Layer(below.entities, below.relations, below.number, below.vectors, labels)
        writer.prepare(tuple(layers), labels)
        step = _Aggregation(below, writer, rule, apply, progress, concatenation_tokens)
        graph = step.run(kinds, kind_counts)
        kind_counts = lift_counts(kind_counts, step.groups)
        facts.append({**_cluster_facts(below, cluster_size, size_cap, seed), **step.facts})
        drops.extend(step.drops)
        usage = usage + step.usage
        layers.append(_embedded(graph, below.number + 1, embedder, progress))
    progress.finish()
    return Hierarchy(tuple(layers), tuple(drops), usage, tuple(facts))


class _Progress:
    """Counts each stage over all layers. A layer's share of a total is an estimate until the layer is there."""

    def __init__(self, report: StageReport, n: int, cluster_size: int) -> None:
        self._report = report
        sizes = [n]
        while sizes[-1] > 1:
            sizes.append(n_components(sizes[-1], cluster_size))
        above = sum(sizes[1:])
        self._done = {"embed": 0, "cluster": 0, "aggregate entities": 0, "aggregate relations": 0}
        self._total = {
            "embed": sum(sizes),
            "cluster": len(sizes) - 1,
            "aggregate entities": above,
            "aggregate relations": 0,
        }

    def expect(self, stage: str, total: int) -> None:
        """The stage has at least so much ahead of it, and has begun: its first step may wait long for a server."""
        self._total[stage] = max(self._total[stage], self._done[stage] + total)
        if total:
            self.advance(stage, 0)

    def advance(self, stage: str, steps: int) -> None:
        """So much more is done."""
        self._done[stage] += steps
        self._report(stage, self._done[stage], max(self._total[stage], self._done[stage]))

    def finish(self) -> None:
        """Every stage stands at its end, estimates being over."""
        for stage, done in self._done.items():
            self._report(stage, done, done)


def _embedded(graph: Graph, number: int, embedder: OnceEmbedder, progress: _Progress) -> Layer:
    names, descriptions = graph.entities["name"].to_pylist(), graph.entities["description"].to_pylist()
    texts = [embedding_text(name or "", text or "") for name, text in zip(names, descriptions, strict=True)]
    progress.expect("embed", len(texts))
    told = 0

    def tell(done: int) -> None:
        nonlocal told
        progress.advance("embed", done - told)
        told = done

    vectors = embedder(texts, tell)
    return Layer(graph.entities, graph.relations, number, vectors, np.zeros(0, dtype=np.int32))


def _base_kinds(base: Graph) -> tuple[list[str], np.ndarray]:
    """Kinds of the base relations, sorted, and (r, kinds) with a one where a relation is of that kind."""
    of_relation = [kind or "stated" for kind in base.relations["kind"].to_pylist()]
    kinds = sorted(set(of_relation))
    column = {kind: place for place, kind in enumerate(kinds)}
    counts = np.zeros((len(of_relation), len(kinds)), dtype=np.int64)
    counts[np.arange(len(of_relation)), [column[kind] for kind in of_relation]] = 1
    return kinds, counts


def _cluster_facts(below: Layer, cluster_size: int, size_cap: bool, seed: int) -> dict[str, Any]:
    sizes = np.bincount(below.parent)
    return {
        "layer": below.number + 1,
        "nodes": len(below),
        "components": n_components(len(below), cluster_size),
        "clusters": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
        "singletons": int((sizes == 1).sum()),
        "cap": 2 * cluster_size if size_cap else None,
        "covariance": "tied",
        "seed": seed,
    }


class _Aggregation:
    """One layer's clusters turned into the entities and relations of the layer above."""

    def __init__(
        self,
        below: Layer,
        writer: AggregationWriter,
        rule: TauRule,
        apply: Apply,
        progress: _Progress,
        concatenation_tokens: int,
    ) -> None:
        self.below, self.writer, self.rule, self.apply = below, writer, rule, apply
        self.progress, self.max_tokens = progress, concatenation_tokens
        self.number = below.number + 1
        self.n_parents = int(below.parent.max()) + 1
        self.columns: LayerColumns = columns_of(below)
        self.groups: RelationGroups = group_relations(below.ends, self.columns.weights, below.parent, self.n_parents)
        self.drops: list[Drop] = []
        self.usage = Usage()
        self.facts: dict[str, Any] = {}

    def run(self, kinds: Sequence[str], kind_counts: np.ndarray) -> Graph:
        """The graph G_i over the clusters of layer i-1."""
        offsets, order = children_offsets(self.below.parent, self.n_parents)
        children = [order[offsets[row] : offsets[row + 1]] for row in range(self.n_parents)]
        parents = self._entities(children)
        relations = self._relations(parents, kinds, lift_counts(kind_counts, self.groups))
        ids = self.columns.ids
        chunks = union_chunks(self.below.entities["chunks"], self.below.parent, self.n_parents)
        return layer_tables(self.number, parents, [[ids[row] for row in rows] for rows in children], chunks, relations)

    def _entities(self, children: Sequence[np.ndarray]) -> list[NewEntity]:
        columns, stage = self.columns, "aggregate entities"
        self.progress.expect(stage, len(children))
        offsets, rows = inside_rows(self.below.ends, self.below.parent, self.n_parents)
        written = iter(
            self.apply(
                self.writer.entity,
                (
                    cluster_view(self.below, columns, label, members, rows[offsets[label] : offsets[label + 1]])
                    for label, members in enumerate(children)
                    if len(members) > 1
                ),
            )
        )
        entities = []
        for members in children:
            if len(members) > 1:
                summary = next(written)
                self.usage = self.usage + summary.usage
                self.drops.extend(summary.drops)
                entities.append(NewEntity(summary.name, AGGREGATED, summary.description, summary.findings, False))
            else:
                entities.append(self._promoted(int(members[0])))
            self.progress.advance(stage, 1)
        return entities

    def _promoted(self, row: int) -> NewEntity:
        columns = self.columns
        found = self.below.entities["findings"][row].as_py() or ()
        findings = tuple(Finding(**finding) for finding in found)
        return NewEntity(columns.names[row], columns.types[row], columns.descriptions[row], findings, True)

    def _relations(self, parents: Sequence[NewEntity], kinds: Sequence[str], counts: np.ndarray) -> NewRelations:
        groups, columns, stage = self.groups, self.columns, "aggregate relations"
        self.progress.expect(stage, len(groups))
        tau = self.rule.threshold(self.number, groups.strength)
        strong = groups.strength > tau
        written = iter(
            self.apply(
                self.writer.relation,
                (
                    relation_view(self.below, columns, groups, int(group), parents, _ranked(kinds, counts[group]))
                    for group in np.flatnonzero(strong)
                ),
            )
        )
        descriptions, keywords, cut, shortened = [], [], 0, 0
        for group in range(len(groups)):
            rows = groups.members(group)
            keywords.append(frequent_keywords([columns.relation_keywords[row] for row in rows]))
            if strong[group]:
                sentence = next(written)
                self.usage = self.usage + sentence.usage
                self.drops.extend(sentence.drops)
                descriptions.append(sentence.text)
            else:
                joined = concatenate(self._descriptions(rows), max_tokens=self.max_tokens)
                cut, shortened = cut + joined.cut, shortened + (joined.cut > 0)
                descriptions.append(joined.text)
            self.progress.advance(stage, 1)
        if cut:
            self.drops.append(
                Drop(
                    stage,
                    f"layer {self.number}",
                    f"{shortened} concatenated relations exceed {self.max_tokens} tokens: {cut} descriptions of their "
                    "members were shortened or left out",
                )
            )
        self.facts = {
            "tau": tau,
            "relations_below": len(columns.weights),
            "relations_inside": int(groups.inside.sum()),
            "summarised": int(strong.sum()),
            "concatenated": int((~strong).sum()),
            "descriptions_cut": cut,
        }
        return NewRelations(
            ends=np.stack([groups.left, groups.right], axis=1),
            weight=groups.weight,
            strength=groups.strength,
            kinds=["summarised" if above else "concatenated" for above in strong],
            descriptions=descriptions,
            keywords=keywords,
            offsets=groups.offsets,
            members=groups.rows,
        )

    def _descriptions(self, rows: np.ndarray) -> Iterator[str]:
        return (self.columns.relation_descriptions[row] for row in strongest_first(rows, self.columns))


def _ranked(kinds: Sequence[str], counts: np.ndarray) -> list[tuple[str, int]]:
    present = [(kind, int(count)) for kind, count in zip(kinds, counts, strict=True) if count]
    return sorted(present, key=lambda pair: (-pair[1], pair[0]))
