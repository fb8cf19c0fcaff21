"""Calls of a language model during a retrieval: cancellation and budget are checked before, the reply is read
strictly."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.models.asking import ask, read_json
from leanrag_core.models.base import Completion, Sample
from leanrag_core.models.window import fill_within
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import JsonSchema

T = TypeVar("T")


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What was read from a model's reply. value: None where there is none; then `note` says why, and `budget_spent`
    whether no further call is allowed."""

    value: T | None
    note: Message | None = None
    budget_spent: bool = False


def reply_or_note(
    tools: Tools, call: Callable[[], T], *, step: Message, instead: Message, built_in: Message | None = None
) -> Reply[T]:
    """Return what the call gives, or a note: without a model, beyond the budget, and for a reply that cannot be used.

    step, instead: what the model was asked for, and what is done in its place. built_in: the same without a model.
    """
    if tools.language is None:
        return Reply(None, message("strategy.note.built_in", instead=built_in or instead))
    try:
        return Reply(call())
    except BudgetSpent:
        return Reply(None, message("strategy.note.budget_spent", step=step), budget_spent=True)
    except ReplyError as error:
        return Reply(None, message("strategy.note.reply_unusable", step=step, reason=error.message, instead=instead))


def ask_text(tools: Tools, task: str, *, sample: Sample | None = None, **fields: object) -> str:
    """Return the reply of the language model, which the tools have, to the prompt of that task, without white space
    around it.

    sample: one of several replies to the same prompt. Raises Cancelled, BudgetSpent, CallFailed, and ReplyError for a
    second empty reply.
    """
    return _asked(tools, task, fields, _text, sample=sample)


def ask_json(
    tools: Tools,
    task: str,
    read: Callable[[dict[str, Any]], T],
    *,
    schema: JsonSchema,
    keys: Collection[str] = (),
    **fields: object,
) -> T:
    """Return what `read` makes of the JSON object in the reply; read raises ReplyError for one that it cannot use,
    which is then asked for once more.

    schema: of the object, for endpoints that follow one. keys: in lower case, by one of which it is known among others;
    without them by all of the schema's. Raises what ask_text() does.
    """
    known_by = keys or schema["properties"]
    return _asked(tools, task, fields, lambda reply: read(read_json(reply.text, [known_by]).cells), schema)


def json_or_note(
    tools: Tools,
    task: str,
    read: Callable[[dict[str, Any]], T],
    *,
    schema: JsonSchema,
    step: Message,
    instead: Message,
    keys: Collection[str] = (),
    **fields: object,
) -> Reply[T]:
    """Return what ask_json() gives, or a note: see reply_or_note()."""
    return reply_or_note(
        tools, lambda: ask_json(tools, task, read, schema=schema, keys=keys, **fields), step=step, instead=instead
    )


def lists_in(cells: dict[str, Any], *names: str, error: str) -> list[tuple[str, ...]]:
    """Return the listed_texts() under each of those names. Raises ReplyError of that code where one is no list."""
    values = [cells.get(name) for name in names]
    if not all(isinstance(value, list) for value in values):
        raise ReplyError(error)
    return [listed_texts(value or []) for value in values]


def listed_texts(values: list[Any]) -> tuple[str, ...]:
    """Return the texts in a list of a reply, each in one line and once; what is no text, or empty, is left out."""
    texts = (" ".join(value.split()) for value in values if isinstance(value, str))
    return tuple(text for text in dict.fromkeys(texts) if text)


_ASKED = ("question", "most")  # fields that are never cut: a question has a limit of its own


def _asked(
    tools: Tools,
    task: str,
    fields: dict[str, object],
    read: Callable[[Completion], T],
    schema: JsonSchema | None = None,
    sample: Sample | None = None,
) -> T:
    assert tools.language is not None
    tools.cancelled()
    tools.meter.require_budget()
    prompt = tools.prompts.of(task)
    messages = [{"role": "user", "content": fill_within(tools.language, prompt, keep=_ASKED, **fields)}]
    return ask(tools.language, messages, read, schema=schema, task=prompt.fingerprint, sample=sample).value


def _text(reply: Completion) -> str:
    if not reply.text.strip():
        raise ReplyError("reply.none")
    return reply.text.strip()
