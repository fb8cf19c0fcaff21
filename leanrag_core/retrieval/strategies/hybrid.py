"""Hybrid: chunks by words and chunks by vectors, in one ranking by reciprocal ranks (Cormack et al. 2009)."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.passages import (
    RANK_CONSTANT,
    PassageRanking,
    PassageReason,
    Search,
    chunks_without,
    passage_trace,
    ranked_by_vector,
    reciprocal_rank_fusion,
    search_ids,
)
from leanrag_core.retrieval.strategies.bm25 import word_scores
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import Ranked, positive_first
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Config(Options):
    """Options of Hybrid."""

    top_c: int = chunks_option(20)
    rank_constant: int = option(
        RANK_CONSTANT, low=1, high=1000, paper=RANK_CONSTANT, help=message("hybrid.option.rank_constant")
    )
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """BM25 and cosine each rank the chunks; the fused score is the sum of 1 / (k + rank)."""

    name = "hybrid"
    badge = "faithful"
    score = message("score.reciprocal_ranks")
    leaves_out = ("chunk",)
    parts = ("lexical",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: the two searches, and the passages that they led to."""
        config, run = self.config, Retrieval(self, query, index, tools)
        both = ranked_by_both(index, query, tools, config.rank_constant)
        run.lap("words")
        chosen_rows = both.fused.rows[: config.top_c]
        scores = dict(zip(chosen_rows.tolist(), both.fused.scores[: config.top_c].tolist(), strict=True))
        searches = [
            Search(text, reason, tuple(ranking[: config.top_c].tolist()))
            for text, reason, ranking in (
                (" ".join(dict.fromkeys(lexical_tokens(query.text))), message("hybrid.words"), both.by_words),
                (query.text, message("hybrid.vector"), both.by_vector),
            )
            if len(ranking)
        ]
        ids = search_ids(len(searches))
        words_caption = message("hybrid.step.words.found", n=len(both.by_words))
        if not len(both.by_words):
            run.note(message("hybrid.note.no_word"))
        run.note(message("bm25.note.tokeniser"))
        return passage_trace(
            run,
            PassageRanking(both.fused.rows, scores, "passage.near", both.reasons(chosen_rows.tolist())),
            caption=message("hybrid.chunks", n=len(chosen_rows), both=both.n_in_both(chosen_rows, config.top_c)),
            before=(
                run.step("words", words_caption, ids[:-1]),
                run.step("vectors", message("hybrid.step.vectors.found", n=len(both.by_vector)), ids[-1:]),
            ),
            searches=searches,
        )


@dataclass(frozen=True, eq=False)
class BothRankings:
    """by_words: (w,) rows of the chunks that share a word with the question. by_vector: (n_chunks,). fused: of both."""

    by_words: np.ndarray
    by_vector: np.ndarray
    fused: Ranked

    def reasons(self, rows: list[int]) -> dict[int, PassageReason]:
        """Return for each of those chunks its rank in either ranking."""
        of_words = {int(row): rank for rank, row in enumerate(self.by_words, start=1)}
        of_vector = {int(row): rank for rank, row in enumerate(self.by_vector, start=1)}
        return {row: PassageReason(_reason(of_words.get(row), of_vector[row])) for row in rows}

    def n_in_both(self, rows: np.ndarray, n: int) -> int:
        """Return how many of those chunks, (m,) int rows, are among the first n of either ranking."""
        return int(np.count_nonzero(np.isin(rows, self.by_words[:n]) & np.isin(rows, self.by_vector[:n])))


def ranked_by_both(index: Index, query: Query, tools: Tools, constant: int = RANK_CONSTANT) -> BothRankings:
    """Return the chunks by words, by vectors, and by both, without those that were taken out."""
    scores = word_scores(tools.part("lexical"), query.text, index.chunks.num_rows)
    by_words = chunks_without(index, positive_first(scores), tools.without)
    by_vector = chunks_without(index, ranked_by_vector(index, query.vector), tools.without)
    return BothRankings(by_words, by_vector, reciprocal_rank_fusion([by_words, by_vector], constant))


def _reason(of_words: int | None, of_vector: int) -> Message:
    if of_words is None:
        return message("hybrid.reason.vector", vector=of_vector)
    return message("hybrid.reason", words=of_words, vector=of_vector)
