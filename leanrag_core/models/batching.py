"""Calls that go out in files, at half the price, and are answered within a day.

A build maps functions over chunks, clusters and relations, and each function asks a model. Here a question that has no
reply yet ends its function; when all functions of the map have been tried, their questions are sent as a batch, and the
functions are run again with the replies. So gleaning, and complaints about replies that cannot be used, are the next
batch, and the index is the one that direct calls with the same replies give.
"""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from leanrag_core.errors import (
    CallFailed,
    EndpointBusy,
    EndpointError,
    EndpointPaused,
    EndpointRefusal,
    InvalidConfig,
)
from leanrag_core.models import batch_calls
from leanrag_core.models.base import LanguageModel
from leanrag_core.models.batch_calls import Answer, BatchState
from leanrag_core.models.batched_model import BatchedLanguageModel, NotYetAnswered, Question
from leanrag_core.models.endpoint import Endpoint, Reply
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.batches import PRICE_SHARE, BatchProgress, SentBatch, SentCall
from leanrag_core.types.calls import NO_BUDGET
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.job import Progress, Report, silent
from leanrag_core.types.roles import AGGREGATION, EXTRACTION
from leanrag_core.types.settings import Apply

_MOST_CALLS = 50_000  # of a batch, as OpenAI limits it
_MOST_BYTES = 100_000_000  # of its file; half of what is allowed
_TRIES = 3  # of a call whose batch was completed without an answer to it
_EMPTY_ROUNDS = 3  # in a row, after which the work stops, to be resumed
_PROBED = 3  # direct calls that may be refused before a file is sent anyway
_USUAL_REPLY = 900  # tokens, for budgets, before a reply has come
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds between two questions how far a batch is
_SLICE = 0.2  # seconds after which a wait looks whether the work was cancelled
_SILENT_SECONDS = 3600.0  # without an answer about a batch, after which the work stops, to be resumed


class BatchMemory(Protocol):
    """Where the batches that were sent are kept."""

    def locked(self) -> AbstractContextManager[None]:
        """Lock the batches for all processes while the block lasts."""

    def all(self) -> list[SentBatch]:
        """Return the batches, the oldest first."""

    def put(self, batch: SentBatch) -> None:
        """Keep the batch's record."""

    def collect(self, batch: SentBatch, output: bytes) -> None:
        """Keep what came back, and that it did."""

    def output(self, batch: SentBatch) -> bytes:
        """Return what came back."""

    def delete(self, batch: SentBatch) -> None:
        """Delete the batch's record and what came back."""


@dataclass(frozen=True)
class _Attempt:
    """The result of a function. waits: it asked a question that has no reply yet."""

    value: Any = None
    waits: bool = False


class Batches:
    """The batches of one piece of work, and the map that its functions run in. index: for which it is done. apply: the
    map that runs the functions of one round."""

    def __init__(self, memory: BatchMemory, apply: Apply, *, index: str) -> None:
        self._memory, self._apply, self._index = memory, apply, index
        self._report: Report = silent
        self._latest = Progress("extract", 0, 0)
        self._lock = threading.Lock()  # guards the two fields below
        self._put_down: dict[str, Question] = {}
        self._paid: set[str] = set()
        self._outcomes: dict[str, Reply | Exception] = {}
        self._tries: Counter[str] = Counter()
        self._most_calls = _MOST_CALLS
        self._empty_rounds = 0
        self._models: list[BatchedLanguageModel] = []
        self._collected: set[str] = set()  # ids of batches whose replies were taken over
        self._of_thread = threading.local()

    def model(self, model: LanguageModel | None) -> LanguageModel | None:
        """Return the model with its calls in these batches; one that is not at an endpoint as it is."""
        if not isinstance(model, RemoteLanguageModel):
            return model
        self._models.append(BatchedLanguageModel(model, self))
        return self._models[-1]

    def reporting(self, report: Report) -> Report:
        """Return a report that passes all progress on; the state of batches is added to the last progress."""
        self._report = report

        def listen(progress: Progress) -> None:
            if not progress.waiting:
                self._latest = replace(progress, made=None, spent=None)
            report(progress)

        return listen

    def _read_collected(self) -> None:
        """Take over the replies of batches that were collected before, or by other work: those that could not be used
        are in no store. Errors are asked again."""
        for batch in self._memory.all():
            if batch.collected and batch.id not in self._collected:
                self._collected.add(batch.id)
                for answer in batch_calls.answers(self._models[0].endpoint, batch, self._memory.output(batch)):
                    if isinstance(answer.outcome, Reply):
                        self._outcomes.setdefault(answer.call.key, answer.outcome)

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        listed = list(items)
        results: dict[int, Any] = {}
        rows: Sequence[int] = range(len(listed))
        while rows:
            waiting = []
            attempts = self._apply(partial(self._attempt, function), [listed[row] for row in rows])
            for row, attempt in zip(rows, attempts, strict=True):
                if attempt.waits:
                    waiting.append(row)
                else:
                    results[row] = attempt.value
            if waiting:
                self._settle()
            rows = waiting
        for row in range(len(listed)):
            yield results.pop(row)

    def _attempt(self, function: Callable[[Any], Any], item: Any) -> _Attempt:
        cut: list[BatchedLanguageModel] = []
        self._of_thread.cut = cut
        try:
            value = function(item)
        except NotYetAnswered:
            return _Attempt(waits=True)
        for model in cut:
            model.meter.add_cut()
        return _Attempt(value)

    def on_cut(self, model: BatchedLanguageModel) -> None:
        """Count a prompt that was cut, when the function that asks is done."""
        self._of_thread.cut.append(model)

    def put_down(self, question: Question) -> None:
        """Queue the question for the next batch."""
        with self._lock:
            self._put_down.setdefault(question.call.key, question)

    def has_paid(self, key: str) -> bool:
        """Return whether the call was paid by this work."""
        with self._lock:
            return key in self._paid

    def outcome(self, key: str) -> Reply | Exception | None:
        """Return what came of the call: its reply, or why there is none; None before that is known."""
        return self._outcomes.get(key)

    def _settle(self) -> None:
        """Get an answer to the queued questions, as far as the budget allows; the others are asked again."""
        with self._lock:
            questions, self._put_down = dict(sorted(self._put_down.items())), {}
        n_asked = len(questions)
        with self._memory.locked():  # so that of two builds that ask the same one sends it
            self._read_collected()
            questions = self._unanswered(questions)
            n_known = len(self._outcomes) - (n_asked - len(questions))
            waited_for = [batch for batch in self._open() if any(call.key in questions for call in batch.calls)]
            for batch in waited_for:
                for call in batch.calls:
                    questions.pop(call.key, None)
            waited_for = [self._created(batch) for batch in waited_for]
            for model in self._models:
                waited_for += self._sent(model, [each for each in questions.values() if each.model is model])
        self._wait(waited_for)
        self._empty_rounds = self._empty_rounds + 1 if len(self._outcomes) == n_known else 0
        if self._empty_rounds >= _EMPTY_ROUNDS:
            raise EndpointPaused("batch.nothing_came", n=_EMPTY_ROUNDS)

    def _unanswered(self, questions: dict[str, Question]) -> dict[str, Question]:
        """Leave out the questions that other work has had answered since they were queued."""
        if not questions:
            return questions
        stored = self._models[0].memory.get_many(list(questions))
        known = {key for key, record in zip(questions, stored, strict=True) if record is not None}
        return {key: question for key, question in questions.items() if key not in self._outcomes and key not in known}

    def _open(self) -> list[SentBatch]:
        """Return the batches of these models, also of other work, whose replies are still to come."""
        ours = {(model.model, model.endpoint.address) for model in self._models}
        return [batch for batch in self._memory.all() if not batch.collected and (batch.model, batch.address) in ours]

    def _model_of(self, batch: SentBatch) -> BatchedLanguageModel:
        asked = batch.model, batch.address
        return next(model for model in self._models if (model.model, model.endpoint.address) == asked)

    def _sent(self, model: BatchedLanguageModel, questions: list[Question]) -> list[SentBatch]:
        """Send the questions, as many as the budget allows, in as many batches as the provider's limits ask for."""
        if not questions:
            return []
        model.meter.require_budget()
        questions = _within_budget(model, self._unproven(model, questions))
        return [self._sent_file(model, part) for part in _parts(questions, self._most_calls)]

    def _unproven(self, model: BatchedLanguageModel, questions: list[Question]) -> list[Question]:
        """Ask a question directly where the server has not yet answered one of its form, so that no file of thousands
        is refused for an option or a key; return the others."""
        refused = 0
        for as_json in (True, False):
            for question in [each for each in questions if each.call.as_json is as_json]:
                if model.endpoint.forms.is_proven(model.model, as_json=as_json) or refused >= _PROBED:
                    break
                refused += not self._asked_directly(question)
        return [question for question in questions if question.call.key not in self._outcomes]

    def _asked_directly(self, question: Question) -> bool:
        """Make the call at its full price; return whether it was answered."""
        model = question.model

        def call() -> Reply:
            return model.with_text(model.endpoint.answer(question.request), question.call.task)

        try:
            reply = model.pacer.call(call, on_fault=model.meter.add_fault)
        except (EndpointRefusal, CallFailed) as error:
            self._outcomes[question.call.key] = error
            return False
        self._pay(model, question.call, reply)
        return True

    def _pay(self, model: BatchedLanguageModel, call: SentCall, reply: Reply, *, price_share: float = 1.0) -> None:
        """Count the reply as paid by this work, and keep it."""
        model.count(reply, call.task, price_share=price_share)
        with self._lock:
            self._paid.add(call.key)
        self._outcomes[call.key] = reply

    def _sent_file(self, model: BatchedLanguageModel, part: Sequence[Question]) -> SentBatch:
        endpoint, lines = model.endpoint, [question.line for question in part]
        try:
            file_id = model.pacer.call(partial(batch_calls.upload, endpoint, lines), on_fault=model.meter.add_fault)
        except EndpointRefusal as error:
            raise _refused(endpoint, error.server_text) from None
        calls = tuple(question.call for question in part)
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:12]}"
        batch = SentBatch(name, endpoint.address, model.model, self._index, calls, file_id, time.time())
        self._memory.put(batch)  # so that a work that is killed now finds by its file what the provider makes of it
        return self._created(batch, may_exist=False)

    def _created(self, batch: SentBatch, *, may_exist: bool = True) -> SentBatch:
        """Return the batch with its id at the provider, made there unless it was. may_exist: an earlier request to make
        it may have been heard."""
        if batch.batch_id:
            return batch
        model = self._model_of(batch)
        is_looked_for = may_exist

        def find_or_create() -> str:
            nonlocal is_looked_for
            batch_id = batch_calls.find(model.endpoint, batch) if is_looked_for else ""
            is_looked_for = True
            return batch_id or batch_calls.create(model.endpoint, batch)

        try:
            created = replace(batch, batch_id=model.pacer.call(find_or_create, on_fault=model.meter.add_fault))
        except EndpointRefusal as error:
            self._memory.delete(batch)
            _delete_files(model.endpoint, batch.file_id)
            raise _refused(model.endpoint, error.server_text) from None
        self._memory.put(created)
        return created

    def _wait(self, batches: Sequence[SentBatch]) -> None:
        """Wait until the batches have ended, and read what came."""
        n_answered = dict.fromkeys((batch.id for batch in batches), 0)
        since = min((batch.at for batch in batches), default=0.0)
        n_calls = sum(len(batch.calls) for batch in batches)
        open_batches, wait, last_answer_at = list(batches), _FIRST_WAIT, time.monotonic()
        while open_batches:
            for batch in list(open_batches):
                state = self._state(batch)
                if state is None:
                    continue
                last_answer_at = time.monotonic()
                if state.answered > n_answered[batch.id]:
                    wait = _FIRST_WAIT
                n_answered[batch.id] = max(n_answered[batch.id], state.answered)
                if state.ended:
                    with self._memory.locked():
                        self._end(batch, state)
                    open_batches.remove(batch)
            if time.monotonic() - last_answer_at > _SILENT_SECONDS:
                raise EndpointPaused("batch.silent", address=open_batches[0].address)
            cancelled = any(batch.cancelled for batch in batches)
            progress = BatchProgress(len(batches), n_calls, sum(n_answered.values()), since, cancelled)
            self._report(replace(self._latest, batch=progress))
            if open_batches:
                self._pause(wait, progress)
                wait = min(_LONGEST_WAIT, wait * 1.5)

    def _pause(self, seconds: float, progress: BatchProgress) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(_SLICE, left))
            self._report(replace(self._latest, batch=progress))  # which raises when the work was cancelled

    def _state(self, batch: SentBatch) -> BatchState | None:
        """Return how far the batch is; None where the server does not answer at the moment."""
        model = self._model_of(batch)
        try:
            return batch_calls.state_of(model.endpoint, batch)
        except EndpointBusy as error:
            model.meter.add_fault(str(error))
            return None
        except EndpointError as error:
            if error.message.code != "endpoint.not_found":
                raise
            model.meter.add_fault(str(error))
            return BatchState("expired", 0)  # the provider has it no more: what it was asked is asked again

    def _end(self, batch: SentBatch, state: BatchState) -> None:
        """Read what came of a batch that has ended."""
        model = self._model_of(batch)
        if not state.files and state.status == "failed":
            self._memory.delete(batch)
            _delete_files(model.endpoint, batch.file_id)
            if state.code != "token_limit_exceeded" or len(batch.calls) == 1:
                raise _refused(model.endpoint, state.reason or state.code)
            self._most_calls = max(1, len(batch.calls) // 2)
            self._empty_rounds -= 1  # smaller files are sent next
            return
        # Another job that waited for the same batch may have read it.
        current = _as_kept(self._memory, batch)
        if current is None:  # and be done: its replies are stored
            return
        is_first = not current.collected
        if is_first:
            output = b"\n".join(self._downloaded(model, file_id) for file_id in state.files)
            self._memory.collect(batch, output)
        else:
            output = self._memory.output(batch)
        self._collected.add(batch.id)
        answers = list(batch_calls.answers(model.endpoint, batch, output))
        for answer in answers:
            self._take(model, answer, is_first=is_first)
        if state.status == "completed":
            answered = {answer.call.key for answer in answers}
            missing = EndpointBusy("endpoint.no_reply", address=batch.address, reason="no line in the output")
            for call in batch.calls:
                if call.key not in answered:
                    self._try_again(call.key, missing)
        if is_first:
            _delete_files(model.endpoint, batch.file_id, *state.files)

    def _take(self, model: BatchedLanguageModel, answer: Answer, *, is_first: bool) -> None:
        """Keep an answer, or have its call go out again. is_first: no other work has read and paid it. Raises an error
        that concerns all calls: no credit, a wrong key."""
        call, outcome, forms = answer.call, answer.outcome, model.endpoint.forms
        if isinstance(outcome, Reply):
            forms.answered(model.model, forms.of(model.model), as_json=call.as_json, after_refusal=False)
            if is_first:
                self._pay(model, call, outcome, price_share=PRICE_SHARE)
            else:
                self._outcomes[call.key] = outcome
            return
        if not isinstance(outcome, EndpointBusy | EndpointRefusal):
            raise outcome
        model.meter.add_fault(str(outcome))
        if isinstance(outcome, EndpointBusy):
            self._try_again(call.key, outcome)
        else:
            self._outcomes[call.key] = outcome

    def _try_again(self, key: str, problem: EndpointBusy) -> None:
        """Have the call go out with the next batch, unless it did so often enough."""
        self._tries[key] += 1
        if self._tries[key] >= _TRIES:
            self._outcomes[key] = CallFailed("call.failed", problem=problem.message, n=_TRIES)

    def _downloaded(self, model: BatchedLanguageModel, file_id: str) -> bytes:
        try:
            return model.pacer.call(
                partial(batch_calls.download, model.endpoint, file_id), on_fault=model.meter.add_fault
            )
        except EndpointError as error:
            if error.message.code != "endpoint.not_found":
                raise
            model.meter.add_fault(str(error))
            return b""  # deleted by its owner

    def close(self) -> None:
        """Delete the records of the work, which is done: all replies that it used are stored."""
        for batch in self._memory.all():
            if batch.index == self._index and batch.collected:
                self._memory.delete(batch)


def require_batches(models: Models, config: IndexConfig) -> None:
    """Raise InvalidConfig where the build's models are at no endpoint, or a server of theirs takes no batches."""
    reader = models.language(config.model, EXTRACTION)
    writer = models.language(config.aggregation_model or config.model, AGGREGATION)
    if not isinstance(reader, RemoteLanguageModel):
        raise InvalidConfig("batch.needs_endpoint")
    for model in (reader, writer):
        if isinstance(model, RemoteLanguageModel) and not batch_calls.has_batches(model.endpoint):
            raise InvalidConfig("batch.none_here", address=model.endpoint.address)


def cancel_batches(memory: BatchMemory, index: str, endpoints: Iterable[Endpoint]) -> list[EndpointError]:
    """Have the providers end the batches that were sent for the index; what they have made by then is paid, and is read
    by the next build that asks the same. Returns the errors of those that could not be reached."""
    of_address = {endpoint.address: endpoint for endpoint in endpoints}
    errors = []
    for batch in memory.all():
        if batch.index == index and not (batch.collected or batch.cancelled) and batch.address in of_address:
            try:
                batch_calls.cancel(of_address[batch.address], batch)
            except EndpointError as error:
                errors.append(error)
                continue
            with memory.locked():
                current = _as_kept(memory, batch)
                if current is not None and not current.collected:  # else other work has read it meanwhile
                    memory.put(replace(current, cancelled=True))
    return errors


def _as_kept(memory: BatchMemory, batch: SentBatch) -> SentBatch | None:
    """Return the batch as it is kept by now; None where it is not any more."""
    return next((each for each in memory.all() if each.id == batch.id), None)


def _refused(endpoint: Endpoint, reason: str) -> EndpointError:
    return EndpointError("batch.refused", address=endpoint.address, reason=reason)


def _delete_files(endpoint: Endpoint, *file_ids: str) -> None:
    for file_id in file_ids:
        with suppress(EndpointError, CallFailed):  # it costs nothing, and goes by itself after some weeks
            batch_calls.delete_file(endpoint, file_id)


def _parts(questions: Sequence[Question], most_calls: int) -> Iterator[list[Question]]:
    """Yield the questions in parts that a provider takes as one file."""
    part: list[Question] = []
    n_bytes = 0
    for question in questions:
        size = len(question.line)
        if part and (len(part) >= most_calls or n_bytes + size > _MOST_BYTES):
            yield part
            part, n_bytes = [], 0
        part.append(question)
        n_bytes += size
    if part:
        yield part


def _within_budget(model: BatchedLanguageModel, questions: list[Question]) -> list[Question]:
    """Return as many of the questions as the rest of the budget should suffice for, at least one."""
    budget, spent = model.meter.budget, model.meter.read().usage
    if budget == NO_BUDGET:
        return questions
    reply = spent.completion_tokens / spent.calls if spent.calls else _USUAL_REPLY
    price = model.endpoint.settings.price(model.model)
    calls, tokens, dollars = spent.calls, float(spent.prompt_tokens + spent.completion_tokens), spent.cost
    for n, question in enumerate(questions):
        prompt = sum(count_tokens(message["content"]) for message in question.request.messages)
        calls, tokens = calls + 1, tokens + prompt + reply
        dollars += PRICE_SHARE * price.of(prompt, round(reply))
        over = (
            (budget.calls and calls > budget.calls)
            or (budget.tokens and tokens > budget.tokens)
            or (budget.dollars and dollars > budget.dollars)
        )
        if over and n:
            return questions[:n]
    return questions
