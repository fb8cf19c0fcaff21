"""The window of a model: how many tokens it reads and writes together, and what of them a prompt may take.

One place decides. Builders of prompts ask it for their room before they choose what goes in; the model asks it again
just before a request is sent, and sends none that cannot fit. What a server reads vLLM, llama.cpp, Ollama and LM Studio
say, each in its own way.
"""

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable
from urllib.parse import quote

from leanrag_core.text.tokens import count_tokens, trim_to_tokens

LEAST_REPLY = 96  # tokens; a request that leaves less for its reply is not sent
USUAL_FACTOR = 1.25  # a model's own tokens for one of ours (cl100k), where nothing was measured
_TEMPLATE = 16  # tokens that a chat template adds to a message
_REPLY_SHARE = 4  # a quarter of the window at least is kept for the reply
_STEP = 32  # replies are limited in such steps, so that a word more or less is the same question


@dataclass(frozen=True)
class Window:
    """tokens: of prompt and reply together, as the model counts. reply_tokens: the longest reply that is asked for.
    factor: the model's tokens for one of ours."""

    tokens: int
    reply_tokens: int
    factor: float = USUAL_FACTOR

    @property
    def prompt_tokens(self) -> int:
        """Tokens by our count that a prompt may have: the rest is the reply's."""
        reply = min(self.reply_tokens, max(self.tokens // _REPLY_SHARE, LEAST_REPLY))
        return max(0, int((self.tokens - reply) / self.factor) - _TEMPLATE)

    def reply_limit(self, messages: Sequence[dict[str, str]]) -> int:
        """Return the tokens that the reply to those messages may have; below LEAST_REPLY they do not fit."""
        own_tokens = sum(count_tokens(message["content"]) + _TEMPLATE for message in messages)
        left = self.tokens - math.ceil(own_tokens * self.factor)
        return self.reply_tokens if left >= self.reply_tokens else left // _STEP * _STEP


@runtime_checkable
class Windowed(Protocol):
    """A language model that knows its window."""

    @property
    def window(self) -> Window | None:
        """None where nobody says."""

    def on_cut(self) -> None:
        """Count a prompt that was cut to fit."""


@runtime_checkable
class Prompted(Protocol):
    """A language model that knows in which form prompts suit it."""

    @property
    def short_prompts(self) -> bool:
        """Whether prompts are short, and what is asked for is bounded."""


def wants_short_prompts(model: object) -> bool:
    """Tell whether the model is asked by the short forms of prompts."""
    return isinstance(model, Prompted) and model.short_prompts


class Fillable(Protocol):
    """A prompt with fields."""

    def fill(self, **values: object) -> str:
        """Return the text with every field replaced."""


def window_of(model: object) -> Window | None:
    """Return the model's window; None for one that reads everything, as far as anybody knows."""
    return model.window if isinstance(model, Windowed) else None


def count_cut(model: object) -> None:
    """Count a prompt that was cut to fit the model's window."""
    if isinstance(model, Windowed):
        model.on_cut()


def room(model: object, *, beside: int, wanted: int) -> int:
    """Return the tokens that the material of a prompt may take: those that are wanted, or what the model's window
    leaves. beside: tokens of the prompt's other text."""
    window = window_of(model)
    return wanted if window is None else max(0, min(wanted, window.prompt_tokens - beside))


def room_in(model: object, template: Fillable, *, wanted: int, **values: object) -> int:
    """Return room() in a prompt whose fields have those values; the material's field has an empty one."""
    if window_of(model) is None:
        return wanted
    return room(model, beside=count_tokens(template.fill(**values)), wanted=wanted)


def fill_within(model: object, template: Fillable, *, keep: Collection[str] = (), **values: object) -> str:
    """Fill the prompt so that it fits the model's window: the longest values are cut to one length, from their ends.

    keep: fields whose values stay whole.
    """
    text = template.fill(**values)
    window = window_of(model)
    if window is None or (total := count_tokens(text)) <= window.prompt_tokens:
        return text
    sizes = {name: count_tokens(str(value)) for name, value in values.items() if name not in keep}
    limit = _common_length(sorted(sizes.values()), window.prompt_tokens - (total - sum(sizes.values())))
    count_cut(model)
    while True:
        cut = {name: trim_to_tokens(str(values[name]), limit) for name, size in sizes.items() if size > limit}
        text = template.fill(**{**values, **cut})
        if limit <= 0 or count_tokens(text) <= window.prompt_tokens:
            return text
        limit -= max(1, limit // 50)  # at a seam two texts may count more than apart


def _common_length(sizes: Sequence[int], tokens: int) -> int:
    """Return the largest length to which texts can be cut so that all fit. sizes: ascending."""
    tokens_left = tokens
    for place, size in enumerate(sizes):
        share = tokens_left // (len(sizes) - place)
        if size > share:
            return max(0, share)
        tokens_left -= size
    return max(sizes, default=0)


_OLLAMA_DEFAULT = 2048  # tokens that Ollama reads where a model's file sets no num_ctx
Fetch = Callable[..., Any]  # (path, body or None) -> the JSON of the server's root, None for any error


def context_window(model: str, listed: Any, fetch: Fetch, *, local: bool, load: bool = False) -> int | None:
    """Return the tokens that the model reads, or None where the server does not say. listed: the model's entry in
    /v1/models.

    local: the server is on this machine, where its own protocol may be asked for, too. load: the model is about to be
    used, so that a server which only tells of a model in memory may load it.
    """
    tokens = count_of(getattr(listed, "max_model_len", None))  # vLLM
    if tokens is not None:
        return tokens
    if local or getattr(listed, "owned_by", "") == "llamacpp":
        tokens = _of_llama_cpp(model, listed, fetch)
    if tokens is None and local:
        tokens = _of_ollama(model, fetch, load=load) or _of_lm_studio(model, fetch)
    return tokens


def _of_llama_cpp(model: str, listed: Any, fetch: Fetch) -> int | None:
    """Return the window of a slot: a prompt goes to one of several, which share the tokens that the server has."""
    # A server with several models would load the model that is asked about, unless autoload is off.
    for path in (f"/props?model={quote(model, safe='')}&autoload=false", "/props"):
        cells = fetch(path, None)
        settings = cells.get("default_generation_settings") if isinstance(cells, dict) else None
        tokens = count_of(settings.get("n_ctx")) if isinstance(settings, dict) else None
        if tokens is not None:
            return tokens
        if not isinstance(cells, dict):
            break
    meta = getattr(listed, "meta", None)
    return count_of(meta.get("n_ctx")) if isinstance(meta, dict) else None


def _of_ollama(model: str, fetch: Fetch, *, load: bool) -> int | None:
    """Return the window of Ollama, which cuts prompts at num_ctx without an error; its own protocol has the figure.

    What a loaded model reads is certain: it depends on the machine's memory and on variables of the server. OpenAI's
    protocol, by which it is asked, has no option for it.
    """
    loaded = _loaded_in_ollama(model, fetch)
    if loaded:
        return loaded
    cells = fetch("/api/show", {"model": model})
    if not isinstance(cells, dict):
        return None
    tokens = re.search(r"num_ctx\s+(\d+)", str(cells.get("parameters", "")))
    if tokens:
        return int(tokens[1])
    if not cells.get("model_info"):
        return None
    if load and loaded is not None:
        fetch("/api/generate", {"model": model}, None)  # without a prompt: it is loaded, as the next call would do
        return _loaded_in_ollama(model, fetch) or _OLLAMA_DEFAULT
    return _OLLAMA_DEFAULT


def _loaded_in_ollama(model: str, fetch: Fetch) -> int | None:
    """Return the window of a model in memory, 0 where it is not; None where the server does not tell."""
    cells = fetch("/api/ps", None)
    running = cells.get("models") if isinstance(cells, dict) else None
    if not isinstance(running, list):
        return None
    names = (model, f"{model}:latest")
    mine = (each for each in running if isinstance(each, dict) and each.get("model", each.get("name")) in names)
    return next((count_of(each.get("context_length")) or 0 for each in mine), 0)


def _of_lm_studio(model: str, fetch: Fetch) -> int | None:
    """Return the window with which LM Studio has loaded the model."""
    cells = fetch(f"/api/v0/models/{quote(model, safe='/')}", None)
    return count_of(cells.get("loaded_context_length")) if isinstance(cells, dict) else None


def count_of(value: Any) -> int | None:
    """Return a number of a server's reply where it is a count above 0, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
