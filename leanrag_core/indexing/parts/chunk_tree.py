"""RAPTOR's tree: short leaves, softly clustered by their embeddings, a summary above each cluster, layer by layer."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leanrag_core.clustering.mixture import DIMENSIONS, soft_clusters
from leanrag_core.indexing.part_base import (
    Options,
    PartBase,
    PartModels,
    PartTools,
    fingerprint_of,
    part_forecast,
    text_forecast,
    with_language,
)
from leanrag_core.indexing.text_trees import GrowingTree, cut_leaves, read_tree, write_tree
from leanrag_core.messages.message import message
from leanrag_core.types.config import option
from leanrag_core.types.forecast import SECONDS_A_TEXT, Forecast, Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS
from leanrag_core.types.text_tree import TextTree

_VERSION, _VERSION_OF_LARGE = 2, 3
_LARGE = 4000  # leaves, see soft_clusters()
SEED = 224  # that of the release
_CLUSTER_TOKENS = 3500  # of a cluster, above which it is divided again; that of the release
_LEAVES_A_CHUNK = Range(1.0, 8.0, 20.0)


@dataclass(frozen=True)
class Config(Options):
    """Options of the chunk tree."""

    leaf_tokens: int = option(100, low=20, high=2000, paper=100, help=message("part.chunk_tree.option.leaf_tokens"))
    summary_tokens: int = option(
        100, low=20, high=2000, paper=100, help=message("part.chunk_tree.option.summary_tokens")
    )
    layers: int = option(5, low=1, high=9, paper=5, help=message("part.chunk_tree.option.layers"))


class Part(PartBase):
    """Leaves of 100 tokens and up to five layers of summaries, with vectors."""

    name = "chunk_tree"
    needs: tuple[str, ...] = (CHUNKS,)

    def fingerprint(self, index: Index, config: Config, models: PartModels) -> str:
        """Return a hash of the chunks, the options, and the model and prompts that write the summaries."""
        n_tokens = int(np.asarray(index.chunks["tokens"]).sum())
        version = _VERSION_OF_LARGE if n_tokens > _LARGE * config.leaf_tokens else _VERSION
        return with_language(fingerprint_of(self, version, index, config, models), index, models)

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Estimate calls and seconds by the number of chunks, whose leaves are embedded."""
        leaves = _LEAVES_A_CHUNK.scaled(index.chunks.num_rows)
        written = text_forecast(round(leaves.expected), 2000, models)
        return part_forecast(written.seconds + leaves.scaled(SECONDS_A_TEXT), written.stages)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the tree; replies of an earlier attempt come from the store of calls."""
        tools.report(Progress("make", 0, 0, "leaves"))
        leaves = cut_leaves(index, config.leaf_tokens)
        vectors = tools.embed_all([leaf.text for leaf in leaves], int(index.chunk_vectors.shape[1]))
        tree = GrowingTree(leaves, vectors, tools)
        for _ in range(config.layers):
            n = len(tree.rows)
            if n <= DIMENSIONS + 1:
                break
            tools.report(Progress("make", 0, n, "nodes"))
            groups = soft_clusters(
                np.asarray(tree.last_vectors), tree.last_tokens, max_tokens=_CLUSTER_TOKENS, seed=SEED
            )
            if len(groups) >= n:  # a layer that is no smaller would repeat the one below
                break
            tree.grow(groups, max_tokens=config.summary_tokens)
        write_tree(folder, tree.finished())

    def read(self, folder: Path, index: Index) -> TextTree:
        """Return the tree."""
        return read_tree(folder, index)
