"""A chat model whose questions wait for the next batch, and what such a question is."""

import threading
from dataclasses import dataclass
from typing import Any, Protocol, Unpack

from leanrag_core.errors import EndpointRefusal
from leanrag_core.models import batch_calls
from leanrag_core.models.base import Call, CallOptions, Completion
from leanrag_core.models.endpoint import Reply
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.types.batches import SentCall
from leanrag_core.types.calls import JsonSchema


class NotYetAnswered(Exception):
    """Raised where a question waits for the next batch; nothing has failed."""


class Outcomes(Protocol):
    """The outcomes of the calls of a piece of work, and the queue of its questions for the next batch."""

    def outcome(self, key: str) -> Reply | Exception | None:
        """Return what came of the call: its reply, or why there is none; None before that is known."""

    def put_down(self, question: "Question") -> None:
        """Queue the question for the next batch."""

    def has_paid(self, key: str) -> bool:
        """Return whether the call was paid by this work."""

    def on_cut(self, model: "BatchedLanguageModel") -> None:
        """Count a prompt that was cut, when the function that asks is done."""


class BatchedLanguageModel(RemoteLanguageModel):
    """A chat model whose calls go out in batches. Its replies are stored, accepted and refused like those of direct
    calls."""

    def __init__(self, model: RemoteLanguageModel, batches: Outcomes) -> None:
        super().__init__(model.model, model.endpoint, model.pacer, model.meter, model.memory, index=model.index)
        self._batches = batches
        self._counted: set[str] = set()  # keys whose stored reply, or whose fault, is in the meter
        self._counting = threading.Lock()

    def complete(self, messages: list[dict[str, str]], **options: Unpack[CallOptions]) -> Completion:
        """See LanguageModel. Raises NotYetAnswered for a question that has no reply yet."""
        call = Call(messages, **options)
        keys = self.keys(call)
        known = self.recalled(keys, call)
        if known is not None:
            return known
        outcome = self._batches.outcome(keys[0])
        if outcome is None:
            self._require_room(call)
            sent = SentCall(keys[0], call.task, call.schema is not None)
            limit = self._limit(call)
            self._batches.put_down(Question(self, sent, messages, call.schema, limit, call.temperature))
            raise NotYetAnswered
        if isinstance(outcome, EndpointRefusal):
            raise self._refused(outcome) from None
        if isinstance(outcome, Exception):
            raise outcome
        self._count_reused(keys[0])  # unless this work has paid it
        return self.stored(keys, call, outcome, 0.0)

    def on_cut(self) -> None:
        """See Windowed; counted once, when the function that asks is done."""
        self._batches.on_cut(self)

    def _count_reused(self, key: str) -> None:
        if self._is_first(key) and not self._batches.has_paid(key):
            self.meter.add_reused()

    def _count_fault(self, key: str, text: str) -> None:
        if self._is_first(f"fault {key}"):
            self.meter.add_fault(text)

    def _is_first(self, name: str) -> bool:
        with self._counting:
            first = name not in self._counted
            self._counted.add(name)
            return first


@dataclass(frozen=True)
class Question:
    """A call that is to be sent. max_tokens, temperature: None for those of the settings."""

    model: BatchedLanguageModel
    call: SentCall
    messages: list[dict[str, str]]
    schema: JsonSchema | None
    max_tokens: int | None
    temperature: float | None

    @property
    def options(self) -> dict[str, Any]:
        """What a request has besides model and messages."""
        return {"schema": self.schema, "max_tokens": self.max_tokens, "temperature": self.temperature}

    @property
    def line(self) -> bytes:
        """The question as a line of a file of requests."""
        endpoint = self.model.endpoint
        body = endpoint.written_request(self.model.model, self.messages, **self.options)
        return batch_calls.request_line(endpoint, self.call, body)
