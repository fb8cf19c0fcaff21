"""A chat in OpenAI's form: the model names an index and a strategy, the last message of the person is the question."""

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import ConfigDict

from leanrag_core.errors import IndexDamaged, InvalidConfig
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import strategy
from leanrag_core.serving.asking import AskBody, Asked, Cited, Options, Served
from leanrag_core.types.scope import ALL, Scope
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible

DONE = b"data: [DONE]\n\n"
_DEFAULT = "leanrag"  # the strategy of a model that names an index alone
_EXCERPT = 200  # characters of a source
_OWNER = "leanrag"
_PIECE = "chat.completion.chunk"


@dataclass(frozen=True)
class ChatMessage:
    """A message of a chat; its content is a text, or parts of which texts are read."""

    role: str
    content: str | tuple[dict[str, Any], ...] | None = None


@dataclass(frozen=True)
class StreamOptions:
    """include_usage: a last piece tells the tokens of calls."""

    include_usage: bool = False


@dataclass(frozen=True)
class ChatBody:
    """A chat. model: INDEX/STRATEGY, or INDEX for LeanRAG; GET /v1/models lists them. options, scope: as in
    POST /api/indexes/{index}/ask. follow_up: earlier messages of the person are questions that the last one may point
    back to. What else OpenAI's form has (temperature, tools, ...) has no effect."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = 1
    options: Options = field(default_factory=dict)
    scope: Scope = ALL
    follow_up: bool = False


@dataclass(frozen=True)
class Chat:
    """What a chat asks. index: its id."""

    index: str
    body: AskBody


@dataclass(frozen=True)
class ModelList:
    """The models that a chat may name."""

    data: list[Model]
    object: Literal["list"] = "list"


def chat_of(body: ChatBody) -> Chat:
    """Return what the chat asks. Raises InvalidConfig for one without a question, or for several answers."""
    if body.n not in (None, 1):
        raise InvalidConfig("serving.one_answer", n=body.n)
    index, _, strategy_name = body.model.partition("/")
    user_texts = [_text(each) for each in body.messages if each.role == "user"]
    if not user_texts:
        raise InvalidConfig("serving.no_user_message")
    earlier = tuple(user_texts[:-1]) if body.follow_up else ()
    return Chat(index, AskBody(user_texts[-1], strategy_name or _DEFAULT, body.options, body.scope, earlier))


def _text(chat_message: ChatMessage) -> str:
    if not isinstance(chat_message.content, tuple):
        return chat_message.content or ""
    kinds = [str(part.get("type")) for part in chat_message.content]
    if set(kinds) - {"text"}:
        raise InvalidConfig("serving.texts_alone", kind=next(kind for kind in kinds if kind != "text"))
    return "\n".join(str(part.get("text", "")) for part in chat_message.content)


def models(served: Served) -> list[Model]:
    """Return a model for each index that reads and each strategy that can be asked of it as it is."""
    listed: list[Model] = []
    for summary in served.bench.indexes.all():
        with suppress(IndexDamaged):  # it hides none of the others; asking it says what is wrong
            askable = served.askable(served.index(summary.id))
            listed += [_model(f"{summary.id}/{info.name}", summary) for info in askable]
    return listed


def model_named(served: Served, name: str) -> Model:
    """Return the model of that name. Raises IndexNotFound, InvalidConfig for an unknown strategy."""
    index, _, strategy_name = name.partition("/")
    served.index(index)
    strategy(strategy_name or _DEFAULT, {})
    return _model(name, served.bench.indexes.summary(index))


def _model(name: str, summary: IndexSummary) -> Model:
    created = int(datetime.fromisoformat(summary.created).timestamp())
    return Model(id=name, created=created, object="model", owned_by=_OWNER)


def completion(model: str, answered: Asked, language: str) -> ChatCompletion:
    """Return the answer in OpenAI's form, its sources at the end of the text. language: of the words around them."""
    text = _without_pictures(answered.answer.text) + sources_text(answered, language)
    return ChatCompletion.model_validate(
        {
            "id": _new_id(),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": model,
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": _usage(answered),
        }
    )


def _without_pictures(text: str) -> str:
    """Return the text without Markdown's sign for a picture: a front end would fetch it from wherever a document or a
    model says."""
    return text.replace("![", "!\\[")


class Pieces:
    """Writes a chat's answer in the pieces of OpenAI's form; the first one says who speaks. write: called with each
    piece."""

    def __init__(self, write: Callable[[dict[str, Any]], None], model: str) -> None:
        self._write, self._model, self._id, self._created = write, model, _new_id(), int(time.time())
        self._held = ""  # an exclamation mark at the end of a piece, until the next one
        self._choice({"role": "assistant", "content": ""})

    def text(self, piece: str) -> None:
        """Write a piece of the answer's text."""
        clean_text = _without_pictures(self._held + piece)
        self._held = "!" if clean_text.endswith("!") else ""
        if shown := clean_text.removesuffix("!"):
            self._choice({"content": shown})

    def end(self, answered: Asked, language: str, *, with_usage: bool) -> None:
        """Write the sources, the end, and the usage where it was asked for."""
        self._choice({"content": self._held + sources_text(answered, language)})
        self._choice({}, "stop")
        if with_usage:
            self._piece(choices=[], usage=_usage(answered))

    def _choice(self, delta: dict[str, Any], finish_reason: str | None = None) -> None:
        self._piece(choices=[{"index": 0, "delta": delta, "finish_reason": finish_reason}])

    def _piece(self, **content: Any) -> None:
        values = {"id": self._id, "object": _PIECE, "created": self._created, "model": self._model, **content}
        self._write(ChatCompletionChunk.model_validate(values).model_dump(mode="json", exclude_unset=True))


def sources_text(answered: Asked, language: str) -> str:
    """Return what stands below an answer: how the question was asked, where it was rewritten, and a line for each mark
    that it cites."""
    lines = []
    if answered.said:
        lines.append(sentence(message("serving.asked_as", question=visible(answered.said)), language))
    if answered.sources:
        lines.append(sentence(message("serving.sources"), language))
        lines += [f"- {_line(cited, language)}" for cited in answered.sources]
    return "".join(f"\n\n{line}" if not line.startswith("- ") else f"\n{line}" for line in lines)


def _line(cited: Cited, language: str) -> str:
    """Return a source in one line, with its Markdown made harmless: it is a text of a document."""
    name = cited.name
    if cited.page is not None:
        name = sentence(message("passage.on_page", name=name, page=cited.page), language)
    text = " ".join(visible(cited.text).split())
    excerpt = text if len(text) <= _EXCERPT else f"{text[:_EXCERPT].rstrip()} …"
    return f"[{cited.mark}] {_plain(visible(name))}: “{_plain(excerpt)}”"


def _plain(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|~" else letter for letter in text)


def _usage(answered: Asked) -> dict[str, int]:
    """Return the tokens of the calls that retrieval and answer made; none with the built-in engine."""
    used = answered.trace.usage + answered.answer.usage
    total = used.prompt_tokens + used.completion_tokens
    return {"prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens, "total_tokens": total}


def _new_id() -> str:
    return f"chatcmpl-{uuid.uuid4().hex}"
