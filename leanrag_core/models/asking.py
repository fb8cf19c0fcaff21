"""Asking a language model until its reply can be used: read the JSON, complain, ask again."""

import json
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from leanrag_core.errors import CallFailed, ReplyCut, ReplyError
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.models.base import Completion, LanguageModel, Sample
from leanrag_core.models.window import window_of
from leanrag_core.text.plain_words import whole_characters
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.calls import JsonSchema

_CLOSED_BY = {"{": "}", "[": "]"}
_QUOTES = "\"'"


@dataclass(frozen=True)
class JsonReply:
    """The object of a reply. breaks_off: the reply ends before the object does, so that something of it is lost."""

    cells: dict[str, Any]
    breaks_off: bool = False

    def list_of(self, name: str) -> list[Any]:
        """Return the list of that name. Raises ReplyError for a reply without it, or whose end is missing."""
        listed = self.cells.get(name)
        if self.breaks_off or not isinstance(listed, list):
            raise ReplyError("reply.broken_off")
        return listed


def read_json(text: str, parts: Sequence[Collection[str]]) -> JsonReply:
    """Return the object that has one of the parts, out of a fence or from beside a remark; broken JSON is repaired.

    parts: the keys, in lower case, under which each part of the reply may come. Raises ReplyError when there is no
    object.
    """
    keys = [key for part in parts for key in part]
    breaks_off = False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value, breaks_off = _repaired(text), True
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        value = next((item for item in objects if _has(item, keys)), objects[0] if len(objects) == 1 else None)
    if not isinstance(value, dict):
        raise ReplyError("reply.not_json_object")
    try:
        cells = _storable(value)
    except RecursionError:
        raise ReplyError("reply.nested_too_deeply") from None
    return JsonReply(cells, breaks_off and _breaks_off(text, value, parts))


def _storable(value: Any) -> Any:
    """Return the value with every text in it made storable."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {whole_characters(name): _storable(inner) for name, inner in value.items()}
    return [_storable(inner) for inner in value] if isinstance(value, list) else value


def _repaired(text: str) -> Any:
    import json_repair

    try:
        return json_repair.loads(text)
    except (ValueError, RecursionError):
        return None


def _has(cells: dict[str, Any], keys: Collection[str]) -> bool:
    return any(str(name).lower() in keys and value not in ("", None) for name, value in cells.items())


def _breaks_off(text: str, cells: dict[str, Any], parts: Sequence[Collection[str]]) -> bool:
    """Return whether the end of the JSON is missing: a text or a list is open at the end of the reply, or the object
    itself is and lacks a part. An object that has them all and only lacks its last brace has lost nothing."""
    keys = [key for part in parts for key in part]
    open_at_end, place = "", 0
    while (place := _next_opening(text, place)) >= 0:
        end, open_at_end = _end_of_value(text, place)
        if not open_at_end and any(key in text[place:end].lower() for key in keys):
            return False
        place = end
    if open_at_end in ("", "{"):
        return bool(open_at_end) and not all(_has(cells, part) for part in parts)
    return True


def _next_opening(text: str, place: int) -> int:
    places = [at for at in (text.find(bracket, place) for bracket in _CLOSED_BY) if at >= 0]
    return min(places, default=-1)


def _end_of_value(text: str, place: int) -> tuple[int, str]:
    """Find where the value that begins at the place ends, and what is open there: brackets, and a quote inside a
    text."""
    stack, quote = [text[place]], ""
    at = place + 1
    while at < len(text):
        sign = text[at]
        if quote:
            if sign == "\\":
                at += 1
            elif sign == quote and _ends_text(text, at):
                quote = ""
        elif sign in _QUOTES:
            quote = sign
        elif sign in _CLOSED_BY:
            stack.append(sign)
        elif sign == _CLOSED_BY[stack[-1]]:
            stack.pop()
            if not stack:
                return at + 1, ""
        at += 1
    return len(text), "".join(stack) + quote


def _ends_text(text: str, at: int) -> bool:
    """Return whether a quotation mark ends its text; after one that the model forgot to escape more text follows."""
    following = text[at + 1 : at + 40].lstrip()
    return not following or following[0] in ",:}]"


T = TypeVar("T")
_LOOP_LENGTH = 1500  # characters; shorter repetition does no harm
_LOOP_RATIO = 0.06  # of its length that a text compresses to; prose stays above 0.3, lists of entities above 0.1
_COMPLAINT = "That cannot be used: {problem}. Answer again, in the form that was asked for."
_RAW_SHOWN = 300  # characters of a useless reply that are kept with its loss
_RAW_RETURNED = 4000  # characters of a useless reply that go back to the model with the complaint
_LEAST_RETURNED = 24  # tokens of it; with less the model would not know what it is told about
_TWO_MESSAGES = 32  # tokens that a chat template adds to them


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
    ReplyError goes back with the error. sample: one of several replies to the same messages. A reply that was ended
    since it repeated itself is refused, unless read raises ReplyCut for it.

    Refused replies are not stored, and only the meter counts them. Raises ReplyError with the beginning of the last
    reply after so many attempts, ReplyCut at once, and CallFailed when no reply came at all.
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
            if completion.looped:
                read(completion)
                raise ReplyError("reply.repeats_itself")
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
            again = complained(messages, raw, problem, model)
            if again is None:
                break
            asked = again
    shown = " ".join(raw.split())[:_RAW_SHOWN]
    if shown:
        raise ReplyError("reply.unusable", problem=problem, n=attempts, beginning=shown)
    raise ReplyError("reply.unusable_and_empty", problem=problem, n=attempts)


def complained(
    messages: list[dict[str, str]], raw: str, problem: Message, model: LanguageModel
) -> list[dict[str, str]] | None:
    """Add to the messages a reply that cannot be used, and what is wrong with it; None where the model's window has no
    room for that."""
    complaint, returned, window = _COMPLAINT.format(problem=sentence(problem)), raw[:_RAW_RETURNED], window_of(model)
    if window is not None:
        used_tokens = sum(
            count_tokens(content) for content in (complaint, *(message["content"] for message in messages))
        )
        left = window.prompt_tokens - used_tokens - _TWO_MESSAGES
        if left < _LEAST_RETURNED:
            return None
        returned = trim_to_tokens(returned, left)
    return [*messages, {"role": "assistant", "content": returned}, {"role": "user", "content": complaint}]


def require_no_loop(text: str) -> None:
    """Raise ReplyError for a reply that repeats itself over and over, as small models do."""
    if len(text) >= _LOOP_LENGTH and len(zlib.compress(text.encode())) < _LOOP_RATIO * len(text):
        raise ReplyError("reply.repeats_itself")
