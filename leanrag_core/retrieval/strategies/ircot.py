"""IRCoT (style): retrieval and a sentence of reasoning in turn (Trivedi et al. 2023)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.model_replies import ask_text, reply_or_note
from leanrag_core.retrieval.passages import PassageRanking, Search, passage_trace, ranked_by_vector, search_ids
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import cosines
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceStep


@dataclass(frozen=True)
class Config(Options):
    """Options of IRCoT."""

    rounds: int = option(4, low=1, high=8, paper=4, help=message("ircot.option.rounds"), in_row=True)
    chunks_per_round: int = option(6, low=1, high=20, paper=6, help=message("ircot.option.chunks_per_round"))
    top_c: int = chunks_option(15, paper=15, help=message("ircot.option.top_c"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Each sentence of the reasoning is the next query; the union of all passages is the context."""

    name = "ircot"
    badge = "style-of"
    score = COSINE
    calls_model = True

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace: passages in the order in which the rounds came upon them."""
        config, run = self.config, Retrieval(self, query, index, tools)
        searches: list[Search] = []
        steps: list[TraceStep] = []
        union: dict[int, None] = {}
        near: dict[str, float] = {}
        text, vector, reason = query.text, query.vector, message("ircot.reason.asked")
        for number in range(1, config.rounds + 1):
            rows = tuple(ranked_by_vector(index, vector)[: config.chunks_per_round].tolist())
            searches.append(Search(text, reason, rows))
            union |= dict.fromkeys(rows)
            ended = number == config.rounds or len(union) >= config.top_c
            asked = [search.text for search in searches]
            thought = "" if ended else next_thought(run, asked, list(union), rows, near)
            name = f"round-{number}"
            run.lap(name)
            caption = message("ircot.round", n=len(rows), query=text)
            title = message("ircot.step.round", number=number)
            steps.append(run.announce(run.step(name, caption, search_ids(number), title=title)))
            if not thought or is_answered(thought):
                break
            text, vector, reason = thought, tools.embed([thought])[0], message("ircot.reason.thought")
        ranking = np.array(list(union), dtype=np.int64)
        return passage_trace(
            run,
            PassageRanking.by_cosine(index, ranking, query.vector, config.top_c),
            caption=message("ircot.chunks", n=len(ranking[: config.top_c]), searches=len(searches)),
            before=steps,
            searches=searches,
        )


_ANSWERED = re.compile(r"\bthe answer is\b", re.IGNORECASE)
_SHORTEST = 30  # characters of a sentence that may stand in for the reasoning


def is_answered(thought: str) -> bool:
    """Return whether the sentence gives the answer, so that nothing is searched for any more."""
    return bool(_ANSWERED.search(thought))


def next_thought(
    run: Retrieval, searched: Sequence[str], rows: Sequence[int], last: Sequence[int], near: dict[str, float]
) -> str:
    """Return the next sentence of the reasoning, "" for none: the model's, or the sentence of the last passages that is
    nearest to the question.

    searched: the question, then the sentences so far. rows: of the chunks that the model sees. last: of those that the
    last search came upon. near: see _nearest_sentence().
    """
    reply = reply_or_note(
        run.tools,
        lambda: ask_text(
            run.tools,
            "reason_step",
            question=run.query.text,
            passages="\n\n".join(run.index.chunk(row).text.strip() for row in rows),
            reasoning="\n".join(searched[1:]) or "(none)",
        ),
        step=message("ircot.step.reasoning"),
        instead=message("ircot.built_in"),
    )
    run.note(reply.note)
    if reply.value is None:
        return "" if reply.budget_spent else _nearest_sentence(run, searched, last, near)
    sentences = split_sentences(reply.value)
    return sentences[0] if sentences else ""


def _nearest_sentence(run: Retrieval, searched: Sequence[str], last: Sequence[int], near: dict[str, float]) -> str:
    """Return, of the chunks of the last search, the sentence nearest to the question that no search has used; "" for
    none.

    near: cosines of the sentences of earlier searches, which share chunks with this one; new ones are added.
    """
    used = set(searched)
    sentences = [each for row in last for each in split_sentences(run.index.chunk(row).text)]
    fresh = [each for each in dict.fromkeys(sentences) if len(each) >= _SHORTEST and each not in used]
    if not fresh:
        return ""
    unknown = [each for each in fresh if each not in near]
    if unknown:
        near.update(zip(unknown, cosines(run.tools.embed_passages(unknown), run.query.vector).tolist(), strict=True))
    return max(fresh, key=near.__getitem__)
