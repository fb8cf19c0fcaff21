"""The naive baseline: the chunks whose embeddings are nearest to the question."""

import time
from dataclasses import asdict, dataclass

from leanrag_core.messages.message import message
from leanrag_core.retrieval import evidence
from leanrag_core.retrieval.base import OFFICIAL, Query, trace_index
from leanrag_core.retrieval.context import Budgets, build_context
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace, TraceStep


@dataclass(frozen=True)
class Config:
    """Options of the vector baseline."""

    top_c: int = option(5, low=1, high=50, help=message("vector.option.top_c"), in_row=True, link="c", scale=20)
    chunk_tokens: int = option(12000, low=0, high=64000, help=message("vector.option.chunk_tokens"))

    def __post_init__(self) -> None:
        validate(self)


class Strategy:
    """Chunks by cosine, in rank order; no graph."""

    name = "vector"
    title = message("strategy.vector.title")
    help = message("strategy.vector.help")
    badge = "faithful"
    differs = message("strategy.vector.differs")
    calls_model = False
    parts = ()
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace of one retrieval: passages alone."""
        started = time.perf_counter()
        ranking = evidence.ranked_by_vector(index, query.vector)
        rows = ranking[: self.config.top_c].tolist()
        scores = dict(zip(rows, similarity(index, CHUNKS, query.vector, rows).tolist(), strict=True))
        passages = evidence.passages(index, rows, scores=scores)
        searched = time.perf_counter()
        context = build_context(index, (), (), passages, Budgets(chunks=self.config.chunk_tokens), findings=False)
        filled = time.perf_counter()
        caption = message("vector.chunks", n=len(passages))
        if passages:
            best = passages[0]
            caption = message("vector.chunks.nearest", n=len(passages), title=best.name, score=best.score)
        ids = tuple(passage.id for passage in passages)
        return Trace(
            question=query.text,
            strategy=self.name,
            title=self.title,
            parameters=asdict(self.config),
            items=passages,
            relations=(),
            context=context,
            steps=(
                TraceStep(
                    "chunks", message("vector.step.chunks"), caption, ids, milliseconds=1000 * (searched - started)
                ),
                TraceStep(
                    "context",
                    message("vector.step.context"),
                    message("vector.context", tokens=context.tokens),
                    ids,
                    milliseconds=1000 * (filled - searched),
                ),
            ),
            styles=(Style("passage", message("style.passage"), "chunk", "chip"),),
            index=trace_index(index),
            ranked_chunks=tuple(ranking.tolist()),
        )
