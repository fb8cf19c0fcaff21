"""BM25: chunks by the words that they share with the question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Query, StrategyBase
from leanrag_core.retrieval.passages import PassageRanking, chunks_without, passage_trace
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import positive_first
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Config(Options):
    """Options of BM25 at a question; k1 and b belong to its index part."""

    top_c: int = option(20, low=1, high=50, help=message("bm25.option.top_c"), in_row=True, link="c", scale=20)
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Okapi BM25 (Robertson and Walker 1994), in the variant of Lucene, whose weights are never negative."""

    name = "bm25"
    badge = "faithful"
    leaves_out = ("chunk",)
    parts = ("lexical",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; chunks without any word of the question are no candidates."""
        config, run = self.config, Retrieval(self, query, index, tools)
        scores = word_scores(tools.part("lexical"), query.text, index.chunks.num_rows)
        ranking = chunks_without(index, positive_first(scores), tools.without)
        by_row: Mapping[int, float] = {int(row): float(scores[row]) for row in ranking[: config.top_c]}
        run.note(message("bm25.note.tokeniser"))
        return passage_trace(
            run,
            PassageRanking(ranking, by_row, "bm25.reason"),
            caption=message("bm25.chunks", n=len(by_row), candidates=message("count.chunks", n=len(ranking))),
        )


def word_scores(lexical: Any, text: str, n_chunks: int) -> np.ndarray:
    """Return (n_chunks,) float32, what the text's words weigh in each chunk; a word that the text repeats counts
    again."""
    tokens = lexical_tokens(text)
    return np.asarray(lexical.get_scores(tokens)) if tokens else np.zeros(n_chunks, dtype=np.float32)


ranked_by_words = positive_first  # rows of the chunks with a word, (k,): the name under which extensions import it
