"""Asking a language model until its reply can be used: read, complain, ask again."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from leanrag_core.errors import CallFailed, ReplyCut, ReplyError
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.models.base import Completion, LanguageModel, Sample
from leanrag_core.types.calls import JsonSchema

T = TypeVar("T")
_LOOP_LENGTH = 1500  # characters; shorter repetition does no harm
_LOOP_RATIO = 0.06  # of its length that a text compresses to; prose stays above 0.3, lists of entities above 0.1
_COMPLAINT = "That cannot be used: {problem}. Answer again, in the form that was asked for."
_RAW_SHOWN = 300  # characters of a useless reply that are kept with its loss
_RAW_RETURNED = 4000  # characters of a useless reply that go back to the model with the complaint


@dataclass(frozen=True)
class Asked(Generic[T]):
    """What the reply was read as, and the reply."""

    value: T
    completion: Completion


def ask(
    model: LanguageModel,
    messages: list[dict[str, str]],
    read: Callable[[Completion], T],
    *,
    schema: JsonSchema | None = None,
    task: str = "",
    attempts: int = 2,
    sample: Sample | None = None,
) -> Asked[T]:
    """Ask the model until `read` accepts the reply, and return what read made of it. A reply that read refuses with
    ReplyError goes back with the error. sample: one of several replies to the same messages.

    Replies that were refused are not remembered, and not part of any usage but the meter's. Raises ReplyError with the
    beginning of the last reply after so many attempts, ReplyCut at once, and CallFailed when no reply came at all.
    """
    asked, raw = messages, ""
    problem = message("reply.none")
    for _ in range(attempts):
        replies: list[Completion] = []
        understood: list[Asked[T]] = []  # the reply that was read last

        def accept(
            completion: Completion, replies: list[Completion] = replies, understood: list[Asked[T]] = understood
        ) -> None:
            replies.append(completion)
            require_no_loop(completion.text)
            understood[:] = [Asked(read(completion), completion)]

        more: dict[str, Any] = {} if asked is messages else {"stands_for": messages}
        if sample is not None:
            more["sample"] = sample
        try:
            completion = model.complete(asked, schema=schema, task=task, accept=accept, **more)
            if not understood or understood[0].completion is not completion:
                accept(completion)
            return understood[0]
        except (CallFailed, ReplyCut):
            raise
        except ReplyError as error:
            problem, raw = error.message, replies[-1].text if replies else ""
        if raw.strip():
            asked = complained(messages, raw, problem)
    shown = " ".join(raw.split())[:_RAW_SHOWN]
    if shown:
        raise ReplyError("reply.unusable", problem=problem, n=attempts, beginning=shown)
    raise ReplyError("reply.unusable_and_empty", problem=problem, n=attempts)


def complained(messages: list[dict[str, str]], raw: str, problem: Message) -> list[dict[str, str]]:
    """Add to the messages a reply that cannot be used, and what is wrong with it."""
    return [
        *messages,
        {"role": "assistant", "content": raw[:_RAW_RETURNED]},
        {"role": "user", "content": _COMPLAINT.format(problem=sentence(problem))},
    ]


def require_no_loop(text: str) -> None:
    """Raise ReplyError for a reply that repeats itself over and over, as small models do."""
    if len(text) >= _LOOP_LENGTH and len(zlib.compress(text.encode())) < _LOOP_RATIO * len(text):
        raise ReplyError("reply.repeats_itself")
