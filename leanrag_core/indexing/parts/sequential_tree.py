"""E2GraphRAG's tree: five consecutive chunks of a document become a summary, five summaries one above, up to a root."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leanrag_core.indexing.part_base import Options, PartBase, PartModels, PartTools, text_forecast
from leanrag_core.indexing.text_trees import GrowingTree, Leaf, read_tree, write_tree
from leanrag_core.messages.message import message
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS
from leanrag_core.types.rows import numbers, starts_of_runs
from leanrag_core.types.text_tree import TextTree


@dataclass(frozen=True)
class Config(Options):
    """Options of the sequential tree."""

    merged: int = option(5, low=2, high=50, paper=5, help=message("part.sequential_tree.option.merged"))
    summary_tokens: int = option(300, low=20, high=4000, help=message("part.chunk_tree.option.summary_tokens"))


class Part(PartBase):
    """A tree for each document; its leaves are the chunks."""

    name = "sequential_tree"
    needs: tuple[str, ...] = (CHUNKS,)
    writes_texts = True

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Estimate calls and seconds by the number of chunks."""
        return text_forecast(index.chunks.num_rows, 6000, models)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the tree; replies of an earlier attempt come from the store of calls."""
        n_chunks = index.chunks.num_rows
        tools.report(Progress("make", 0, n_chunks, "chunks"))
        chunks = [index.chunk(row) for row in range(n_chunks)]
        leaves = [Leaf(chunk.position, chunk.start, chunk.end, chunk.text, chunk.tokens) for chunk in chunks]
        tree = GrowingTree(leaves, np.asarray(index.chunk_vectors), tools)
        documents = numbers(index.chunks["document"])
        while len(groups := consecutive(documents, config.merged)):
            documents = np.array([documents[group[0]] for group in groups])
            tree.grow(groups, max_tokens=config.summary_tokens)
        write_tree(folder, tree.finished())

    def read(self, folder: Path, index: Index) -> TextTree:
        """Return the tree."""
        return read_tree(folder, index)


def consecutive(documents: np.ndarray, size: int) -> list[np.ndarray]:
    """Return the places of each group of so many neighbours in one document; none for a document with a single place
    left.

    documents: (n,) of each place, those of one document next to each other.
    """
    starts = starts_of_runs(documents)
    ends = np.append(starts[1:], len(documents))[: len(starts)]
    return [
        np.arange(first, min(first + size, end))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        if end - start > 1
        for first in range(start, end, size)
    ]
