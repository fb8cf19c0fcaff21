"""Naive RAG: the chunks whose embeddings are nearest to the question."""

from dataclasses import asdict, dataclass

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import OFFICIAL, Query
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.passages import PassageRanking, chunks_without, passage_trace, ranked_by_vector
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Config:
    """Options of naive RAG."""

    top_c: int = option(20, low=1, high=50, help=message("vector.option.top_c"), in_row=True, link="c", scale=20)
    least_cosine: float = option(0.2, low=0.0, high=1.0, help=message("vector.option.least_cosine"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))

    def __post_init__(self) -> None:
        validate(self)


class Strategy:
    """Chunks by cosine, in rank order, until the budget is full; no graph."""

    name = "vector"
    title = message("strategy.vector.title")
    help = message("strategy.vector.help")
    badge = "faithful"
    differs = message("strategy.vector.differs")
    calls_model = False
    parts = ()
    leaves_out = ("chunk",)
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace of one retrieval: passages alone."""
        config, laps = self.config, Laps()
        ranking = chunks_without(index, ranked_by_vector(index, query.vector), tools.without)
        rows = ranking[: config.top_c]
        near = similarity(index, CHUNKS, query.vector, rows.tolist())
        if config.least_cosine and len(near) and near[-1] < config.least_cosine:
            ranking = rows[near >= config.least_cosine]
        scores = dict(zip(rows.tolist(), near.tolist(), strict=True))
        taken = min(len(ranking), config.top_c)
        caption = message("vector.chunks", n=taken)
        if taken:
            best = int(ranking[0])
            title = index.document_cells["title"][index.chunk_cells["document"][best].as_py()].as_py()
            caption = message("vector.chunks.nearest", n=taken, title=title, score=scores[best])
        return passage_trace(
            self,
            query,
            index,
            PassageRanking(ranking, scores),
            parameters=asdict(config),
            top_c=config.top_c,
            max_tokens=config.max_tokens,
            laps=laps,
            caption=caption,
        )
