"""How much a served model reads: what vLLM, llama.cpp, Ollama and LM Studio say of it, each in its own way."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

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
