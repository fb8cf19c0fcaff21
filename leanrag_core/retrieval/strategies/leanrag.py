"""LeanRAG: anchor at the finest entities, climb to their lowest common ancestor, take what lies on the way."""

from dataclasses import dataclass

from leanrag_core.messages.message import message
from leanrag_core.retrieval import evidence
from leanrag_core.retrieval.anchoring import find_seeds
from leanrag_core.retrieval.base import OFFICIAL, Query, trace_index
from leanrag_core.retrieval.context import Budgets, build_context
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.lca import lca_subtree
from leanrag_core.retrieval.leanrag_steps import STYLES, notes, steps
from leanrag_core.retrieval.subgraph import relations_among, retrieved_nodes, tree_links
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import KINDS
from leanrag_core.storage.search_store import EXACT_UP_TO
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Config:
    """Options of a LeanRAG retrieval; the defaults are the paper's method."""

    top_n: int = option(
        10, low=1, high=100, paper=10, help=message("leanrag.option.top_n"), in_row=True, link="n", scale=30
    )
    top_c: int = option(
        5, low=0, high=50, paper=5, help=message("leanrag.option.top_c"), in_row=True, link="c", scale=20
    )
    inter_cluster: bool = option(True, paper=True, help=message("leanrag.option.inter_cluster"), in_row=True)
    source_chunks: bool = option(True, paper=True, help=message("leanrag.option.source_chunks"), in_row=True)
    findings: bool = option(False, help=message("leanrag.option.findings"), in_row=True)
    seed_layers: str = option("base", choices=("base", "all"), paper="base", help=message("leanrag.option.seed_layers"))
    fuse_vectors: bool = option(False, help=message("leanrag.option.fuse_vectors"))
    match_names: bool = option(False, help=message("leanrag.option.match_names"))
    search: str = option(
        "auto",
        choices=KINDS,
        help=message("leanrag.option.search", limit=EXACT_UP_TO),
    )
    entity_tokens: int = option(9000, low=0, high=32000, help=message("leanrag.option.entity_tokens"))
    aggregated_tokens: int = option(8000, low=0, high=32000, help=message("leanrag.option.aggregated_tokens"))
    relation_tokens: int = option(8000, low=0, high=32000, help=message("leanrag.option.relation_tokens"))
    inter_cluster_share: int = option(
        60,
        low=0,
        high=100,
        help=message("leanrag.option.inter_cluster_share"),
    )
    chunk_tokens: int = option(12000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))

    def __post_init__(self) -> None:
        validate(self)


class Strategy:
    """Section 3.3 of the paper (eq. 6-10, B.3.1)."""

    name = "leanrag"
    title = message("strategy.leanrag.title")
    help = message("strategy.leanrag.help")
    badge = "native"
    differs = message("strategy.leanrag.differs")
    calls_model = False
    parts = ()
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace of one retrieval; no language model is called."""
        config, clock = self.config, Laps()
        anchors = find_seeds(
            index,
            query.text,
            query.vector,
            config.top_n,
            all_layers=config.seed_layers == "all",
            match_names=config.match_names,
            search=config.search,
            searches=tools.searches,
        )
        seeds = anchors.seeds
        clock.lap("seeds")
        subtree = lca_subtree([layer.parent for layer in index.layers], [(seed.layer, seed.row) for seed in seeds])
        nodes = retrieved_nodes(index, subtree, seeds)
        clock.lap("lca")
        relations = relations_among(index, nodes, inter_cluster=config.inter_cluster)
        clock.lap("relations")
        seeded = evidence.chunks_by_seeds(index, seeds)
        ranking = seeded.rows
        if config.fuse_vectors:
            ranking = evidence.fused([ranking, evidence.ranked_by_vector(index, query.vector)])
        wanted = config.top_c if config.source_chunks else 0
        passages = evidence.passages(index, ranking[:wanted], seeded)
        clock.lap("chunks")
        budgets = Budgets(
            config.entity_tokens,
            config.aggregated_tokens,
            config.relation_tokens,
            config.chunk_tokens,
            config.inter_cluster_share,
        )
        context = build_context(
            index, nodes, relations, passages, budgets, findings=config.findings, vector=query.vector
        )
        clock.lap("context")
        top = next(node for node in nodes if (node.layer, node.row) == subtree.top)
        every = (*tree_links(nodes), *relations)
        n_candidates = len(seeded.rows)
        return Trace(
            question=query.text,
            strategy=self.name,
            title=self.title,
            parameters=dict(vars(config)),
            items=(*nodes, *passages),
            relations=every,
            context=context,
            steps=steps(index, seeds, top, nodes, every, passages, n_candidates, context, clock.milliseconds),
            styles=STYLES,
            index=trace_index(index),
            notes=notes(index, anchors, top, passages, wanted, n_candidates),
            ranked_chunks=tuple(ranking.tolist()),
            search=anchors.search,
        )
