"""LeanRAG: anchor at the finest entities, climb to their lowest common ancestor, take what lies on the way."""

from dataclasses import dataclass, replace

from leanrag_core.messages.message import message
from leanrag_core.retrieval.anchoring import MAX_SEEDS, adapted
from leanrag_core.retrieval.base import COSINE, Preset, Query, StrategyBase
from leanrag_core.retrieval.leanrag_paths import ChosenChunks, PathOptions, anchors_of, find_paths, paths_trace
from leanrag_core.retrieval.passages import (
    TIES,
    append_missing,
    chunks_by_seeds,
    chunks_without,
    ranked_by_vector,
    reciprocal_rank_fusion,
)
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.types.config import CHUNKS, option, preset
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Parameter, Trace

# What the authors' released code does with a question; what it does when it builds is in IndexConfig.
RELEASED: dict[str, Parameter] = {
    name: value for name, value in preset("released").ask.items() if name not in ("top_n", "top_c")
}


@dataclass(frozen=True)
class Config(PathOptions):
    """Options of a LeanRAG retrieval; the defaults are the paper's method."""

    adaptive_n: bool = option(False, paper=False, help=message("leanrag.option.adaptive_n", limit=MAX_SEEDS))
    ties: str = option("cosine", choices=TIES, help=message("leanrag.option.ties"), step=CHUNKS)
    fill: str = option(
        "none", choices=("none", "vectors"), equal="vectors", help=message("leanrag.option.fill"), step=CHUNKS
    )
    fuse_vectors: bool = option(False, help=message("leanrag.option.fuse_vectors"), step=CHUNKS)


class Strategy(StrategyBase[Config]):
    """Section 3.3 of the paper (eq. 6-10, B.3.1)."""

    name = "leanrag"
    badge = "native"
    score = COSINE
    leaves_out = ("seed", "relation", "chunk")
    former_options = ("entity_sources",)
    presets = (
        Preset("paper", message("preset.paper")),
        Preset("released", message("preset.released"), RELEASED),
        Preset("adaptive-n", message("preset.leanrag.adaptive_n"), {"adaptive_n": True}),
        Preset("compact", message("preset.leanrag.compact"), {"context": "compact"}),
        Preset("without-relations", message("preset.leanrag.without_relations"), {"inter_cluster": False}),
        Preset("without-chunks", message("preset.leanrag.without_chunks"), {"source_chunks": False}),
        Preset("findings", message("preset.leanrag.findings"), {"findings": True}),
        Preset("flat-search", message("preset.leanrag.flat_search"), {"seed_layers": "all"}),
        Preset("nearest-pairs", message("preset.leanrag.nearest_pairs"), {"lca": "pairwise", "pairs": "nearest"}),
    )

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; no language model is called."""
        config, run = self.config, Retrieval(self, query, index, tools)
        anchors = anchors_of(query, index, config, tools, MAX_SEEDS if config.adaptive_n else config.top_n)
        adapted_n = None
        if config.adaptive_n:
            chunks_of = [index.layers[seed.layer].chunks_of(seed.row) for seed in anchors.seeds]
            # Where vectors fill the rest, C is only a bound; seeds for all of it would leave no room for passages.
            wanted_c = min(config.top_c, Config.top_c) if config.fill == "vectors" else config.top_c
            adapted_n = adapted(chunks_of, config.top_n, wanted_c)
            anchors = replace(anchors, seeds=anchors.seeds[: adapted_n.n])
        run.lap("seeds")
        paths = replace(find_paths(run, anchors.seeds), adapted_n=adapted_n)
        vector = query.vector if config.ties == "cosine" else None
        seeded = chunks_by_seeds(index, anchors.seeds, vector)
        ranking = seeded.rows
        if config.fuse_vectors:
            ranking = reciprocal_rank_fusion([ranking, ranked_by_vector(index, query.vector)]).rows
        elif config.fill == "vectors":
            ranking = append_missing(ranking, ranked_by_vector(index, query.vector))
        ranking = chunks_without(index, ranking, tools.without)
        passages = seeded.items(index, ranking[: config.wanted_chunks])
        run.lap("chunks")
        caption = message("leanrag.chunks", n=len(passages), candidates=len(seeded.rows))
        return paths_trace(run, anchors, paths, ChosenChunks(passages, ranking, len(seeded.rows), caption))
