"""Naive RAG: the chunks whose embeddings are nearest to the question."""

from dataclasses import dataclass

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.passages import (
    PassageRanking,
    chunks_without,
    document_title,
    passage_trace,
    ranked_by_vector,
)
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Config(Options):
    """Options of naive RAG."""

    top_c: int = chunks_option(20)
    least_cosine: float = option(0.2, low=0.0, high=1.0, help=message("vector.option.least_cosine"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Chunks by cosine, in rank order, until the budget is full; no graph."""

    name = "vector"
    badge = "faithful"
    score = COSINE
    leaves_out = ("chunk",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: passages alone."""
        config, run = self.config, Retrieval(self, query, index, tools)
        ranking = chunks_without(index, ranked_by_vector(index, query.vector), tools.without)
        rows = ranking[: config.top_c]
        near = similarity(index, CHUNKS, query.vector, rows.tolist())
        plain = index.across_scale.plain(near)
        if config.least_cosine and len(near) and plain[-1] < config.least_cosine:
            ranking = rows[plain >= config.least_cosine]
            n, least = len(rows) - len(ranking), config.least_cosine
            if index.across_scale.is_same:
                run.note(message("vector.note.far", n=n, least=least))
            else:  # the cosines that are shown are the model's own
                own_least = f"{index.across_scale.own_of(least):.2f}"
                run.note(message("vector.note.far.own_scale", n=n, least=least, own=own_least))
        scores = dict(zip(rows.tolist(), near.tolist(), strict=True))
        n_chosen = min(len(ranking), config.top_c)
        caption = message("vector.chunks", n=n_chosen)
        if n_chosen:
            best = int(ranking[0])
            title = document_title(index, best)
            caption = message("vector.chunks.nearest", n=n_chosen, title=title, score=scores[best])
        return passage_trace(run, PassageRanking(ranking, scores, "passage.near"), caption=caption)
