"""OpenAI's protocol as values: a request's cells in, a response's cells out. Nothing here touches a socket."""

import base64
import hashlib
import json
import math
import time
from array import array
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

from leanrag_core.text.tokens import count_tokens
from tests.endpoint import faults
from tests.endpoint.faults import FaultPlan, spoiled_text, spoiled_vectors
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.vectors import vector_of

_KINDS = {
    ("POST", "/v1/chat/completions"): "chat",
    ("POST", "/v1/embeddings"): "embed",
    ("GET", "/v1/models"): "models",
    ("POST", "/api/show"): "show",
    ("GET", "/props"): "props",
}
_PAGE = (
    b"<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1><p>The proxy is unwell.</p></body></html>"
)
_WORDS_A_PIECE, _WORDS_IN_SMALL_PIECES, _WORDS_A_LONG_PIECE = 3, 60, 30  # each piece costs a reader a millisecond
_UNSUPPORTED = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
    "instead.",
    "max_completion_tokens": "Unrecognized request argument supplied: max_completion_tokens",
    "temperature": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
    "supported.",
    "response_format": "Extra inputs are not permitted: response_format",
    "stream_options": "Unknown parameter: 'stream_options'.",
}
_HEEDLESS = (faults.MANY_ENTITIES, faults.LONG_NAMES)  # these arrive whole, whatever max_tokens says


class Served(Protocol):
    """What of a server its answers depend on."""

    model: ScriptedModel
    plan: FaultPlan
    dimension: int
    models: tuple[str, ...]
    response_formats: tuple[str, ...]
    max_prompt_tokens: int | None
    ollama: bool
    num_ctx: int | None
    context_length: int
    max_model_len: int | None
    slot_n_ctx: int | None
    thoughts: str
    refused_options: tuple[str, ...]
    refuses: dict[str, tuple[int, str, str]]
    window: int | None
    slots: int | None
    tells_usage: bool

    def fault_for(self, key: str, task: str) -> str | None:
        """Return the fault that this request meets."""

    def read_before(self, text: str) -> int:
        """Return the tokens of a prompt that are told as read before."""


class Refusal(Exception):
    """The request is answered with an error in OpenAI's form."""

    def __init__(self, status: int, code: str, message: str, option: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        kind = "rate_limit_error" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
        self.cells = {"error": {"message": message, "type": kind, "param": option, "code": code}}


@dataclass(frozen=True)
class Response:
    """What is sent, and what the log says of it. events: a streamed reply's, in the place of cells."""

    kind: str
    status: int
    cells: dict[str, Any]
    outcome: str = "answered"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    events: list[dict[str, Any]] | None = None


def body_of(raw: bytes) -> dict[str, Any]:
    """Return the JSON object of a request; an empty one without a body. Raises Refusal."""
    try:
        body = json.loads(raw) if raw else {}
    except ValueError:
        raise Refusal(400, "invalid_json", "The body is not JSON. Send a JSON object.") from None
    if not isinstance(body, dict):
        raise Refusal(400, "invalid_json", "The body is no JSON object. Send one.")
    return body


def kind_of(method: str, path: str) -> str:
    """Return chat, embed, models, show or props. Raises Refusal for another address."""
    kind = _KINDS.get((method, path.partition("?")[0]))
    if kind is None:
        raise Refusal(404, "not_found", f"There is no {method} {path}.")
    return kind


def content_key(value: Any) -> str:
    """Return the sha256 of a value's canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def tokens_of(text: str) -> int:
    """Return the number of words times 4/3, rounded."""
    return round(len(text.split()) * 4 / 3)


def window_tokens(messages: list[dict[str, Any]]) -> int:
    """Return what the messages take of a window: the tokens of a vocabulary smaller than ours, and a chat template."""
    return sum(math.ceil(1.2 * count_tokens(str(sent.get("content") or ""))) + 10 for sent in messages)


def respond(served: Served, kind: str, body: dict[str, Any]) -> Response:
    """Return the response to a request, with the fault that the plan has for it. Raises Refusal."""
    if kind == "chat":
        return _chat(served, body)
    if kind == "embed":
        return _embeddings(served, body)
    if kind == "show":
        return _shown(served)
    if kind == "props":
        return _props(served)
    fields: dict[str, Any] = {"max_model_len": served.max_model_len} if served.max_model_len else {}
    if served.slot_n_ctx:
        fields = {"owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}}
    listed = [{"id": model, "object": "model", "created": 0, "owned_by": "tests", **fields} for model in served.models]
    return Response(kind, 200, {"object": "list", "data": listed})


def failure(fault: str, retry_after: str) -> tuple[int, str, bytes, list[str]]:
    """Return status, content type, body and further headers of a fault that replaces the answer."""
    if fault == faults.EMPTY_BODY:
        return 200, "application/json", b"", []
    if fault in (faults.HTML_200, faults.HTML_502):
        return 200 if fault == faults.HTML_200 else 502, "text/html", _PAGE, []
    status = {faults.HTTP_500: 500, faults.HTTP_503: 503}.get(fault, 429)
    refusal = Refusal(status, fault, "The server is unwell. Try again later.")
    headers = [f"Retry-After: {retry_after}"] if fault == faults.RATE_LIMIT else []
    return status, "application/json", json.dumps(refusal.cells).encode(), headers


def _chat(served: Served, body: dict[str, Any]) -> Response:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(sent, dict) for sent in messages):
        raise Refusal(400, "invalid_messages", "messages must be a list of messages. Give at least one.")
    for option in served.refused_options:
        if option in body:
            raise Refusal(400, "unsupported_parameter", _UNSUPPORTED[option], option)
    for text, (status, code, message) in served.refuses.items():
        if any(text in str(sent.get("content")) for sent in messages):
            raise Refusal(status, code, message)
    form = (body.get("response_format") or {}).get("type", "text")
    if form not in served.response_formats and form != "text":
        raise Refusal(400, "unsupported_response_format", f"response_format {form!r} is not available with this model.")
    prompt_tokens = sum(tokens_of(str(sent.get("content") or "")) for sent in messages)
    if served.max_prompt_tokens is not None and prompt_tokens > served.max_prompt_tokens:
        message = f"The prompt has {prompt_tokens} tokens; the model takes {served.max_prompt_tokens}."
        raise Refusal(400, "context_length_exceeded", message)
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    asked_for = window_tokens(messages) + (limit or 0)
    if served.window is not None and asked_for > served.window:
        message = f"This model's maximum context length is {served.window} tokens. You asked for {asked_for} tokens."
        raise Refusal(400, "context_length_exceeded", message)
    reply = served.model.reply(messages, as_json=form != "text")
    fault = served.fault_for(content_key(messages), reply.task)
    text = spoiled_text(fault, reply.task, reply.text) if fault and fault not in faults.WIRE else reply.text
    finish = "length" if fault in (faults.CUT_JSON, faults.REPEATED_LOOP) else "stop"
    if limit and tokens_of(text) > limit and fault not in _HEEDLESS:
        text, finish = _cut(text, limit), "length"
    usage: dict[str, Any] = _usage(prompt_tokens, tokens_of(text))
    if cached := served.read_before("\n".join(str(sent.get("content") or "") for sent in messages)):
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    text, beside = with_reasoning(served.thoughts, text)
    model, outcome = str(body.get("model", "")), fault or "answered"
    head = {"id": f"chatcmpl-{content_key(messages)[:16]}", "created": int(time.time()), "model": model}
    counted = (prompt_tokens, usage["completion_tokens"])
    if body.get("stream"):
        with_usage = served.tells_usage and bool((body.get("stream_options") or {}).get("include_usage"))
        return Response(
            reply.task, 200, {}, outcome, *counted, _events(head, text, beside, finish, usage if with_usage else None)
        )
    answer = {"role": "assistant", "content": text, **({"reasoning_content": beside} if beside else {})}
    choice = {"index": 0, "message": answer, "finish_reason": finish, "logprobs": None}
    cells = {
        **head,
        "object": "chat.completion",
        "choices": [choice],
        **({"usage": usage} if served.tells_usage else {}),
    }
    return Response(reply.task, 200, cells, outcome, *counted)


def _cut(text: str, limit: int) -> str:
    """Return the beginning of a text that has so many tokens."""
    words = text.split(" ")
    return " ".join(words[: max(1, limit * 3 // 4)])


def _usage(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def with_reasoning(form: str, text: str) -> tuple[str, str]:
    """Return a reply with reasoning, as content and reasoning_content. form: tags, unopened (the opening tag
    swallowed), unclosed, field (in reasoning_content), misfiled (the reply, too, in reasoning_content), or "" for
    none."""
    thoughts = 'Okay, the user wants this. <b>Bees</b> and {braces} come to mind, "quoted" ones.'
    forms = {
        "": (text, ""),
        "tags": (f"<think>\n{thoughts}\n</think>\n\n{text}", ""),
        "unopened": (f"{thoughts}\n</think>\n\n{text}", ""),
        "unclosed": (f"<think>\n{thoughts}", ""),
        "field": (text, thoughts),
        "misfiled": ("", f"{thoughts}\n</think>\n\n{text}"),
    }
    return forms[form]


def _events(
    head: dict[str, Any], text: str, beside: str, finish: str, usage: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Return the role, the text some words at a time, the reason of its end and, where asked for, the usage."""
    words = text.split(" ")
    starts = [
        *range(0, min(len(words), _WORDS_IN_SMALL_PIECES), _WORDS_A_PIECE),
        *range(_WORDS_IN_SMALL_PIECES, len(words), _WORDS_A_LONG_PIECE),
    ]
    pieces = [" ".join(words[start:end]) for start, end in pairwise([*starts, len(words)])]
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": beside}] if beside else []
    deltas += [{"content": piece if at == 0 else f" {piece}"} for at, piece in enumerate(pieces)]
    head = {**head, "object": "chat.completion.chunk"}
    events = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return [*events, {**head, "choices": [], "usage": usage}] if usage else events


def _embeddings(served: Served, body: dict[str, Any]) -> Response:
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(value, str) and value for value in texts):
        raise Refusal(400, "invalid_input", "input must be a text or a list of texts, none of them empty.")
    dimension = int(body.get("dimensions") or served.dimension)
    rows: list[dict[str, Any]] = [
        {"object": "embedding", "index": at, "embedding": list(_remembered(text, dimension))}
        for at, text in enumerate(texts)
    ]
    fault = served.fault_for(content_key(texts), "embed")
    if fault and fault not in faults.WIRE:
        rows = spoiled_vectors(fault, rows)
    if body.get("encoding_format") == "base64":
        for row in rows:
            row["embedding"] = base64.b64encode(array("f", row["embedding"]).tobytes()).decode()
    tokens = sum(map(tokens_of, texts))
    usage = {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}} if served.tells_usage else {}
    cells = {"object": "list", "data": rows, "model": str(body.get("model", "")), **usage}
    return Response("embed", 200, cells, fault or "answered", tokens)


@lru_cache(maxsize=10_000)
def _remembered(text: str, dimension: int) -> tuple[float, ...]:
    return tuple(vector_of(text, dimension))


def _shown(served: Served) -> Response:
    if not served.ollama:
        raise Refusal(404, "not_found", "There is no POST /api/show.")
    parameters = "temperature                    0"
    if served.num_ctx is not None:
        parameters = f"num_ctx                        {served.num_ctx}\n{parameters}"
    info = {"general.architecture": "scripted", "scripted.context_length": served.context_length}
    return Response("show", 200, {"parameters": parameters, "model_info": info, "details": {"family": "scripted"}})


def _props(served: Served) -> Response:
    if served.slot_n_ctx is None:
        raise Refusal(404, "not_found", "There is no GET /props.")
    settings = {"n_ctx": served.slot_n_ctx, "params": {"n_predict": -1}}
    return Response(
        "props",
        200,
        {"default_generation_settings": settings, "total_slots": served.slots or 2, "model_path": "m.gguf"},
    )
