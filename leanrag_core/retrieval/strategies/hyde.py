"""HyDE: chunks near to passages that a model makes up as answers (Gao et al. 2023)."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import message
from leanrag_core.models.base import Sample
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.model_replies import ask_text
from leanrag_core.retrieval.passages import PassageRanking, Search, passage_trace, ranked_by_vector, search_ids
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import mean_direction
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_TEMPERATURE = 0.7  # that of the release


@dataclass(frozen=True)
class Config(Options):
    """Options of HyDE."""

    n_passages: int = option(8, low=1, high=16, paper=8, help=message("hyde.option.n_passages"), in_row=True)
    top_c: int = chunks_option(10)
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """The mean of the question's vector and those of hypothetical passages; then chunks by cosine."""

    name = "hyde"
    badge = "faithful"
    score = COSINE
    calls_model = True

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace; without a model the nearest chunks stand for the passages (pseudo-relevance feedback)."""
        config, run = self.config, Retrieval(self, query, index, tools)
        texts = self._passages(run)
        reason = message("hyde.reason" if texts else "hyde.reason.chunk")
        if texts:
            vectors = tools.embed_passages(texts)
        else:
            rows = ranked_by_vector(index, query.vector)[: config.n_passages]
            texts = [index.chunk(row).text for row in rows]
            vectors = np.asarray(index.chunk_vectors[rows])
        mean = mean_direction(query.vector, vectors)
        run.lap("passages")
        step = run.announce(run.step("passages", message("hyde.passages", n=len(texts)), search_ids(len(texts))))
        ranking = ranked_by_vector(index, mean)
        chosen_rows = ranking[: config.top_c].tolist()
        return passage_trace(
            run,
            PassageRanking.by_cosine(index, ranking, mean, config.top_c, "hyde.near"),
            caption=message("hyde.chunks", n=len(chosen_rows)),
            before=(step,),
            searches=[Search(text, reason, tuple(chosen_rows)) for text in texts],
        )

    def _passages(self, run: Retrieval) -> list[str]:
        """Return passages that a model made up; none where there is no model."""
        texts: list[str] = []
        if run.tools.language is None:
            run.note(message("strategy.note.built_in", instead=message("hyde.built_in")))
            return texts
        step = message("hyde.step.passages")
        for number in range(1, self.config.n_passages + 1):
            sample = Sample(number, _TEMPERATURE)
            try:
                texts.append(ask_text(run.tools, "hyde_passage", sample=sample, question=run.query.text))
            except BudgetSpent:
                run.note(message("strategy.note.budget_spent", step=step))
                break
            except ReplyError as error:
                lost = message("hyde.one_fewer")
                run.notes.append(message("strategy.note.reply_unusable", step=step, reason=error.message, instead=lost))
        return texts
