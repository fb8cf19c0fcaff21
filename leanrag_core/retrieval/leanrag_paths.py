"""From seeds to the retrieved subgraph and its context: what LeanRAG and LeanRAG-walk have in common (eq. 6-10)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from leanrag_core.retrieval.anchoring import Anchors, Seed, find_seeds
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.compact import CompactContext, compact_context
from leanrag_core.retrieval.context import context_lines, filled, filled_until_full
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.lca import Node, Subtree, lca_subtree, nearest_pairs, pairwise_subtree
from leanrag_core.retrieval.leanrag_options import PathOptions
from leanrag_core.retrieval.leaving_out import seeds_without
from leanrag_core.retrieval.subgraph import Related, relations_among, retrieved_nodes
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.index import Index
from leanrag_core.types.trace import TraceItem


@dataclass(frozen=True)
class Paths:
    """seeds: best first. nodes: V_ret. tops: the lowest common ancestors among them. related: R_ret without the links
    of the tree."""

    seeds: tuple[Seed, ...]
    nodes: tuple[TraceItem, ...]
    tops: tuple[TraceItem, ...]
    related: Related


def anchors_of(query: Query, index: Index, options: PathOptions, tools: Tools, n: int) -> Anchors:
    """The n best seeds of the question, without those that were taken out."""
    anchors = find_seeds(
        index,
        query.text,
        query.vector,
        n + len(tools.without),
        layers=options.seed_layers,
        match_names=options.match_names,
        search=options.search,
        searches=tools.searches,
    )
    return replace(anchors, seeds=seeds_without(anchors.seeds, tools.without, n))


def find_paths(
    index: Index, seeds: tuple[Seed, ...], options: PathOptions, laps: Laps, without: frozenset[str] = frozenset()
) -> Paths:
    """The subtree that joins the seeds, and the relations in it. without: ids of relations that were taken out."""
    subtree = _subtree(index, seeds, options)
    nodes = retrieved_nodes(index, subtree, seeds)
    laps.lap("lca")
    related = relations_among(
        index,
        nodes,
        inter_cluster=options.inter_cluster,
        base=options.base_relations,
        ends=options.inter_cluster_ends,
    )
    if without:
        related = replace(related, relations=tuple(each for each in related.relations if each.id not in without))
    laps.lap("relations")
    by_place = {(node.layer, node.row): node for node in nodes}
    return Paths(seeds, nodes, tuple(by_place[top] for top in subtree.tops), related)


def _subtree(index: Index, seeds: Sequence[Seed], options: PathOptions) -> Subtree:
    parents = [layer.parent for layer in index.layers]
    places = [(seed.layer, seed.row) for seed in seeds]
    if index.manifest.config.singletons == "released":
        return pairwise_subtree(parents, places, joined_pairs(index, places))
    if options.lca == "one":
        return lca_subtree(parents, places)
    if options.pairs == "all":
        return pairwise_subtree(parents, places, combinations(range(len(places)), 2))
    vectors = np.stack([np.asarray(index.layers[layer].vectors[row]) for layer, row in places])
    return pairwise_subtree(parents, places, nearest_pairs(vectors))


def joined_pairs(index: Index, seeds: Sequence[Node]) -> list[tuple[int, int]]:
    """Pairs of seeds, by place, whose paths meet where paths end at a node that is alone in its cluster.

    In the released code such a node goes up under its own name and so becomes its own parent.
    """
    chains = [frozenset(_chain(index, seed)) for seed in seeds]
    return [pair for pair in combinations(range(len(seeds)), 2) if chains[pair[0]] & chains[pair[1]]]


def _chain(index: Index, seed: Node) -> list[Node]:
    """The seed and its ancestors up to the root, or up to the node whose parent is itself under another id."""
    chain = [seed]
    for layer, row in index.ancestors(*seed):
        if index.layers[layer].entity_cells["promoted"][row].as_py():
            break
        chain.append((layer, row))
    return chain


def paths_context(
    index: Index, paths: Paths, passages: Sequence[TraceItem], options: PathOptions, vector: np.ndarray
) -> CompactContext:
    """The context of the paths and passages. vector: (d,) of the question."""
    lines = context_lines(
        index,
        paths.nodes if options.root else _without_root(index, paths.nodes),
        paths.related.relations,
        passages,
        findings=options.findings,
        vector=vector,
        named=paths.related.neighbours,
    )
    if options.context == "compact":
        return compact_context(lines, [top.id for top in paths.tops], options.token_budgets())
    if options.budgets == "released":
        return CompactContext(filled_until_full(lines, options.max_tokens), 0)
    return CompactContext(filled(lines, options.token_budgets()), 0)


def _without_root(index: Index, nodes: Sequence[TraceItem]) -> list[TraceItem]:
    """The nodes without the root, unless that is a seed."""
    roots = {node.id for node in nodes if node.layer == len(index.layers) - 1 and "seed" not in node.roles}
    return [replace(node, parent=None) if node.parent in roots else node for node in nodes if node.id not in roots]
