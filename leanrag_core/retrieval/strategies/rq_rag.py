"""RQ-RAG (style): the question is rewritten, decomposed or disambiguated before it is searched (Chan et al. 2024)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.model_replies import json_or_note
from leanrag_core.retrieval.passages import PassageRanking, Search, passage_trace, ranked_by_vector, search_ids
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.types.calls import JSON_TEXTS, json_object
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceStep

_WAYS = ("rewrite", "decompose", "disambiguate", "none")
_MOST_QUERIES = 3  # of a round
_REPLY = json_object(way={"type": "string", "enum": list(_WAYS)}, queries=JSON_TEXTS)


@dataclass(frozen=True)
class Config(Options):
    """Options of RQ-RAG."""

    rounds: int = option(2, low=1, high=4, paper=2, help=message("rq_rag.option.rounds"), in_row=True)
    chunks_per_query: int = option(3, low=1, high=10, paper=3, equal=10, help=message("rq_rag.option.chunks_per_query"))
    top_c: int = chunks_option(20)
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True)
class _Refined:
    """Queries that a round is to search for, and how they came about."""

    way: str
    queries: tuple[str, ...]


class Strategy(StrategyBase[Config]):
    """Rounds of refined queries, each with its nearest chunks; the union of these is the context."""

    name = "rq_rag"
    badge = "style-of"
    score = COSINE
    calls_model = True

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace: the question's own chunks first, then those of each query in turn."""
        config, run = self.config, Retrieval(self, query, index, tools)
        searches = [_search(index, query.text, query.vector, config.chunks_per_query, message("rq_rag.reason.asked"))]
        steps: list[TraceStep] = []
        for number in range(1, config.rounds + 1):
            refined = _refine(run, searches)
            known = {search.text.casefold() for search in searches}
            fresh = [text for text in refined.queries if text.casefold() not in known]
            if fresh:
                reason = message(f"rq_rag.reason.{refined.way}")
                vectors = tools.embed(fresh)
                searches += [
                    _search(index, text, vector, config.chunks_per_query, reason)
                    for text, vector in zip(fresh, vectors, strict=True)
                ]
            name = f"round-{number}"
            run.lap(name)
            caption = message("rq_rag.round" if fresh else "rq_rag.round.none", n=len(fresh))
            title = message("rq_rag.step.round", number=number)
            steps.append(run.announce(run.step(name, caption, search_ids(len(searches)), title=title)))
            if not fresh:
                break
        # The union in the queries' order: the best chunk of each, then the second of each, and so on.
        depths = range(config.chunks_per_query)
        ordered = [row for depth in depths for search in searches for row in search.rows[depth : depth + 1]]
        union = np.array(list(dict.fromkeys(ordered)), dtype=np.int64)
        return passage_trace(
            run,
            PassageRanking.by_cosine(index, union, query.vector, config.top_c),
            caption=message("rq_rag.chunks", n=len(union[: config.top_c]), searches=len(searches)),
            before=steps,
            searches=searches,
        )


def _refine(run: Retrieval, searches: list[Search]) -> _Refined:
    """Return what to search for next: by the model, or by the phrases of the question in the first round."""
    first = len(searches) == 1
    rows = dict.fromkeys(row for search in searches for row in search.rows)
    reply = json_or_note(
        run.tools,
        "refine_query",
        _read,
        schema=_REPLY,
        step=message("rq_rag.step.refining"),
        instead=message("rq_rag.built_in"),
        keys=("queries",),
        question=run.query.text,
        passages="" if first else "\n\n".join(run.index.chunk(row).text.strip() for row in rows),
    )
    run.note(reply.note)
    if reply.value is not None:
        return reply.value
    return _by_phrases(run.query.text) if first and not reply.budget_spent else _Refined("none", ())


def _search(index: Index, text: str, vector: np.ndarray, k: int, reason: Message) -> Search:
    """Return the search for that text with its k nearest chunks. vector: (d,) of the text."""
    return Search(text, reason, tuple(ranked_by_vector(index, vector)[:k].tolist()))


def _by_phrases(question: str) -> _Refined:
    """Return the question's names and phrases as queries of their own, where it has several."""
    phrases = [phrase for phrase in question_terms(question).every if len(phrase) > 2]
    return _Refined("decompose", tuple(phrases[:_MOST_QUERIES])) if len(phrases) > 1 else _Refined("none", ())


def _read(cells: dict[str, Any]) -> _Refined:
    way, queries = cells.get("way"), cells.get("queries")
    if way not in _WAYS or not isinstance(queries, list):
        raise ReplyError("rq_rag.reply", ways=", ".join(_WAYS))
    texts = [" ".join(query.split()) for query in queries if isinstance(query, str) and query.strip()]
    texts = list({text.casefold(): text for text in texts}.values())
    return _Refined(str(way), tuple(texts[:_MOST_QUERIES]) if way != "none" else ())
