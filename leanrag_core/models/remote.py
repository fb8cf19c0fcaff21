"""Language models at an endpoint: paced, metered, and every answer kept."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import cached_property, partial
from typing import Protocol, Unpack

from leanrag_core.errors import (
    CallFailed,
    EndpointBusy,
    EndpointRefusal,
    EndpointTimeout,
    PromptTooLong,
    ReplyCut,
    ReplyError,
)
from leanrag_core.models.base import Call, CallOptions, Completion
from leanrag_core.models.endpoint import Endpoint, Reply, with_text
from leanrag_core.models.pacing import Meter, Pacer
from leanrag_core.models.reasoning import without_reasoning
from leanrag_core.models.request_form import is_too_long, named_window
from leanrag_core.models.window import LEAST_REPLY, Window
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import CallRecord, ChatMessage, Usage
from leanrag_core.types.config import endpoint_model
from leanrag_core.types.roles import Role
from leanrag_core.types.settings import AUTO, SHORT, SHORT_UP_TO

_STAGE_OF = {  # the stage of the work that a prompt belongs to
    "extract_graph": "extract",
    "glean_graph": "extract",
    "merge_descriptions": "merge",
    "aggregate_entity": "aggregate entities",
    "aggregate_relation": "aggregate relations",
    "answer": "answer",
    "judge_pair": "judge",
    "judge_score": "judge",
    "judge_gold": "judge",
    "judge_conflict": "judge",
}
_WRITES_AN_INDEX = ("extract", "merge", "aggregate entities", "aggregate relations")
_CHARACTERS_A_TOKEN = 4  # for the pace only
_MOST_RETRIES = 3  # of a streamed call, for which somebody waits: some four seconds
_SLOW = 25.0  # tokens a second, below which a loop up to the limit takes minutes
_USUAL_REPLY = 4096  # tokens of the longest reply, of which a quarter is asked for after a timeout


def stage_of(task: str) -> str:
    """Return the stage of the work that a prompt belongs to. task: the prompt's fingerprint."""
    return _STAGE_OF.get(task.split(".")[0].removesuffix("_short"), "other")


class CallMemory(Protocol):
    """Where answered calls are kept, by a key of their content."""

    def get(self, key: str) -> CallRecord | None:
        """Return the record of that key, if any."""

    def get_many(self, keys: list[str]) -> list[CallRecord | None]:
        """Return the records of those keys, in order."""

    def put(self, key: str, record: CallRecord) -> None:
        """Keep a record."""

    def put_many(self, records: Mapping[str, CallRecord]) -> None:
        """Keep records."""

    def locked(self, key: str) -> AbstractContextManager[None]:
        """Lock the key while the block lasts, so that its question is asked once."""


def _expected(messages: list[dict[str, str]]) -> int:
    """Return the expected tokens of a call, for the pace only."""
    return sum(len(message["content"]) for message in messages) // _CHARACTERS_A_TOKEN + 500


class _Patience:
    """Makes a call; after a timeout the next one asks for a quarter of the reply's tokens, and there is none after a
    second timeout. lowered: whether a quarter was asked for."""

    def __init__(self, request: Callable[..., Reply], limit: int | None) -> None:
        self._request, self._limit = request, limit
        self.lowered = False

    def __call__(self) -> Reply:
        try:
            return self._request(max_tokens=self._limit)
        except EndpointTimeout as error:
            if self.lowered:
                raise EndpointRefusal("call.too_slow", problem=error.message) from None
            self.lowered, self._limit = True, max(LEAST_REPLY, (self._limit or _USUAL_REPLY) // 4)
            raise


class _BrokenOff(Exception):
    """A stream failed in a way that is not to be tried again."""

    def __init__(self, error: EndpointBusy) -> None:
        super().__init__()
        self.error = error


class _Stream:
    """Makes a streamed call, which may be made again as long as no text was passed on, and not after it took too
    long."""

    def __init__(self, request: Callable[[Callable[[str], None]], Reply], on_text: Callable[[str], None]) -> None:
        self._request, self._on_text = request, on_text
        self._began = False

    def __call__(self) -> Reply:
        try:
            return self._request(self._pass_on)
        except EndpointBusy as error:
            if self._began or isinstance(error, EndpointTimeout):
                raise _BrokenOff(error) from None
            raise

    def _pass_on(self, text: str) -> None:
        self._began = True
        self._on_text(text)


class RemoteLanguageModel:
    """A chat model. See LanguageModel. index: for which index calls are made, so that they can be deleted with it."""

    def __init__(
        self, model: str, endpoint: Endpoint, pacer: Pacer, meter: Meter, memory: CallMemory, *, index: str = ""
    ) -> None:
        self.model = model
        self.name = endpoint_model(model)
        self.endpoint, self.pacer, self.meter, self.memory = endpoint, pacer, meter, memory
        self.index = index

    @property
    def fingerprint(self) -> str:
        """Name, temperature and what else is asked of it; the same model at another address is the same model."""
        return f"{self.name}@t{self.endpoint.settings.temperature:g}{asked_otherwise(self.endpoint.role)}"

    @cached_property
    def window(self) -> Window | None:
        """The tokens that the model reads and writes together, None where nobody says; asked for once, and again
        after a server refused a prompt and named another number."""
        return self.endpoint.window(self.model)

    @property
    def short_prompts(self) -> bool:
        """See Prompted: as the settings say; by themselves for a small window."""
        form, window = self.endpoint.settings.prompt_form, self.window
        return form == SHORT or (form == AUTO and window is not None and window.tokens <= SHORT_UP_TO)

    @property
    def watches(self) -> bool:
        """Tell whether replies are streamed, to end one that repeats itself: where that saves minutes, or is likely."""
        speed = self.endpoint.speed(self.model)
        return self.short_prompts or (speed is not None and speed.tokens_per_second < _SLOW)

    def on_cut(self) -> None:
        """See Windowed."""
        self.meter.add_cut()

    def _limit(self, call: Call) -> int | None:
        """Return the longest reply that is asked for: lower than usual where the window leaves less; None for the
        usual one."""
        if self.window is None:
            return call.max_tokens
        left = self.window.reply_limit(call.messages)
        return left if left < (call.max_tokens or self.endpoint.settings.max_reply_tokens) else call.max_tokens

    def _require_room(self, call: Call) -> None:
        """Raise PromptTooLong for a prompt that leaves no room for its reply."""
        window = self.window
        if window is None:
            return
        if window.reply_limit(call.messages) < min(LEAST_REPLY, call.max_tokens or window.reply_tokens):
            tokens = sum(count_tokens(message["content"]) for message in call.messages)
            raise PromptTooLong("call.does_not_fit", tokens=tokens, window=window.tokens, model=self.model)

    def key(self, call: Call) -> str:
        """Return the content key of a call: model, prompt version, messages and parameters."""
        limit = self._limit(call) or self.endpoint.settings.max_reply_tokens
        made_of = ["chat", self.fingerprint, call.task, call.messages, call.schema, limit]
        if call.sample is not None:
            made_of.append(asdict(call.sample))
        return hashlib.sha256(json.dumps(made_of, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def keys(self, call: Call) -> list[str]:
        """Return the key of what is asked and, for a complaint, that of the question that it is about."""
        first = [] if call.stands_for is None else [self.key(replace(call, messages=call.stands_for))]
        return [self.key(call), *first]

    def complete(self, messages: list[dict[str, str]], **options: Unpack[CallOptions]) -> Completion:
        """See LanguageModel; an answered call is not made again, and equal calls at the same time are made once."""
        # A completion has the key of the first question, so that a resumed build, which meets no complaint, records
        # the same.
        call = Call(messages, **options)
        keys = self.keys(call)
        known = self.recalled(keys, call)
        if known is not None:
            return known
        with self.memory.locked(keys[0]):
            known = self.recalled(keys, call)  # by the caller that had the lock before
            if known is not None:
                return known
            limit = self._limit(call)
            self._require_room(call)
            request = partial(
                self.endpoint.chat,
                self.model,
                messages,
                schema=call.schema,
                temperature=call.temperature,
                watch=self.watches,
            )
            return self._asked(keys, call, _Patience(request, limit))

    def _asked(self, keys: list[str], call: Call, request: "_Patience") -> Completion:
        """Make the call within the budget and the limits, and keep its reply under those keys."""
        self.meter.require_budget()
        started = time.perf_counter()

        try:
            reply = self.pacer.call(
                lambda: self.with_text(request(), call.task),
                tokens=_expected(call.messages),
                on_fault=self.meter.add_fault,
            )
        except EndpointRefusal as error:
            raise self._refused(error) from None
        if request.lowered and reply.finish_reason == "length":
            keys = []  # a reply to another limit
        return self._kept(keys, call, reply, started)

    def _refused(self, refusal: EndpointRefusal) -> CallFailed:
        """Return our error for a request that is refused, and learn the window that the server names."""
        if not is_too_long(refusal):
            return CallFailed(refusal.message)
        tokens = named_window(refusal)
        if tokens is not None:
            self.endpoint.forms.learn_window(self.model, tokens)
            self.__dict__.pop("window", None)
        return PromptTooLong(refusal.message)

    def stream(self, messages: list[dict[str, str]], on_text: Callable[[str], None], *, task: str = "") -> Completion:
        """Stream the reply piece by piece; a stored reply is passed on at once.

        A call that fails before any of it was passed on is made again, _MOST_RETRIES times at most: somebody waits for
        it. Raises EndpointError, CallFailed.
        """
        call = Call(messages, task=task)
        key = self.key(call)
        known = self.recalled([key], call)
        if known is None:
            with self.memory.locked(key):
                known = self.recalled([key], call)
                if known is None:
                    self.meter.require_budget()
                    limit = self._limit(call)
                    self._require_room(call)
                    started = time.perf_counter()
                    stream = _Stream(partial(self.endpoint.stream, self.model, messages, max_tokens=limit), on_text)
                    try:
                        reply = self.pacer.call(
                            stream,
                            tokens=_expected(messages),
                            on_fault=self.meter.add_fault,
                            most_retries=_MOST_RETRIES,
                        )
                    except _BrokenOff as ended:
                        raise ended.error from None
                    except EndpointRefusal as refusal:
                        self._refused(refusal)  # the next question fits
                        raise
                    return self._kept([key], call, reply, started)
        on_text(known.text)
        return known

    def recall(self, call: Call) -> Completion | None:
        """Return the stored reply to the call, with the seconds it took, if there is one; for forecasts."""
        record = self.memory.get(self.key(call))
        if record is None or record.text is None:
            return None
        usage = Usage(
            1,
            record.prompt_tokens or 0,
            record.completion_tokens or 0,
            seconds=record.seconds or 0.0,
            cached_tokens=record.cached_tokens or 0,
        )
        return _completion(record, usage, "")

    def recalled(self, keys: list[str], call: Call) -> Completion | None:
        """Return the stored reply of the first key, when there is one and it can still be used."""
        record = self.memory.get(keys[0])
        if record is None or record.text is None:
            return None
        usage = self._usage(call, record.completion_tokens or 0)
        known = _completion(record, usage, keys[-1])
        try:
            (call.accept or _not_empty)(known)
        except ReplyCut:  # as it was when it came
            self._count_reused(keys[0])
            raise
        except ReplyError:  # the rules have changed since
            return None
        self._count_reused(keys[0])
        return known

    def _count_reused(self, key: str) -> None:
        """Count the stored reply of that key, which was used."""
        self.meter.add_reused()

    def _count_fault(self, key: str, text: str) -> None:
        """Count a reply of that key that cannot be used."""
        self.meter.add_fault(text)

    def _usage(self, call: Call, completion_tokens: int) -> Usage:
        """Return what an index records of a call: the question by our own count, so that a detour to its reply (a
        complaint, a resumed build) changes nothing. The meter has the server's figures."""
        tokens = sum(count_tokens(message["content"]) for message in call.question), completion_tokens
        return Usage(1, *tokens, cost=self.endpoint.settings.price(self.model).of(*tokens))

    def _kept(self, keys: list[str], call: Call, reply: Reply, started: float) -> Completion:
        """Count and store the reply, and return it. keys: none for a reply that is not stored."""
        seconds = time.perf_counter() - started
        self.count(reply, call.task, seconds=seconds)
        return self.stored(keys, call, reply, seconds)

    def with_text(self, reply: Reply, task: str) -> Reply:
        """Return the reply. Raises EndpointBusy for one without a text, which is counted: it is paid for, too."""
        try:
            return with_text(reply, self.model)
        except EndpointBusy:
            self.count(reply, task)
            raise

    def count(self, reply: Reply, task: str, *, seconds: float = 0.0, price_share: float = 1.0) -> None:
        """Count an answered call in the meter. price_share: of the price of a direct call."""
        tokens, cached = (reply.prompt_tokens, reply.completion_tokens), reply.cached_tokens
        cost = price_share * self.endpoint.settings.price(self.model).of(*tokens, cached)
        self.meter.add(stage_of(task), Usage(1, *tokens, seconds=seconds, cost=cost, cached_tokens=cached))

    def stored(self, keys: list[str], call: Call, reply: Reply, seconds: float) -> Completion:
        """Store a reply that was counted, when it is accepted, and return it. seconds: that it took, 0 where nobody
        knows."""
        again, stage = len(keys) > 1, stage_of(call.task)
        usage = self._usage(call, reply.completion_tokens)
        completion = Completion(reply.text, reply.finish_reason, usage, again, keys[-1] if keys else "")
        record = CallRecord(
            model=self.name,
            task=call.task,
            index=self.index,
            text=reply.text,
            finish_reason=reply.finish_reason,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens or None,
            seconds=round(seconds, 3) or None,
            asked_again=again or None,
            messages=tuple(ChatMessage(**message) for message in call.messages) if stage in _WRITES_AN_INDEX else (),
        )
        try:
            if reply.has_reasoning and not reply.text.strip() and not completion.cut:
                raise ReplyError("reply.reasoning_alone", model=self.model)
            (call.accept or _not_empty)(completion)
        except ReplyCut:  # the passage is too much for one reply: true the next time, too
            self.memory.put_many(dict.fromkeys(keys, record))
            raise
        except ReplyError as error:
            self._count_fault(keys[0] if keys else "", f"{call.task.split(':')[0] or 'call'}: {error}")
            raise
        self.memory.put_many(dict.fromkeys(keys, record))
        return completion


def asked_otherwise(role: Role) -> str:
    """Return what tells the model of a role from the same one without fields of its own in the request; "" without
    any."""
    cells = role.body_fields
    return f"+{hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:8]}" if cells else ""


def _completion(record: CallRecord, usage: Usage, key: str) -> Completion:
    """Return the reply of a record without reasoning, which an earlier version may have kept in it."""
    text, finish = without_reasoning(record.text or ""), record.finish_reason or "stop"
    return Completion(text, finish, usage, asked_again=record.asked_again is True, key=key)


def _not_empty(completion: Completion) -> None:
    if not completion.text.strip():
        raise ReplyError("reply.cut_in_reasoning" if completion.cut else "reply.empty")
