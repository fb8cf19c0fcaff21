"""Questions to an index: which models they take, what a strategy finds, and the answer from it."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from leanrag_core.answering.extractive import extractive_answer
from leanrag_core.answering.written import ANSWER, TASK_OF_MODE, answer_messages, write_answer, written_answer
from leanrag_core.bounded_cache import BoundedCache
from leanrag_core.errors import ModelMismatch
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.models.embed_task import embed_task
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.prompts.book import PromptBook
from leanrag_core.retrieval.base import AnsweringStrategy, PromptingStrategy, Query, require_question, strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import read_ahead
from leanrag_core.storage.digests import damage_named
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.experiment import ASKED
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import BUILTIN, is_remote
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.settings import Settings
from leanrag_core.types.spending import Budget
from leanrag_core.types.trace import Answer, Trace, TraceStep

_VECTORS = 2000  # questions whose vectors stay in memory


class ModelsOf(Protocol):
    """Makes the models of one piece of work. index: for which index its calls are kept."""

    def __call__(self, *, budget: Budget | None = None, index: str = "") -> Models: ...


class Questions:
    """Retrieves and answers, with models that all sessions share. settings, models: those that hold at the moment.

    searches: opens search indexes. part: what a part of an index holds; raises PartMissing.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        models: ModelsOf,
        searches: SearchStore,
        part: Callable[[Index, str], Any],
    ) -> None:
        self._settings, self._models, self._searches, self._part = settings, models, searches, part
        self._embeddings: dict[tuple[str, str], EmbeddingModel] = {}  # by name and fingerprint
        # Of the built-in model, by fingerprint and question: an experiment asks the same questions of many indexes.
        self._vectors: BoundedCache[tuple[str, str], np.ndarray] = BoundedCache(_VECTORS)
        self._choosing = threading.Lock()  # of embedding models and of the search server

    def forget_models(self) -> None:
        """Embedding models are chosen again: the settings have changed."""
        with self._choosing:
            self._embeddings.clear()

    def retrieve(
        self,
        index: Index,
        question: str,
        strategy_name: str,
        options: Mapping[str, Any],
        *,
        budget: Budget | None = None,
        report: Report = silent,
        cancelled: Callable[[], None] | None = None,
        on_step: Callable[[TraceStep], None] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Trace:
        """What the strategy retrieves for the question. budget, report, cancelled, on_step: of strategies that call a
        model; those and without: see retrieval.tools. Raises InvalidConfig, ModelMismatch, PartMissing, BudgetSpent,
        Cancelled."""
        chosen = strategy(strategy_name, options)
        self.choose_search_server()
        query = Query(question.strip(), self.question_vector(index, question))
        with self.naming_damage(index):
            tools = self._tools(index, budget)
            tools = replace(
                tools,
                report=report,
                cancelled=cancelled or tools.cancelled,
                on_step=on_step or tools.on_step,
                without=without,
            )
            trace = chosen.retrieve(query, index, tools)
        if without:
            trace = replace(trace, notes=(*trace.notes, message("without.note_retrieved", n=len(without))))
        spent = tools.meter.read().usage
        return replace(trace, usage=spent) if spent.calls and not trace.usage.calls else trace

    def _tools(self, index: Index, budget: Budget | None = None) -> Tools:
        """What a strategy may use for one question."""
        models = self._models(budget=budget, index=_folder_name(index))
        recorded = index.manifest.embedding
        return Tools(
            embed=lambda texts: self.embedding(recorded.name, recorded.fingerprint).embed(list(texts)),
            language=self._answering_model(index, models),
            prompts=PromptBook(index.manifest.config.prompts),
            part=lambda name: self._part(index, name),
            searches=self._searches,
            meter=models.meter,
        )

    def naming_damage(self, index: Index) -> AbstractContextManager[None]:
        """An error of the block becomes IndexDamaged where a file of the index turns out to have been changed."""
        return damage_named(index.path, index.manifest.files)

    def read_ahead(self, index: Index) -> None:
        """The search index of a large base layer is read; not the model that embeds questions. Raises SearchIndexFailed
        when it does not answer."""
        self.choose_search_server()
        read_ahead(index, self._searches)

    def choose_search_server(self) -> None:
        """Search indexes are asked where the settings say; nothing that is open is closed unless that has changed."""
        with self._choosing:
            self._searches.use_server(self._settings().chroma_url)

    def question_vector(self, index: Index, question: str) -> np.ndarray:
        """(d,) unit vector of the question by the model that the index was built with. Raises InvalidConfig for a
        question that is empty or too long, ModelMismatch."""
        require_question(question)
        recorded = index.manifest.embedding
        model = self.embedding(recorded.name, recorded.fingerprint)
        if (model.fingerprint, model.dimension) != (recorded.fingerprint, recorded.dimension):
            raise ModelMismatch(
                "index.other_embedding",
                index=index.manifest.name,
                recorded=recorded.fingerprint,
                recorded_dimension=recorded.dimension,
                present=model.fingerprint,
                present_dimension=model.dimension,
            )
        if embed_task(model) is None:  # its calls are counted and kept by the store of calls
            return np.asarray(model.embed([question.strip()])[0])
        key = recorded.fingerprint, question.strip()
        vector = self._vectors.get_or_make(key, lambda: np.asarray(model.embed([question.strip()])[0]))
        return vector

    def answer(self, index: Index, trace: Trace, mode: str = ASKED) -> Answer:
        """The answer to a trace's question: the strategy's own where it has one, else from the context alone.

        mode: of an experiment, where a language model writes from the context (types/experiment.py, MODES).
        """
        if (answering := _answering_strategy(trace)) is not None:
            return answering.answer(trace, self._tools(index))
        language = self._answering_model(index)
        if language is not None:
            task = TASK_OF_MODE.get(mode) or _answer_task(trace)
            return write_answer(trace, language, _answer_prompt(index), task)
        vector, recorded = self.question_vector(index, trace.question), index.manifest.embedding
        return extractive_answer(trace, self.embedding(recorded.name, recorded.fingerprint).embed, vector)

    def asks_model(self, index_model: str) -> bool:
        """Whether a language model is asked about indexes that were built with that one; none is by the built-in
        engine."""
        return self._language(index_model, self._models()) is not None

    def answering_model(self, index: Index) -> str:
        """The fingerprint of the model that answers questions about the index, "builtin" for extractive answers."""
        language = self._answering_model(index)
        return BUILTIN if language is None else language.fingerprint

    def answering_language(self, index: Index) -> LanguageModel | None:
        """The language model that answers questions about the index; None for extractive answers."""
        return self._answering_model(index)

    def _answering_model(self, index: Index, models: Models | None = None) -> LanguageModel | None:
        return self._language(index.manifest.config.model, models or self._models(index=_folder_name(index)))

    def _language(self, own: str, models: Models) -> LanguageModel | None:
        return models.language(models.settings.answer_model or own if is_remote(own) else own)

    def kept_answer(self, index: Index, trace: Trace) -> Answer | None:
        """answer() where no model at an endpoint needs to be asked: None when one would be."""
        language, own = self._answering_model(index), _answering_strategy(trace)
        if not isinstance(language, RemoteLanguageModel):
            return self.answer(index, trace)
        if own is not None:
            return None if own.calls_model else self.answer(index, trace)
        messages, task = answer_messages(trace, _answer_prompt(index), _answer_task(trace))
        known = language.recalled([language.key(messages, task=task)], None, messages)
        return None if known is None else written_answer(trace, known, language.name)

    def stream_answer(self, index: Index, trace: Trace, on_text: Callable[[str], None]) -> Answer:
        """answer(), piece by piece where a language model writes it from the context; others come in one piece."""
        language = self._answering_model(index)
        if not isinstance(language, RemoteLanguageModel) or _answering_strategy(trace) is not None:
            answer = self.answer(index, trace)
            on_text(answer.text)
            return answer
        messages, task = answer_messages(trace, _answer_prompt(index), _answer_task(trace))
        return written_answer(trace, language.stream(messages, on_text, task=task), language.name)

    def embedding(self, name: str, fingerprint: str) -> EmbeddingModel:
        """The embedding model of that name and fingerprint, opened once for all sessions."""
        with self._choosing:
            if (name, fingerprint) not in self._embeddings:
                self._embeddings[name, fingerprint] = self._models().embedding(name, fingerprint)
            return self._embeddings[name, fingerprint]


def _answering_strategy(trace: Trace) -> AnsweringStrategy | None:
    """The strategy of the trace, configured as it was, if it answers by itself."""
    chosen = strategy(trace.strategy, trace.parameters)
    return chosen if isinstance(chosen, AnsweringStrategy) else None


def _answer_task(trace: Trace) -> str:
    """The prompt of the answer: the strategy's own choice, or the one of all."""
    chosen = strategy(trace.strategy, trace.parameters)
    return chosen.answer_task if isinstance(chosen, PromptingStrategy) else ANSWER


def _folder_name(index: Index) -> str:
    """The name of the index's folder, under which builds keep their calls too."""
    return index.path.name if index.path else index.id


def _answer_prompt(index: Index) -> PromptBook:
    """The prompts with the index's own for answers, where it has one."""
    return PromptBook(pair for pair in index.manifest.config.prompts if pair[0] == "answer")
