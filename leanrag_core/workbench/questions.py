"""Questions to an index: which models they take, what a strategy finds, and the answer from it."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from leanrag_core.answering.extractive import extractive_answer
from leanrag_core.answering.follow_up import Standalone, by_model, by_rule
from leanrag_core.answering.written import (
    ANSWER,
    TASK_OF_MODE,
    answer_messages,
    within_window,
    write_answer,
    written_answer,
)
from leanrag_core.errors import EndpointError, ModelMismatch, ReplyError
from leanrag_core.indexing.extraction.language_neutral import is_latin
from leanrag_core.messages.message import Message, message
from leanrag_core.models.base import Call, LanguageModel, embed_queries
from leanrag_core.models.embed_task import RecentVectors, embed_task
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.reranking import reranker
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.queries.entity_search import names_in
from leanrag_core.retrieval.base import (
    AnsweringStrategy,
    PromptingStrategy,
    Query,
    naming_failure,
    require_question,
    strategy,
)
from leanrag_core.retrieval.reranking import retrieved
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import read_ahead
from leanrag_core.storage.digests import damage_named
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.system.threads import BoundedCache
from leanrag_core.text.tokens import load_vocabulary
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import BUILTIN, MULTILINGUAL
from leanrag_core.types.experiment import ASKED
from leanrag_core.types.index import Cut, Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.roles import ANSWERS, REWRITING
from leanrag_core.types.rows import numbers
from leanrag_core.types.scope import Scope
from leanrag_core.types.trace import Answer, Trace, TraceStep
from leanrag_core.workbench.models import ModelAccess
from leanrag_core.workbench.parts import Parts
from leanrag_core.workbench.scopes import Scopes

_VECTORS = 2000  # questions whose vectors stay in memory
_SENTENCES = 16_384  # of answers, whose vectors stay in memory: 25 MB


@dataclass(frozen=True)
class AskRequest:
    """A question and how it is asked. options: of the strategy. budget, report, cancelled, on_step: for a strategy that
    calls a model; those, without and measured: see retrieval.tools. scope: the documents that are asked, all by
    default."""

    question: str
    strategy: str = "leanrag"
    options: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget | None = None
    report: Report = silent
    cancelled: Callable[[], None] | None = None
    on_step: Callable[[TraceStep], None] | None = None
    without: frozenset[str] = frozenset()
    scope: Scope | None = None
    measured: bool = False


class Questions:
    """Retrieves and answers, with models that all sessions share. searches: opens search indexes. parts: of indexes.
    scopes: cuts an index to the documents that are asked."""

    def __init__(self, models: ModelAccess, searches: SearchStore, parts: Parts, scopes: Scopes) -> None:
        self._models, self._searches, self._parts, self._scopes = models, searches, parts, scopes
        # Of the built-in model, by fingerprint and question: an experiment asks the same questions of many indexes.
        self._vectors: BoundedCache[tuple[str, str], np.ndarray] = BoundedCache(_VECTORS)
        self._sentences = RecentVectors(_SENTENCES)
        self._choosing = threading.Lock()  # of the search server

    def retrieve(self, index: Index, request: AskRequest) -> Trace:
        """Return what the strategy retrieves for the question. In a scope, or of an index that was cut to one, rows of
        the trace are those of scopes.index(). Raises InvalidConfig, ModelMismatch, PartMissing, BudgetSpent,
        Cancelled."""
        chosen = strategy(request.strategy, request.options)
        self.choose_search_server()
        require_question(request.question)
        index = self._scopes.index(index, request.scope)
        query = Query(request.question.strip(), self.question_vector(index, request.question))
        with naming_failure(request.strategy), self.naming_damage(index):
            tools = self._tools(index, request.budget)
            tools = replace(
                tools,
                report=request.report,
                cancelled=request.cancelled or tools.cancelled,
                on_step=request.on_step or tools.on_step,
                without=request.without,
                measured=request.measured,
            )
            trace = retrieved(chosen, query, index, tools)
        trace = _in_scope(index, trace)
        if request.without:
            note = message("without.note_retrieved", n=len(request.without))
            trace = replace(trace, notes=(*trace.notes, note))
        if index.manifest.embedding.name == BUILTIN and not is_latin(request.question):
            trace = replace(trace, notes=(*trace.notes, message("questions.other_script")))
        spent = tools.meter.read()
        if spent.cut:
            trace = replace(trace, notes=(*trace.notes, message("strategy.note.prompts_cut", n=spent.cut)))
        trace = _within_window(index, trace, self._reader(index, tools))
        return replace(trace, usage=spent.usage) if spent.usage.calls and not trace.usage.calls else trace

    def retriever(
        self, index: Index, name: str, options: Mapping[str, Any], *, context_alone: bool = False
    ) -> Callable[[str], Trace]:
        """Return a retriever for many questions, for measures, by a strategy that calls no model: strategy, models and
        tools are chosen once for all questions. context_alone: see retrieval.tools. Raises as retrieve() does."""
        chosen = strategy(name, options)
        self.choose_search_server()
        tools = replace(self._tools(index), context_alone=context_alone, measured=True)
        reader = self._reader(index, tools)

        def retrieve(question: str) -> Trace:
            query = Query(question.strip(), self.question_vector(index, question))
            with naming_failure(name):
                trace = _in_scope(index, retrieved(chosen, query, index, tools))
            return _within_window(index, trace, reader)

        return retrieve

    def _tools(self, index: Index, budget: Budget | None = None, *, answers: bool = False) -> Tools:
        """Return what a strategy may use for one question. answers: it makes the answer, and does not retrieve."""
        load_vocabulary()  # before a step's clock runs
        models = self._models.make(budget=budget, index=index.folder_name)
        return Tools(
            embed=lambda texts: embed_queries(self._models.embedding_of(index), list(texts)),
            passages=self._models.embedder_of(index),
            language=(self.answering_language if answers else self._rewriting_language)(index, models),
            prompts=PromptBook(index.manifest.config.prompts),
            part=lambda name: self._parts.read(index, name),
            searches=self._searches,
            meter=models.meter,
            reranker=reranker(models),
        )

    def naming_damage(self, index: Index) -> AbstractContextManager[None]:
        """Turn an error in the block into IndexDamaged where a file of the index turns out to have changed."""
        return damage_named(index.path, index.manifest.files)

    def read_ahead(self, index: Index) -> None:
        """Read the search index of a large base layer; not the model that embeds questions. Raises SearchIndexFailed
        when it does not answer."""
        self.choose_search_server()
        read_ahead(index, self._searches)

    def choose_search_server(self) -> None:
        """Use the search server that the settings name; close open connections only if it has changed."""
        with self._choosing:
            self._searches.use_server(self._models.settings.read().chroma_url)

    def question_vector(self, index: Index, question: str) -> np.ndarray:
        """Return the (d,) unit vector of the question by the model that the index was built with. Raises InvalidConfig
        for a question that is empty or too long, ModelMismatch."""
        require_question(question)
        recorded, model = index.manifest.embedding, self._models.embedding_of(index)
        if (model.fingerprint, model.dimension) != (recorded.fingerprint, recorded.dimension):
            raise ModelMismatch(
                "index.other_embedding",
                index=index.manifest.name,
                recorded=recorded.fingerprint,
                recorded_dimension=recorded.dimension,
                present=model.fingerprint,
                present_dimension=model.dimension,
            )

        def embedded() -> np.ndarray:
            """Return the question's unit vector, (d,)."""
            return np.asarray(embed_queries(model, [question.strip()])[0])

        if embed_task(model) is None:  # its calls are counted and kept by the store of calls
            return embedded()
        return self._vectors.get_or_make((recorded.fingerprint, question.strip()), embedded)

    def embedded(self, index: Index, texts: Sequence[str]) -> np.ndarray:
        """Return the (n, d) unit vectors of the texts by the model that the index was built with."""
        vectors = self._models.embedder_of(index)(texts)
        return np.asarray(vectors).reshape(len(texts), index.manifest.embedding.dimension)

    def answer(self, index: Index, trace: Trace, mode: str = ASKED) -> Answer:
        """Return the answer to a trace's question: the strategy's own where it has one, else from the context alone.

        mode: of an experiment, where a language model writes from the context (types/experiment.py, MODES).
        """
        if (answering := _answering_strategy(trace)) is not None:
            tools = self._tools(self._scopes.index(index, trace.scope), answers=True)
            with naming_failure(trace.strategy):
                return answering.answer(trace, tools)
        language = self.answering_language(index)
        trace = _within_window(index, trace, language)
        if language is not None:
            task = TASK_OF_MODE.get(mode) or _answer_task(trace)
            return write_answer(trace, language, _answer_prompt(index), task)
        vector, recorded = self.question_vector(index, trace.question), index.manifest.embedding
        embed = partial(self._sentences.embed, self._models.embedding_of(index))
        knows_languages = recorded.name == MULTILINGUAL
        return extractive_answer(
            trace,
            embed,
            vector,
            recorded.cosines,
            knows_languages=knows_languages,
            languages=lambda: _languages(self._scopes.index(index, trace.scope)),
        )

    def asks_model(self, index_model: str) -> bool:
        """Tell whether a language model answers questions about an index that was built with that model; the built-in
        engine does not count as one."""
        return self._language(index_model, self._models.make()) is not None

    def answering_model(self, index: Index) -> str:
        """Return the fingerprint of the model that answers about the index, "builtin" for extractive answers."""
        language = self.answering_language(index)
        return BUILTIN if language is None else language.fingerprint

    def answering_language(self, index: Index, models: Models | None = None) -> LanguageModel | None:
        """Return the language model that answers questions about the index; None for extractive answers."""
        return self._language(index.manifest.config.writer, models or self._models.make(index=index.folder_name))

    def _language(self, index_model: str, models: Models) -> LanguageModel | None:
        """Return the model that answers: that of the role, also about an index that was built without a model, else the
        index's own."""
        return models.language(models.settings.answer_model or index_model, ANSWERS)

    def _reader(self, index: Index, tools: Tools) -> LanguageModel | None:
        """Return the model that reads the context of a retrieval with those tools."""
        rewriting_model = self._models.settings.read().role_model(REWRITING)
        return self.answering_language(index) if rewriting_model else tools.language

    def _rewriting_language(self, index: Index, models: Models) -> LanguageModel | None:
        """Return the model that a retrieval asks, and that makes follow-up questions stand alone: that of the role,
        else the one that answers."""
        chosen = models.settings.role_model(REWRITING)
        return models.language(chosen, REWRITING) if chosen else self.answering_language(index, models)

    def kept_answer(self, index: Index, trace: Trace) -> Answer | None:
        """Return answer() where no model at an endpoint needs to be called, else None."""
        language, answering_strategy = self.answering_language(index), _answering_strategy(trace)
        if not isinstance(language, RemoteLanguageModel):
            return self.answer(index, trace)
        if answering_strategy is not None:
            return None if answering_strategy.calls_model else self.answer(index, trace)
        trace = _within_window(index, trace, language)
        messages, task = answer_messages(trace, _answer_prompt(index), _answer_task(trace), language)
        call = Call(messages, task=task)
        stored_reply = language.recalled(language.keys(call), call)
        return None if stored_reply is None else written_answer(trace, stored_reply, language.name)

    def stream_answer(self, index: Index, trace: Trace, on_text: Callable[[str], None]) -> Answer:
        """Return answer(), piece by piece where a language model writes it from the context, else in one piece."""
        language = self.answering_language(index)
        if not isinstance(language, RemoteLanguageModel) or _answering_strategy(trace) is not None:
            answer = self.answer(index, trace)
            on_text(answer.text)
            return answer
        trace = _within_window(index, trace, language)
        messages, task = answer_messages(trace, _answer_prompt(index), _answer_task(trace), language)
        return written_answer(trace, language.stream(messages, on_text, task=task), language.name)

    def follow_up(self, index: Index, question: str, earlier: Sequence[str], answer: str = "") -> Standalone:
        """Rewrite a follow-up question so that it stands alone. earlier: the previous questions, the oldest first;
        answer: how the last answer begins. A language model rewrites it where there is one; else, and where the model
        fails, a rule does."""
        question = " ".join(question.split())
        before = earlier[-1] if earlier else ""
        ruled = by_rule(question, before, names_in(index, before), names_in(index, question))
        language = self._rewriting_language(index, self._models.make(index=index.folder_name))
        if not earlier or not isinstance(language, RemoteLanguageModel):
            return ruled
        try:
            standalone = by_model(question, earlier, answer, language)
        except (EndpointError, ReplyError) as error:
            failed = message("follow.model_failed", reason=error.message, rule=ruled.said)
            return Standalone(ruled.question, ruled.way, failed)
        return standalone or Standalone(ruled.question, ruled.way, message("follow.no_reply", rule=ruled.said))


def _languages(index: Index) -> dict[str, int]:
    """Return the tokens of the index's chunks by the language of their document; "" where it was not recorded."""
    tokens = np.bincount(
        numbers(index.chunks["document"]), numbers(index.chunks["tokens"]), minlength=index.documents.num_rows
    )
    tokens_of: dict[str, int] = {}
    for language, n in zip(index.documents["language"].to_pylist(), tokens.tolist(), strict=True):
        tokens_of[language or ""] = tokens_of.get(language or "", 0) + int(n)
    return tokens_of


def _in_scope(index: Index, trace: Trace) -> Trace:
    """Return the trace with the scope that the index was cut to, and what that means for its texts."""
    if index.cut is None:
        return trace
    cut, whole = index.cut, index.cut.whole
    notes = []
    if len(cut.documents) < whole.documents.num_rows:
        chunks = message("count.chunks", n=len(cut.chunks))
        notes.append(message("scope.note", n=len(cut.documents), total=whole.documents.num_rows, chunks=chunks))
    if cut.scope.as_of:
        notes.append(_as_of_note(cut))
    n_rewritten = len(cut.rewritten) + len(cut.regrouped)
    if n_rewritten:
        notes.append(message("as_of.note.rewritten" if cut.scope.as_of else "scope.note.rewritten", n=n_rewritten))
    return replace(trace, scope=cut.scope, notes=(*notes, *trace.notes))


def _as_of_note(cut: Cut) -> Message:
    """Say how many relations and sentences were left out as of the scope's date, and why."""
    day, out = cut.scope.as_of, cut.left_out
    if not out.n:
        return message("as_of.note.nothing", day=day)
    later, ended = (
        sum(getattr(each, why) for each in (out.relations, out.sentences, out.passages)) for why in ("later", "ended")
    )
    return message(
        "as_of.note",
        day=day,
        relations=message("count.relations", n=out.relations.n),
        sentences=message("as_of.sentences", n=out.sentences.n),
        passages=message("as_of.passages", n=out.passages.n),
        later=later,
        ended=ended,
    )


def _answering_strategy(trace: Trace) -> AnsweringStrategy | None:
    """Return the strategy of the trace, configured as it was, if it answers by itself."""
    chosen = strategy(trace.strategy, trace.parameters)
    return chosen if isinstance(chosen, AnsweringStrategy) else None


def _answer_task(trace: Trace) -> str:
    """Return the prompt of the answer: the strategy's own choice, or the common one."""
    chosen = strategy(trace.strategy, trace.parameters)
    return chosen.answer_task if isinstance(chosen, PromptingStrategy) else ANSWER


def _within_window(index: Index, trace: Trace, language: LanguageModel | None) -> Trace:
    if language is None:
        return trace
    return within_window(trace, language, _answer_prompt(index), _answer_task(trace))


def _answer_prompt(index: Index) -> PromptBook:
    """Return the prompts with the index's own for answers, where it has one."""
    return PromptBook(pair for pair in index.manifest.config.prompts if pair[0] == "answer")
