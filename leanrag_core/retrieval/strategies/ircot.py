"""IRCoT (style): retrieval and a sentence of reasoning in turn (Trivedi et al. 2023)."""

import re
from dataclasses import asdict, dataclass

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import OFFICIAL, Query
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.model_replies import ask_text
from leanrag_core.retrieval.passages import PassageRanking, Search, passage_trace, ranked_by_vector, search_step
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import cosines, similarity
from leanrag_core.sentences import split_sentences
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceStep

_ANSWERED = re.compile(r"\bthe answer is\b", re.IGNORECASE)
_SHORTEST = 30  # characters of a sentence that may stand in for the reasoning


@dataclass(frozen=True)
class Config:
    """Options of IRCoT."""

    rounds: int = option(4, low=1, high=8, paper=4, help=message("ircot.option.rounds"), in_row=True)
    chunks_per_round: int = option(6, low=1, high=20, paper=6, help=message("ircot.option.chunks_per_round"))
    top_c: int = option(
        15, low=1, high=50, paper=15, help=message("ircot.option.top_c"), in_row=True, link="c", scale=20
    )
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class _Thought:
    """The next sentence of the reasoning. text: "" when there is none. note: what the reader should know."""

    text: str
    note: Message | None = None


class Strategy:
    """Each sentence of the reasoning is the next query; the union of all passages is the context."""

    name = "ircot"
    title = message("strategy.ircot.title")
    help = message("strategy.ircot.help")
    badge = "style-of"
    differs = message("strategy.ircot.differs")
    calls_model = True
    parts = ()
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace: passages in the order in which the rounds came upon them."""
        config, laps = self.config, Laps(tools.meter)
        searches: list[Search] = []
        steps: list[TraceStep] = []
        notes: list[Message] = []
        union: dict[int, None] = {}
        near: dict[str, float] = {}
        text, vector, reason = query.text, query.vector, message("ircot.reason.asked")
        for number in range(1, config.rounds + 1):
            rows = tuple(ranked_by_vector(index, vector)[: config.chunks_per_round].tolist())
            searches.append(Search(text, reason, rows))
            union |= dict.fromkeys(rows)
            ended = number == config.rounds or len(union) >= config.top_c
            thought = _Thought("") if ended else self._thought(query, index, searches, list(union), tools, near)
            notes += [thought.note] if thought.note is not None and thought.note not in notes else []
            name = f"round-{number}"
            laps.lap(name)
            caption = message("ircot.round", n=len(rows), query=text)
            steps.append(search_step(name, message("ircot.step.round", number=number), caption, number, laps))
            tools.on_step(steps[-1])
            if not thought.text or _ANSWERED.search(thought.text):
                break
            text, vector, reason = thought.text, tools.embed([thought.text])[0], message("ircot.reason.thought")
        ranking = np.array(list(union), dtype=np.int64)
        taken = ranking[: config.top_c].tolist()
        scores = dict(zip(taken, similarity(index, CHUNKS, query.vector, taken).tolist(), strict=True))
        return passage_trace(
            self,
            query,
            index,
            PassageRanking(ranking, scores),
            parameters=asdict(config),
            top_c=config.top_c,
            max_tokens=config.max_tokens,
            laps=laps,
            caption=message("ircot.chunks", n=len(taken), searches=len(searches)),
            before=steps,
            searches=searches,
            notes=notes,
        )

    def _thought(
        self, query: Query, index: Index, searches: list[Search], rows: list[int], tools: Tools, near: dict[str, float]
    ) -> _Thought:
        """The next sentence: the model's, or the sentence of the last passages that is nearest to the question."""
        said = [search.text for search in searches[1:]]
        if tools.language is None:
            built_in = message("strategy.note.built_in", instead=message("ircot.built_in"))
            return _Thought(_nearest_sentence(query, index, searches, tools, near), built_in)
        try:
            text = ask_text(
                tools.language,
                tools,
                "reason_step",
                question=query.text,
                passages="\n\n".join(index.chunk(row).text.strip() for row in rows),
                reasoning="\n".join(said) or "(none)",
            )
        except BudgetSpent:
            return _Thought("", message("strategy.note.budget_spent", step=message("ircot.step.reasoning")))
        except ReplyError as error:
            unusable = message(
                "strategy.note.reply_unusable",
                step=message("ircot.step.reasoning"),
                reason=error.message,
                instead=message("ircot.built_in"),
            )
            return _Thought(_nearest_sentence(query, index, searches, tools, near), unusable)
        first = split_sentences(text)
        return _Thought(first[0] if first else "")


def _nearest_sentence(query: Query, index: Index, searches: list[Search], tools: Tools, near: dict[str, float]) -> str:
    """Of the passages of the last round the sentence nearest to the question that no search has used; "" for none.

    near: cosines of the sentences of earlier rounds, which share passages with this one; new ones are added.
    """
    used = {search.text for search in searches}
    sentences = [each for row in searches[-1].rows for each in split_sentences(index.chunk(row).text)]
    fresh = [each for each in dict.fromkeys(sentences) if len(each) >= _SHORTEST and each not in used]
    if not fresh:
        return ""
    unknown = [each for each in fresh if each not in near]
    if unknown:
        near.update(zip(unknown, cosines(tools.embed(unknown), query.vector).tolist(), strict=True))
    return max(fresh, key=near.__getitem__)
