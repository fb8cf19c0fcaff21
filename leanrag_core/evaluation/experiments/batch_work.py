"""The questions of a batch: retrieved, answered, measured. An error of a question is in its row."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from leanrag_core.errors import (
    BudgetSpent,
    Cancelled,
    ClusterUnavailable,
    EndpointError,
    EndpointRefusal,
    IndexDamaged,
    IndexNotFound,
    LeanRAGError,
    ModelMismatch,
    ModelUnavailable,
    PartDamaged,
    PartMissing,
    SearchIndexFailed,
    StorageFailed,
    WorkersLost,
)
from leanrag_core.evaluation.base import Outcome, scores
from leanrag_core.evaluation.chunk_texts import ChunkTexts
from leanrag_core.evaluation.experiments.plan import Batch
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import strategies
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.experiment import QuestionRow, RunCost, RunSpec
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace

_PLACES = 6  # decimals of a score: sums in another order differ in later ones
_WARM_UP = "What is this about?"
# What would fail for every question: the experiment stops, and goes on when the cause is gone.
_STOPPING = (
    BudgetSpent,
    Cancelled,
    ClusterUnavailable,
    EndpointError,
    IndexDamaged,
    IndexNotFound,
    ModelMismatch,
    ModelUnavailable,
    PartDamaged,
    PartMissing,
    SearchIndexFailed,
    StorageFailed,
    WorkersLost,
)


class Asked(Protocol):
    """Retrieves and answers, as the workbench does."""

    def open(self, index_id: str) -> Index: ...

    def retrieve_run(self, index: Index, question: str, run: RunSpec) -> Trace: ...

    def answer(self, index: Index, trace: Trace, mode: str) -> Answer: ...

    def claims(self, index: Index, answer: Answer) -> tuple[str, ...] | None: ...

    def asks_model(self, index_model: str) -> bool: ...


@dataclass(frozen=True)
class Measured:
    """What came of a question of a run, and what it took."""

    row: QuestionRow
    cost: RunCost


@dataclass
class BatchWork:
    """Does batches in this process. Of each strategy the first retrieval reads its parts, so it is not timed."""

    asked: Asked
    clock: Callable[[], float] = time.perf_counter
    _warm: set[tuple[str, str]] = field(default_factory=set)
    _texts: dict[str, ChunkTexts] = field(default_factory=dict)

    def __call__(self, batch: Batch) -> tuple[Measured, ...]:
        """Do the batch's questions, in its order. Raises an error that every question would raise."""
        index = self.asked.open(batch.run.index)
        self._warm_up(index, batch.run)
        return tuple(self._question(index, batch, question) for question in batch.questions)

    def _warm_up(self, index: Index, run: RunSpec) -> None:
        key = run.index, run.strategy
        calls_model = strategies().named(run.strategy).calls_model and self.asked.asks_model(
            index.manifest.config.model
        )
        if key not in self._warm and not calls_model:
            with suppress(Exception):  # the same error is raised again for each question
                self.asked.retrieve_run(index, _WARM_UP, run)
        self._warm.add(key)

    def _question(self, index: Index, batch: Batch, question: GoldQuestion) -> Measured:
        run, answer, answer_ms, usage = batch.run, None, 0.0, NO_USAGE
        started = self.clock()
        try:
            trace = self.asked.retrieve_run(index, question.question, run)
            retrieval_ms, usage = 1000 * (self.clock() - started), trace.usage
            if batch.answers:
                started = self.clock()
                answer = self.asked.answer(index, trace, batch.mode)
                answer_ms, usage = 1000 * (self.clock() - started), usage + answer.usage
            texts = self._texts.setdefault(run.index, ChunkTexts(index))
            claims = self.asked.claims(index, answer) if batch.claims and answer is not None else None
            row = _row(index, run, question, Outcome(question, trace, answer, texts, claims))
        except EndpointRefusal as error:  # of this request: the next one may be shorter
            return _failed(run, question, str(error), usage)
        except _STOPPING:
            raise
        except LeanRAGError as error:
            return _failed(run, question, str(error), usage)
        except Exception as error:  # a fault of a strategy or measure must not take the other questions with it
            return _failed(run, question, sentence(message("experiment.unexpected", reason=in_words(error))), usage)
        return Measured(row, _cost(run, question, retrieval_ms, answer_ms, usage))


def _row(index: Index, run: RunSpec, question: GoldQuestion, outcome: Outcome) -> QuestionRow:
    kept = {item.ref for section in outcome.trace.context.sections for item in section.items}
    rows = [passage.row for passage in outcome.trace.passages if passage.id in kept and passage.row is not None]
    return QuestionRow(
        run=run.name,
        question=question.id,
        kind=question.kind,
        scores={
            name: None if score is None else round(float(score), _PLACES) for name, score in scores(outcome).items()
        },
        passages=tuple(index.chunk_cells["id"][row].as_py() for row in rows),
        answer=outcome.answer.text if outcome.answer is not None else "",
    )


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(float(score), _PLACES)


def _failed(run: RunSpec, question: GoldQuestion, error: str, usage: Usage) -> Measured:
    row = QuestionRow(run.name, question.id, question.kind, {}, error=error)
    return Measured(row, _cost(run, question, 0.0, 0.0, usage))


def _cost(run: RunSpec, question: GoldQuestion, retrieval_ms: float, answer_ms: float, usage: Usage) -> RunCost:
    return RunCost(
        run=run.name,
        question=question.id,
        retrieval_ms=round(retrieval_ms, 3),
        answer_ms=round(answer_ms, 3),
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=usage.cost if usage.calls else None,
    )
