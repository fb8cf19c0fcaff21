"""A chat model whose questions wait for the next batch, and what such a question is."""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from leanrag_core.errors import EndpointRefusal
from leanrag_core.models import batch_calls
from leanrag_core.models.base import Call, CallOptions, Completion
from leanrag_core.models.endpoint import ChatRequest
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.types.batches import SentCall

if TYPE_CHECKING:
    from leanrag_core.models.batching import Batches


class NotYetAnswered(Exception):
    """Raised where a question waits for the next batch; nothing has failed."""


class BatchedLanguageModel(RemoteLanguageModel):
    """A chat model whose calls go out in batches. Its replies are stored, accepted and refused like those of direct
    calls."""

    def __init__(self, model: RemoteLanguageModel, batches: "Batches") -> None:
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
            request = ChatRequest(self.model, messages, call.schema, self._limit(call), call.temperature)
            self._batches.put_down(Question(self, sent, request))
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
    """A call that is to be sent."""

    model: BatchedLanguageModel
    call: SentCall
    request: ChatRequest

    @property
    def line(self) -> bytes:
        """The question as a line of a file of requests."""
        endpoint = self.model.endpoint
        return batch_calls.request_line(endpoint, self.call, endpoint.written_request(self.request))
