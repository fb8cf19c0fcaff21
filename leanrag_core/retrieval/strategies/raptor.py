"""RAPTOR: leaves and summaries of all layers of a tree, nearest to the question (Sarthi et al. 2024)."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Preset, Query, StrategyBase, published
from leanrag_core.retrieval.budgets import section
from leanrag_core.retrieval.context import CHUNKS, context_caption, joined_sections
from leanrag_core.retrieval.passages import PASSAGE
from leanrag_core.retrieval.text_trees import (
    SUMMARIES,
    SUMMARY,
    SUMS_UP,
    affordable_nodes,
    chunk_order,
    leaf_line,
    leaf_passages,
    node_id,
    summary_items,
    summary_line,
    summed_up,
    tree_notes,
)
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_first, cosines
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.text_tree import TextTree
from leanrag_core.types.trace import Context, Trace, TraceItem

COLLAPSED, TRAVERSAL = "collapsed", "traversal"
_STYLES = (SUMMARY, PASSAGE, SUMS_UP)


@dataclass(frozen=True)
class Config(Options):
    """Options of RAPTOR."""

    mode: str = option(COLLAPSED, choices=(COLLAPSED, TRAVERSAL), help=message("raptor.option.mode"))
    top_c: int = option(10, low=1, high=200, help=message("raptor.option.top_c"), in_row=True, link="c", scale=20)
    top_layer: int = option(5, low=1, high=50, help=message("raptor.option.top_layer"))
    max_tokens: int = option(3500, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """The collapsed tree, or traversal from the top."""

    name = "raptor"
    badge = "own-part"
    score = COSINE
    parts = ("chunk_tree",)
    presets = (
        published("official"),
        # Section 3 of the paper: the collapsed tree up to 2,000 tokens, about the nearest 20 nodes.
        published("paper", top_c=20, max_tokens=2000),
        Preset(TRAVERSAL, message("raptor.preset.traversal"), {"mode": TRAVERSAL}),
    )

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; no language model is called."""
        config, run = self.config, Retrieval(self, query, index, tools)
        tree: TextTree = tools.part("chunk_tree")
        near = cosines(tree.vectors, query.vector)
        ranking = best_first(near)
        chosen_rows = self._collapsed(tree, ranking) if config.mode == COLLAPSED else self._traversed(tree, near)
        run.lap("nodes")
        scores = {row: float(near[row]) for row in chosen_rows}
        ranks = {row: rank for rank, row in enumerate(chosen_rows, start=1)}
        summaries = summary_items(tree, [row for row in chosen_rows if tree.layer[row]], scores, ranks, "raptor.near")
        reasons = {row: message("raptor.near", score=scores[row]) for row in chosen_rows}
        leaves = leaf_passages(index, tree, [row for row in chosen_rows if not tree.layer[row]], scores, ranks, reasons)
        links = summed_up(tree, chosen_rows)
        run.lap("nodes")
        context = self._context(summaries, leaves)
        run.lap("context")
        n_layers = int(tree.layer.max(initial=0))
        caption = message(
            f"raptor.{config.mode}",
            n=len(chosen_rows),
            of=len(tree),
            summaries=message("count.summaries", n=len(summaries)),
            layers=n_layers,
        )
        nodes = [node_id(tree, row) for row in chosen_rows]
        # Passages that a traversal has not come to are no candidates; those of the collapsed tree all are.
        candidates = ranking if config.mode == COLLAPSED else chosen_rows
        run.notes += tree_notes(tree)
        return run.trace(
            context,
            steps=(run.step("nodes", caption, nodes, links), run.step("context", context_caption(context), nodes)),
            styles=_STYLES,
            items=(*summaries, *leaves),
            relations=links,
            ranked_chunks=chunk_order(tree, candidates),
        )

    def _collapsed(self, tree: TextTree, ranking: np.ndarray) -> list[int]:
        """Return the nearest nodes of all layers, until the next one would go beyond the budget; one at least.
        ranking: (n_nodes,) rows, best first."""
        return affordable_nodes(tree, ranking[: self.config.top_c], self.config.max_tokens)

    def _traversed(self, tree: TextTree, near: np.ndarray) -> list[int]:
        """Return the nodes of a traversal from the roots down: the nearest of a layer, then the nearest of their
        children. near: (n_nodes,) cosines."""
        rows, chosen_rows = tree.roots, list[int]()
        while len(rows):
            best = rows[np.argsort(-near[rows], kind="stable")[: self.config.top_layer]]
            chosen_rows += best.tolist()
            rows = np.unique(np.concatenate([tree.children[int(row)] for row in best]))
        return list(dict.fromkeys(chosen_rows))

    def _context(self, summaries: tuple[TraceItem, ...], leaves: tuple[TraceItem, ...]) -> Context:
        above = section(SUMMARIES, [summary_line(each) for each in summaries], self.config.max_tokens)
        room = self.config.max_tokens - above.tokens
        return joined_sections(above, section(CHUNKS, [leaf_line(each) for each in leaves], room))
