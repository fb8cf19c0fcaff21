"""Retrieval and answers for an experiment: indexes opened once, calls counted by question and for the whole."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.evaluation.judging.asking import list_claims
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.embed_task import KeptVectors
from leanrag_core.models.registry import Models
from leanrag_core.storage import layout
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.experiment import RunSpec
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.workbench.models import ModelAccess
from leanrag_core.workbench.parts import Parts
from leanrag_core.workbench.questions import AskRequest, Questions
from leanrag_core.workbench.scopes import Scopes


@dataclass(frozen=True)
class RunIndexes:
    """The indexes that the runs of experiments ask, with what asking them takes."""

    store: IndexStore
    models: ModelAccess
    searches: SearchStore
    parts: Parts
    scopes: Scopes

    def open(self, index: str) -> Index:
        """Open the index of a run: of that id in the store, or in that folder. Raises IndexNotFound, IndexDamaged,
        IndexTooNew."""
        return layout.read_index(Path(index)) if os.sep in index or "/" in index else self.store.open(index)

    def asking(self, models: Models) -> "ExperimentAsking":
        """Return what retrieves and answers, counted by the meter of those models and within their budget."""
        return ExperimentAsking(self, models)


class _CountedModels(ModelAccess):
    """Models for a question, with a meter of their own within that of the experiment; each text is embedded once for
    all strategies."""

    def __init__(self, access: ModelAccess, models: Models) -> None:
        super().__init__(access.settings, access.calls, access.files)
        self._models = models
        self._kept: dict[tuple[str, str], KeptVectors] = {}

    def make(self, *, budget: Budget | None = None, index: str = "", needed_by: IndexConfig | None = None) -> Models:
        return self._models.counted_apart(index)

    def embedding(self, name: str, fingerprint: str) -> EmbeddingModel:
        model = super().embedding(name, fingerprint)
        return self._kept.setdefault((name, fingerprint), KeptVectors(model))


class ExperimentAsking(Questions):
    """Retrieves and answers for the questions of an experiment, several at a time."""

    def __init__(self, indexes: RunIndexes, models: Models) -> None:
        super().__init__(_CountedModels(indexes.models, models), indexes.searches, indexes.parts, indexes.scopes)
        self._indexes = indexes
        self._opened: dict[str, Index] = {}
        self._lock = threading.Lock()

    def open(self, index_id: str) -> Index:
        """Return the index, opened once. Raises what RunIndexes.open() does."""
        with self._lock:
            if index_id not in self._opened:
                self._opened[index_id] = self._indexes.open(index_id)
            return self._opened[index_id]

    def retrieve_run(self, index: Index, question: str, run: RunSpec) -> Trace:
        """Return what the run's strategy retrieves. Raises as retrieve() does, and where a reranker gives no scores."""
        return self.retrieve(index, AskRequest(question, run.strategy, run.options, measured=True))

    def claims(self, index: Index, answer: Answer) -> tuple[str, ...] | None:
        """Return the claims of the answer as the model that answers lists them; None where none does. Raises
        ReplyError."""
        language = self.answering_language(index)
        return None if language is None else list_claims(answer.text, language)
