"""G-Retriever (style): prizes for the nearest entities and relations, and the tree that joins them (He et al. 2024)."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.graph_traces import GraphStep, RankedGraph, by_row, graph_context, graph_trace
from leanrag_core.retrieval.graph_walks import prize_collecting_tree
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import nearest_entities, nearest_rows, positive_first
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Config(Options):
    """Options of G-Retriever."""

    top_k: int = option(3, low=1, high=5, paper=3, help=message("g_retriever.option.top_k"), in_row=True)
    edge_cost: float = option(0.5, low=0.05, high=3.0, paper=0.5, help=message("g_retriever.option.edge_cost"))
    top_c: int = chunks_option(5, low=0)
    max_tokens: int = option(512, low=0, high=64000, paper=512, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Prizes k, k - 1, ... for the nearest entities and relations; a prize-collecting Steiner tree; its text."""

    name = "g_retriever"
    badge = "style-of"
    parts = ("relation_vectors",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: prizes, tree, its chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        base = index.layers[0]
        entities = nearest_entities(index, query.vector, config.top_k, tools)
        relations = nearest_rows(tools.part("relation_vectors"), query.vector, config.top_k, tools=tools)
        prizes: dict[int, float] = {}
        for rank, row in enumerate(entities.rows.tolist()):
            prizes[row] = prizes.get(row, 0.0) + config.top_k - rank
        for rank, row in enumerate(relations.rows.tolist()):
            # A prized relation is worth its prize less its own cost, half of it at either end.
            worth = (config.top_k - rank - config.edge_cost) / 2
            for end in base.ends[row].tolist() if worth > 0 else ():
                prizes[end] = prizes.get(end, 0.0) + worth
        run.search = entities.kind
        run.lap("prizes")
        tree = prize_collecting_tree(base.adjacency, prizes, edge_cost=config.edge_cost)
        joined = set(tree.edges)
        inside = base.relations_inside(list(tree.nodes))
        pairs = np.sort(base.ends[inside], axis=1).tolist() if len(inside) else []
        rows = [int(row) for row, pair in zip(inside, pairs, strict=True) if tuple(pair) in joined]
        order = {int(row): float(prize) for row, prize in prizes.items()}
        nodes = sorted(tree.nodes, key=lambda node: (-order.get(node, 0.0), node))
        run.lap("tree")
        mentions = np.asarray(index.entity_chunks[nodes].sum(axis=0)).ravel()
        stated = np.asarray(index.relation_chunks[rows].sum(axis=0)).ravel() if rows else np.zeros(len(mentions))
        scores = mentions + stated
        chunks = positive_first(scores)
        chosen_chunks = chunks[: config.top_c]
        prize_of = {row: order[row] for row in nodes if row in order}
        chunk_scores = by_row(chosen_chunks, scores[chosen_chunks])
        ranked = RankedGraph(nodes, rows, chunks, prize_of, {}, chunk_scores, "g_retriever.reason")
        # The subgraph comes first, and the chunks have what it leaves.
        budgets = {"entities": config.max_tokens // 2, "relations": config.max_tokens - config.max_tokens // 2}
        filled = graph_context(run, ranked, budgets)
        prized = message(
            "g_retriever.prizes",
            entities=message("count.entities", n=len(entities.rows)),
            relations=message("count.relations", n=len(relations.rows)),
        )
        steps = [
            GraphStep("prizes", prized, sorted(prizes)),
            GraphStep("tree", message("g_retriever.tree", n=len(nodes), worth=tree.worth), nodes, rows),
        ]
        caption = message("g_retriever.chunks", n=len(chosen_chunks))
        return graph_trace(run, ranked, filled, steps=steps, chunk_caption=caption)
