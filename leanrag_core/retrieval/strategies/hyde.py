"""HyDE: chunks near to passages that a model makes up as answers (Gao et al. 2023)."""

from dataclasses import asdict, dataclass

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.models.base import Sample
from leanrag_core.retrieval.base import OFFICIAL, Query
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.model_replies import ask_text
from leanrag_core.retrieval.passages import PassageRanking, Search, passage_trace, ranked_by_vector, search_step
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_TEMPERATURE = 0.7  # that of the release


@dataclass(frozen=True)
class Config:
    """Options of HyDE."""

    n_passages: int = option(8, low=1, high=16, paper=8, help=message("hyde.option.n_passages"), in_row=True)
    top_c: int = option(10, low=1, high=50, help=message("vector.option.top_c"), in_row=True, link="c", scale=20)
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))

    def __post_init__(self) -> None:
        validate(self)


class Strategy:
    """The mean of the question's vector and those of hypothetical passages; then chunks by cosine."""

    name = "hyde"
    title = message("strategy.hyde.title")
    help = message("strategy.hyde.help")
    badge = "faithful"
    differs = message("strategy.hyde.differs")
    calls_model = True
    parts = ()
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace; without a model the nearest chunks stand for the passages (pseudo-relevance feedback)."""
        config, laps = self.config, Laps(tools.meter)
        texts, notes = self._passages(query, tools)
        reason = message("hyde.reason" if texts else "hyde.reason.chunk")
        if texts:
            vectors = tools.embed(texts)
        else:
            rows = ranked_by_vector(index, query.vector)[: config.n_passages]
            texts = [index.chunk(row).text for row in rows]
            vectors = np.asarray(index.chunk_vectors[rows])
        mean = mean_direction(query.vector, vectors)
        laps.lap("passages")
        step = search_step(
            "passages", message("hyde.step.passages"), message("hyde.passages", n=len(texts)), len(texts), laps
        )
        tools.on_step(step)
        ranking = ranked_by_vector(index, mean)
        taken = ranking[: config.top_c].tolist()
        scores = dict(zip(taken, similarity(index, CHUNKS, mean, taken).tolist(), strict=True))
        return passage_trace(
            self,
            query,
            index,
            PassageRanking(ranking, scores, "hyde.near"),
            parameters=asdict(config),
            top_c=config.top_c,
            max_tokens=config.max_tokens,
            laps=laps,
            caption=message("hyde.chunks", n=len(taken)),
            before=(step,),
            searches=[Search(text, reason, tuple(taken)) for text in texts],
            notes=notes,
        )

    def _passages(self, query: Query, tools: Tools) -> tuple[list[str], list[Message]]:
        """Passages that a model made up, and what the reader should know; none where there is no model."""
        if tools.language is None:
            return [], [message("strategy.note.built_in", instead=message("hyde.built_in"))]
        texts: list[str] = []
        notes: list[Message] = []
        step = message("hyde.step.passages")
        for number in range(1, self.config.n_passages + 1):
            try:
                sample = Sample(number, _TEMPERATURE)
                texts.append(ask_text(tools.language, tools, "hyde_passage", sample=sample, question=query.text))
            except BudgetSpent:
                return texts, [*notes, message("strategy.note.budget_spent", step=step)]
            except ReplyError as error:
                notes.append(
                    message(
                        "strategy.note.reply_unusable",
                        step=step,
                        reason=error.message,
                        instead=message("hyde.one_fewer"),
                    )
                )
        return texts, notes


def mean_direction(vector: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(d,) float32, unit length: the mean of the vector and the rows of the others, (n, d)."""
    mean = np.concatenate([vector[None], others]).mean(axis=0, keepdims=True)
    # The length of a row is summed in a fixed order; that of a single vector by BLAS, as each processor does.
    return np.asarray((mean / np.linalg.norm(mean, axis=1))[0], dtype=np.float32)
