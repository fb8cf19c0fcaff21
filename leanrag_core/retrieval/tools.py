"""What a strategy may use while it works on a question; the workbench makes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from leanrag_core.models.base import LanguageModel
from leanrag_core.models.pacing import Meter
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.storage.part_store import no_part
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.calls import PassageScores
from leanrag_core.types.job import Report, nothing, silent
from leanrag_core.types.trace import TraceStep


class Reranks(Protocol):
    """Scores passages by how well they answer a question."""

    name: str

    def scores(self, question: str, texts: Sequence[str]) -> PassageScores:
        """Return the score of each text. Raises EndpointError, CallFailed, BudgetSpent, InvalidConfig."""


@dataclass(frozen=True, eq=False)
class Tools:
    """The tools of one question.

    embed: returns (n, d) float32 unit rows of texts to search with, by the index's own model; embed_passages() does so
    for texts as an index holds them, by `passages` where the model embeds these differently. language: counted by
    `meter`; None with the built-in engine. part: what an index part's read() gave; raises PartMissing. searches: opens
    the search indexes of large layers. meter: its require_budget() comes before each call and raises BudgetSpent.
    report: progress, as builds report it. cancelled: raises Cancelled when the question was taken back; called between
    calls of a model. on_step: called with each step as soon as it is done; for strategies of several calls. without:
    ids of seeds, relations and chunks that a person took out; a strategy that retrieves without them says so by the
    kinds in its attribute `leaves_out`. context_alone: of the trace nothing but the context and the passages are looked
    at, as for a measure over many questions; a strategy may leave out the rest. measured: the trace is scored by
    measures, so that a reranker which fails is an error, not a note. reranker: where one is set; used after a strategy,
    not by it (retrieval.reranking).
    """

    embed: Callable[[Sequence[str]], np.ndarray]
    language: LanguageModel | None = None
    prompts: PromptBook = field(default_factory=PromptBook)
    part: Callable[[str], Any] = no_part
    searches: SearchStore | None = None
    meter: Meter = field(default_factory=Meter)
    report: Report = silent
    cancelled: Callable[[], None] = nothing
    on_step: Callable[[TraceStep], None] = nothing
    without: frozenset[str] = frozenset()
    context_alone: bool = False
    measured: bool = False
    passages: Callable[[Sequence[str]], np.ndarray] | None = None
    reranker: Reranks | None = None

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Return the (n, d) float32 unit rows that the index would have for these texts."""
        return (self.passages or self.embed)(texts)
