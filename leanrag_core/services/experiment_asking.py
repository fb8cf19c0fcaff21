"""Retrieval and answers for an experiment: indexes opened once, calls counted by question and for the whole."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from leanrag_core.evaluation.judging.claims import list_claims
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.kept_vectors import KeptVectors
from leanrag_core.models.registry import Models
from leanrag_core.services.questions import Questions
from leanrag_core.storage import layout
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.experiment import RunSpec
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from leanrag_core.types.spending import Budget
from leanrag_core.types.trace import Answer, Trace


class ModelsOf(Protocol):
    """Makes the models of one piece of work. index: for which index its calls are kept."""

    def __call__(self, *, budget: Budget | None = None, index: str = "") -> Models: ...


def open_run_index(store: IndexStore, index: str) -> Index:
    """The index of a run: of that id in the store, or in that folder. Raises IndexNotFound, IndexDamaged,
    IndexTooNew."""
    return layout.read_index(Path(index)) if os.sep in index or "/" in index else store.open(index)


class _Questions(Questions):
    """Questions to an index whose texts are embedded once for all strategies."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        models: ModelsOf,
        searches: SearchStore,
        part: Callable[[Index, str], Any],
    ) -> None:
        super().__init__(settings, models, searches, part)
        self._kept: dict[tuple[str, str], KeptVectors] = {}

    def embedding(self, name: str, fingerprint: str) -> EmbeddingModel:
        """The embedding model of that name and fingerprint, with a memory."""
        model = super().embedding(name, fingerprint)
        return self._kept.setdefault((name, fingerprint), KeptVectors(model))


class ExperimentAsking:
    """Retrieves and answers for the questions of an experiment, several at a time.

    models: with the meter and the budget of the whole. part: what a part of an index holds.
    """

    def __init__(
        self,
        store: IndexStore,
        models: Models,
        settings: Callable[[], Settings],
        searches: SearchStore,
        part: Callable[[Index, str], Any],
    ) -> None:
        self._store, self._models = store, models
        self._questions = _Questions(settings, self._models_of, searches, part)
        self._opened: dict[str, Index] = {}
        self._lock = threading.Lock()

    def _models_of(self, *, budget: Budget | None = None, index: str = "") -> Models:
        """Models for a question, with a meter of their own within that of the experiment."""
        return self._models.counted_apart(index)

    def open(self, index_id: str) -> Index:
        """The index, opened once. Raises what open_run_index() does."""
        with self._lock:
            if index_id not in self._opened:
                self._opened[index_id] = open_run_index(self._store, index_id)
            return self._opened[index_id]

    def retrieve(self, index: Index, question: str, run: RunSpec) -> Trace:
        """What the run's strategy retrieves."""
        return self._questions.retrieve(index, question, run.strategy, run.options)

    def answer(self, index: Index, trace: Trace, mode: str) -> Answer:
        """The answer to the trace's question, in that mode."""
        return self._questions.answer(index, trace, mode)

    def claims(self, index: Index, answer: Answer) -> tuple[str, ...] | None:
        """The claims of the answer as the model that answers lists them; None where none does. Raises ReplyError."""
        language = self._questions.answering_language(index)
        return None if language is None else list_claims(answer.text, language)

    def asks_model(self, index: Index) -> bool:
        """Whether a language model is asked about the index."""
        return self._questions.asks_model(index.manifest.config.model)

    def answering_model(self, index: Index) -> str:
        """The fingerprint of the model that answers, "builtin" for extractive answers."""
        return self._questions.answering_model(index)
