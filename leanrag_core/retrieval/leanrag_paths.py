"""What LeanRAG and LeanRAG-walk share (eq. 6-10): options, paths, context, steps, notes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.anchoring import SEED_LAYERS, AdaptedN, Anchors, Seed, find_seeds, seeds_without
from leanrag_core.retrieval.base import Options, Query
from leanrag_core.retrieval.context import (
    Budgets,
    CompactContext,
    compact_context,
    context_caption,
    context_lines,
    filled,
    filled_until_full,
    in_order,
)
from leanrag_core.retrieval.lca import Node, Subtree, lca_subtree, nearest_pairs, pairwise_subtree
from leanrag_core.retrieval.subgraph import Related, nodes_by_layer, relations_among, retrieved_nodes, tree_links
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import EXACT, KINDS
from leanrag_core.storage.search_store import EXACT_UP_TO
from leanrag_core.types.config import CHUNKS, CLIMB, CONTEXT, RELATED, SEEDS, option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, Style, Trace, TraceItem, TraceRelation, TraceStep

CONTEXTS = ("full", "compact")
STYLES = (
    Style("seed", message("leanrag.style.seed"), "seed", "disc"),
    Style("path", message("leanrag.style.path"), "path", "box"),
    Style("lca", message("leanrag.style.lca"), "lca", "double"),
    Style("passage", message("style.passage"), "chunk", "chip"),
    Style("tree", message("leanrag.style.tree"), "path", "line", on="relation"),
    Style("inter-cluster", message("leanrag.style.inter_cluster"), "inter", "arc", on="relation"),
    Style("base", message("leanrag.style.base"), "base", "dotted", on="relation"),
)
NEIGHBOUR_STYLE = Style("neighbour", message("leanrag.style.neighbour"), "entered", "box")
WALK_STYLES = (
    *STYLES,
    Style("carrier", message("leanrag.style.carrier"), "entered", "disc"),
    Style("mass", message("leanrag.style.mass"), "chunk", "line", on="relation"),
)
TITLES = {
    name: message(f"leanrag.step.{name}")
    for name in ("seeds", "climb", "lca", "relations", "walk", "chunks", "context")
}
_HUB_SHARE = 0.2  # a seed in more than this share of all chunks says little about any of them
_HUB_CORPUS = 20  # chunks; below, every entity is in a large share


@dataclass(frozen=True)
class PathOptions(Options):
    """Options of everything but the ranking of chunks."""

    top_n: int = option(
        10, low=1, high=100, paper=10, help=message("leanrag.option.top_n"), in_row=True, link="n", scale=30
    )
    top_c: int = option(
        5, low=0, high=50, paper=5, help=message("leanrag.option.top_c"), in_row=True, link="c", scale=20
    )
    inter_cluster: bool = option(
        True, paper=True, help=message("leanrag.option.inter_cluster"), in_row=True, step=RELATED
    )
    source_chunks: bool = option(
        True, paper=True, help=message("leanrag.option.source_chunks"), in_row=True, step=CHUNKS
    )
    findings: bool = option(False, help=message("leanrag.option.findings"), in_row=True, step=CONTEXT)
    context: str = option("full", choices=CONTEXTS, paper="full", help=message("leanrag.option.context"), step=CONTEXT)
    seed_layers: str = option(
        "base", choices=SEED_LAYERS, paper="base", help=message("leanrag.option.seed_layers"), step=SEEDS
    )
    lca: str = option("one", choices=("one", "pairwise"), paper="one", help=message("leanrag.option.lca"), step=CLIMB)
    pairs: str = option(
        "all", choices=("all", "nearest"), paper="all", help=message("leanrag.option.pairs"), step=CLIMB
    )
    inter_cluster_ends: str = option(
        "both", choices=("both", "any"), paper="both", help=message("leanrag.option.inter_cluster_ends"), step=RELATED
    )
    base_relations: bool = option(True, paper=True, help=message("leanrag.option.base_relations"), step=RELATED)
    root: bool = option(True, help=message("leanrag.option.root"), step=CLIMB)
    match_names: bool = option(False, help=message("leanrag.option.match_names"))
    search: str = option("auto", choices=KINDS, help=message("leanrag.option.search", limit=EXACT_UP_TO))
    max_tokens: int = option(37_000, low=0, high=128_000, help=message("leanrag.option.max_tokens"))
    budgets: str = option(
        "sections", choices=("sections", "released"), help=message("leanrag.option.budgets"), step=CONTEXT
    )
    entity_tokens: int = option(9000, low=0, high=32000, help=message("leanrag.option.entity_tokens"))
    aggregated_tokens: int = option(8000, low=0, high=32000, help=message("leanrag.option.aggregated_tokens"))
    relation_tokens: int = option(8000, low=0, high=32000, help=message("leanrag.option.relation_tokens"))
    inter_cluster_share: int = option(
        60, low=0, high=100, help=message("leanrag.option.inter_cluster_share"), step=CONTEXT
    )
    chunk_tokens: int = option(12000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))

    @property
    def wanted_chunks(self) -> int:
        """Return how many chunks are taken."""
        return self.top_c if self.source_chunks else 0

    def token_budgets(self) -> Budgets:
        """Return the budgets of the context."""
        sections = (self.entity_tokens, self.aggregated_tokens, self.relation_tokens, self.chunk_tokens)
        return Budgets(*sections, self.inter_cluster_share, self.max_tokens)


@dataclass(frozen=True)
class Paths:
    """seeds: best first. nodes: V_ret. tops: the lowest common ancestors among them. related: R_ret without the links
    of the tree. adapted_n: how N was chosen, where it rose."""

    seeds: tuple[Seed, ...]
    nodes: tuple[TraceItem, ...]
    tops: tuple[TraceItem, ...]
    related: Related
    adapted_n: AdaptedN | None = None


def anchors_of(query: Query, index: Index, options: PathOptions, tools: Tools, n: int) -> Anchors:
    """Return the n best seeds of the question, without those that were taken out."""
    anchors = find_seeds(
        index,
        query,
        n + len(tools.without),
        layers=options.seed_layers,
        match_names=options.match_names,
        search=options.search,
        searches=tools.searches,
    )
    return replace(anchors, seeds=seeds_without(anchors.seeds, tools.without, n))


def find_paths(run: Retrieval, seeds: tuple[Seed, ...]) -> Paths:
    """Return the subtree that joins the seeds, and the relations in it, without those that were taken out."""
    index, without = run.index, run.tools.without
    options: PathOptions = run.options
    subtree = _subtree(index, seeds, options)
    nodes = retrieved_nodes(index, subtree, seeds)
    run.lap("lca")
    related = relations_among(
        index, nodes, inter_cluster=options.inter_cluster, base=options.base_relations, ends=options.inter_cluster_ends
    )
    if without:
        related = replace(related, relations=tuple(each for each in related.relations if each.id not in without))
    run.lap("relations")
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
    """Return pairs of seeds, by place, whose paths meet where paths end at a node that is alone in its cluster.

    In the released code such a node goes up under its own name and so becomes its own parent.
    """
    chains = [frozenset(_chain(index, seed)) for seed in seeds]
    return [pair for pair in combinations(range(len(seeds)), 2) if chains[pair[0]] & chains[pair[1]]]


def _chain(index: Index, seed: Node) -> list[Node]:
    """Return the seed and its ancestors up to the root, or up to the node whose parent is itself under another id."""
    chain = [seed]
    for layer, row in index.ancestors(*seed):
        if index.layers[layer].entity_cells.value("promoted", row):
            break
        chain.append((layer, row))
    return chain


def paths_context(
    index: Index, paths: Paths, passages: Sequence[TraceItem], options: PathOptions, vector: np.ndarray
) -> CompactContext:
    """Return the context of the paths and passages. vector: (d,) of the question."""
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


@dataclass(frozen=True)
class ChosenChunks:
    """The chunks of a retrieval. ranking: (k,) rows of all candidates, best first. n_candidates: those that come from
    the graph. caption: of their step. walk: the step that ranked them, its items and its relations."""

    passages: tuple[TraceItem, ...]
    ranking: np.ndarray
    n_candidates: int
    caption: Message
    walk: TraceStep | None = None
    carriers: tuple[TraceItem, ...] = ()
    links: tuple[TraceRelation, ...] = ()


def paths_trace(run: Retrieval, anchors: Anchors, paths: Paths, chosen: ChosenChunks) -> Trace:
    """Return the trace of paths and chunks; where the context alone is wanted, that of the context."""
    options: PathOptions = run.options
    built = paths_context(run.index, paths, chosen.passages, options, run.query.vector)
    run.lap("context")
    if run.tools.context_alone:
        return run.context_trace(built.context, chosen.passages)
    neighbours, styles = paths.related.neighbours, WALK_STYLES if chosen.walk else STYLES
    relations = (*tree_links(paths.nodes), *paths.related.relations, *chosen.links)
    run.search = anchors.search
    run.notes += _notes(run, anchors, paths, chosen, built.n_dropped)
    return run.trace(
        built.context,
        steps=_steps(run, paths, relations, chosen, built.context),
        styles=(*styles, NEIGHBOUR_STYLE) if neighbours else styles,
        items=(*paths.nodes, *neighbours, *chosen.carriers, *chosen.passages),
        relations=relations,
        ranked_chunks=chosen.ranking,
    )


def _without_root(index: Index, nodes: Sequence[TraceItem]) -> list[TraceItem]:
    """Return the nodes without the root, unless that is a seed."""
    roots = {node.id for node in nodes if node.layer == len(index.layers) - 1 and "seed" not in node.roles}
    return [replace(node, parent=None) if node.parent in roots else node for node in nodes if node.id not in roots]


def _steps(
    run: Retrieval, paths: Paths, relations: Sequence[TraceRelation], chosen: ChosenChunks, context: Context
) -> tuple[TraceStep, ...]:
    """Return the steps seeds, climb, lca, relations, (walk,) chunks, context: caption and what each lights up.
    relations: of the whole trace."""
    nodes, tops, neighbours = paths.nodes, paths.tops, paths.related.neighbours
    inter = tuple(relation.id for relation in relations if relation.role == "inter-cluster")
    base = tuple(relation.id for relation in relations if relation.role == "base")
    tree = tuple(relation.id for relation in relations if relation.role == "tree")
    every, top_ids = tuple(node.id for node in (*nodes, *neighbours)), tuple(top.id for top in tops)
    path = tuple(node.id for node in nodes if node.id not in top_ids or len(nodes) == 1)
    in_chunks = [id_ for passage in chosen.passages if passage.source for id_ in (passage.id, *passage.source.items)]

    n_inter = message("leanrag.relations.inter_cluster", n=len(inter))
    n_base = message("leanrag.relations.base", n=len(base))

    def step(name: str, caption: Message, items: tuple[str, ...], lit: tuple[str, ...] = ()) -> TraceStep:
        return run.step(name, caption, items, lit, TITLES[name])

    return (
        step("seeds", _seeds_caption(paths.seeds, paths.adapted_n), tuple(seed.id for seed in paths.seeds)),
        step("climb", _climb_caption(nodes, tops), path, tree),
        step("lca", _lca_caption(tops, len(run.index.layers) - 1), top_ids, tree),
        step("relations", message("leanrag.relations", inter_cluster=n_inter, base=n_base), every, (*inter, *base)),
        *((chosen.walk,) if chosen.walk else ()),
        step("chunks", chosen.caption, tuple(dict.fromkeys(in_chunks))),
        step("context", context_caption(context), every),
    )


def _seeds_caption(seeds: tuple[Seed, ...], adapted_n: AdaptedN | None) -> Message:
    best, last = seeds[0], seeds[-1]
    if len(seeds) == 1:
        caption = message("leanrag.seeds.single", n=1, best=best.name, score=best.score)
    else:
        caption = message(
            "leanrag.seeds", n=len(seeds), best=best.name, score=best.score, last=last.name, last_score=last.score
        )
    return in_order((caption, _adapted_caption(adapted_n))) or caption if adapted_n else caption


def _adapted_caption(adapted_n: AdaptedN) -> Message:
    """Return which N was taken, and why."""
    chunks = message("count.chunks", n=adapted_n.touched)
    if adapted_n.touched < adapted_n.wanted:
        return message("leanrag.adapted.bounded", n=adapted_n.n, chunks=chunks, wanted=adapted_n.wanted)
    if adapted_n.n <= adapted_n.asked:
        return message("leanrag.adapted.enough", n=adapted_n.n, chunks=chunks, wanted=adapted_n.wanted)
    return message(
        "leanrag.adapted.raised",
        n=adapted_n.n,
        asked=adapted_n.asked,
        before=message("count.chunks", n=adapted_n.before),
        chunks=chunks,
        wanted=adapted_n.wanted,
    )


def _climb_caption(nodes: tuple[TraceItem, ...], tops: tuple[TraceItem, ...]) -> Message:
    if len(nodes) == 1:
        return message("leanrag.climb.single")
    top_ids = {top.id for top in tops}
    inner = tuple(node for node in nodes if node.layer and node.id not in top_ids)
    between = [(number, row) for number, row in nodes_by_layer(inner).items() if number < (tops[0].layer or 0)]
    if not between:
        return message("leanrag.climb.direct")
    return message(
        "leanrag.climb",
        nodes=tuple(message("leanrag.climb.layer", n=len(row), layer=number) for number, row in between),
    )


def _lca_caption(tops: tuple[TraceItem, ...], height: int) -> Message:
    top = tops[0]
    if len(tops) > 1:
        return message("leanrag.lca.several", n=len(tops), names=", ".join(each.name for each in tops))
    if top.layer == height:
        return message("leanrag.lca.root", name=top.name)
    return message("leanrag.lca", name=top.name, layer=top.layer, height=height)


def _notes(run: Retrieval, anchors: Anchors, paths: Paths, chosen: ChosenChunks, n_dropped: int) -> tuple[Message, ...]:
    """Return what the reader should know: an unfilled top-C, hubs, an LCA at the root, an approximate or failed search,
    repeated sentences that a compact context lacks."""
    index, tops = run.index, paths.tops
    lines, seeds, taken, wanted = [], anchors.seeds, len(chosen.passages), run.options.wanted_chunks
    if taken < wanted:
        chunks = message("count.chunks", n=chosen.n_candidates)
        lines.append(message("leanrag.note.unfilled", n=len(seeds), taken=taken, wanted=wanted, chunks=chunks))
    total = index.chunks.num_rows
    for seed in seeds:
        mentions = len(index.layers[seed.layer].chunks_of(seed.row))
        if total >= _HUB_CORPUS and seed.layer == 0 and mentions > _HUB_SHARE * total:
            lines.append(message("leanrag.note.hub", name=seed.name, percent=100 * mentions / total))
    if tops[0].layer == len(index.layers) - 1 and len(tops) == 1 < len(seeds):
        lines.append(message("leanrag.note.root"))
    if anchors.search != EXACT:
        if anchors.recall is None:
            lines.append(message("search.note.approximate"))
        else:
            lines.append(message("search.note.approximate_recall", percent=100 * anchors.recall))
    if anchors.instead:
        lines.append(message("search.note.exact_instead", reason=anchors.instead))
    if n_dropped:
        lines.append(message("leanrag.note.repeated", n=n_dropped))
    return tuple(lines)
