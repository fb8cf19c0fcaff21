"""The naive baseline: the chunks whose embeddings are nearest to the question."""

import time
from dataclasses import asdict, dataclass

from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval import evidence
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.context import Budgets, build_context
from leanrag_core.retrieval.vector_search import CHUNKS, similarity
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceStep


@dataclass(frozen=True)
class Config:
    """Options of the vector baseline."""

    top_c: int = option(5, low=1, high=50, help="Source chunks put into the context.")
    chunk_tokens: int = option(12000, low=0, high=64000, help="Token budget of the source chunks.")

    def __post_init__(self) -> None:
        validate(self)


class Strategy:
    """Chunks by cosine, in rank order; no graph."""

    name = "vector"
    title = "Naive RAG (vector)"
    help = "Chunks nearest to the question by embedding; the baseline without a graph."

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, searches: SearchStore | None = None) -> Trace:
        """The trace of one retrieval; it has no seeds and no ancestor."""
        if not query.text.strip():
            raise InvalidConfig("the question is empty: write one")
        started = time.perf_counter()
        ranking = evidence.ranked_by_vector(index, query.vector)
        rows = ranking[: self.config.top_c].tolist()
        scores = dict(zip(rows, similarity(index, CHUNKS, query.vector, rows).tolist(), strict=True))
        chunks = evidence.retrieved_chunks(index, rows, None, scores)
        context = build_context(index, (), (), chunks, Budgets(chunks=self.config.chunk_tokens), findings=False)
        best = f": {chunks[0].title} is closest, cosine {chunks[0].score:.2f}" if chunks else ""
        return Trace(
            question=query.text,
            strategy=self.name,
            parameters=asdict(self.config),
            seeds=(),
            lca=None,
            nodes=(),
            relations=(),
            chunks=chunks,
            context=context,
            steps=(
                TraceStep("chunks", f"{len(chunks)} chunks by cosine to the question{best}."),
                TraceStep("context", f"{context.tokens:,} tokens, chunks alone."),
            ),
            timings_ms={"total": (time.perf_counter() - started) * 1000},
            ranked_chunks=tuple(ranking.tolist()),
        )
