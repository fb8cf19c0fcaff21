"""RQ-RAG (style): the question is rewritten, decomposed or disambiguated before it is searched (Chan et al. 2024)."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import OFFICIAL, Query
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.model_replies import ask_json
from leanrag_core.retrieval.passages import PassageRanking, Search, passage_trace, ranked_by_vector, search_step
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.json_schema import JsonSchema
from leanrag_core.types.trace import Trace, TraceStep

_WAYS = ("rewrite", "decompose", "disambiguate", "none")
_MOST_QUERIES = 3  # of a round
_REPLY: JsonSchema = {
    "type": "object",
    "properties": {
        "way": {"type": "string", "enum": list(_WAYS)},
        "queries": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["way", "queries"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Config:
    """Options of RQ-RAG."""

    rounds: int = option(2, low=1, high=4, paper=2, help=message("rq_rag.option.rounds"), in_row=True)
    chunks_per_query: int = option(3, low=1, high=10, paper=3, equal=10, help=message("rq_rag.option.chunks_per_query"))
    top_c: int = option(20, low=1, high=50, help=message("vector.option.top_c"), in_row=True, link="c", scale=20)
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class _Refined:
    """Queries that a round is to search for, and how they came about."""

    way: str
    queries: tuple[str, ...]


class Strategy:
    """Rounds of refined queries, each with its nearest chunks; the union of these is the context."""

    name = "rq_rag"
    title = message("strategy.rq_rag.title")
    help = message("strategy.rq_rag.help")
    badge = "style-of"
    differs = message("strategy.rq_rag.differs")
    calls_model = True
    parts = ()
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace: the question's own chunks first, then those of each query in turn."""
        config, laps = self.config, Laps(tools.meter)
        searches = [_search(index, query.text, query.vector, config.chunks_per_query, message("rq_rag.reason.asked"))]
        steps: list[TraceStep] = []
        notes: list[Message] = []
        for number in range(1, config.rounds + 1):
            refined, note = self._refined(query, index, searches, tools)
            notes += [note] if note is not None and note not in notes else []
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
            laps.lap(name)
            caption = message("rq_rag.round" if fresh else "rq_rag.round.none", n=len(fresh))
            steps.append(search_step(name, message("rq_rag.step.round", number=number), caption, len(searches), laps))
            tools.on_step(steps[-1])
            if not fresh:
                break
        # The union in the queries' order: the best chunk of each, then the second of each, and so on.
        depths = range(config.chunks_per_query)
        ordered = [row for depth in depths for search in searches for row in search.rows[depth : depth + 1]]
        union = np.array(list(dict.fromkeys(ordered)), dtype=np.int64)
        taken = union[: config.top_c].tolist()
        scores = dict(zip(taken, similarity(index, CHUNKS, query.vector, taken).tolist(), strict=True))
        return passage_trace(
            self,
            query,
            index,
            PassageRanking(union, scores),
            parameters=asdict(config),
            top_c=config.top_c,
            max_tokens=config.max_tokens,
            laps=laps,
            caption=message("rq_rag.chunks", n=len(taken), searches=len(searches)),
            before=steps,
            searches=searches,
            notes=notes,
        )

    def _refined(
        self, query: Query, index: Index, searches: list[Search], tools: Tools
    ) -> tuple[_Refined, Message | None]:
        """What to search for next: by the model, or by the phrases of the question in the first round."""
        first = len(searches) == 1
        if tools.language is None:
            built_in = message("strategy.note.built_in", instead=message("rq_rag.built_in"))
            return (_by_phrases(query.text) if first else _Refined("none", ())), built_in
        rows = dict.fromkeys(row for search in searches for row in search.rows)
        passages = "\n\n".join(index.chunk(row).text.strip() for row in rows)
        try:
            refined = ask_json(
                tools.language,
                tools,
                "refine_query",
                _read,
                keys=("queries",),
                schema=_REPLY,
                question=query.text,
                passages="" if first else passages,
            )
        except BudgetSpent:
            return _Refined("none", ()), message("strategy.note.budget_spent", step=message("rq_rag.step.refining"))
        except ReplyError as error:
            note = message(
                "strategy.note.reply_unusable",
                step=message("rq_rag.step.refining"),
                reason=error.message,
                instead=message("rq_rag.built_in"),
            )
            return (_by_phrases(query.text) if first else _Refined("none", ())), note
        return refined, None


def _search(index: Index, text: str, vector: np.ndarray, k: int, reason: Message) -> Search:
    return Search(text, reason, tuple(ranked_by_vector(index, vector)[:k].tolist()))


def _by_phrases(question: str) -> _Refined:
    """The question's names and phrases as queries of their own, where it has several."""
    terms = question_terms(question)
    phrases = [phrase for phrase in dict.fromkeys((*terms.names, *terms.phrases)) if len(phrase) > 2]
    return _Refined("decompose", tuple(phrases[:_MOST_QUERIES])) if len(phrases) > 1 else _Refined("none", ())


def _read(cells: dict[str, Any]) -> _Refined:
    way, queries = cells.get("way"), cells.get("queries")
    if way not in _WAYS or not isinstance(queries, list):
        raise ReplyError("rq_rag.reply", ways=", ".join(_WAYS))
    texts = [" ".join(query.split()) for query in queries if isinstance(query, str) and query.strip()]
    texts = list({text.casefold(): text for text in texts}.values())
    return _Refined(str(way), tuple(texts[:_MOST_QUERIES]) if way != "none" else ())
