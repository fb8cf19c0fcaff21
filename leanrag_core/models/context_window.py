"""How many tokens of a prompt a server reads, where it says so: vLLM, llama.cpp and Ollama each in its own way."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

_OLLAMA_DEFAULT = 2048  # tokens that Ollama reads where a model's file sets no num_ctx
Fetch = Callable[..., Any]  # (path, body or None) -> the JSON of the server's root, None for any error


def context_window(model: str, listed: Any, fetch: Fetch, *, local: bool) -> int | None:
    """Return the tokens that the model reads, or None where the server does not say. listed: the model's entry in
    /v1/models.

    local: the server is on this machine, where its own protocol may be asked for, too.
    """
    tokens = _count(getattr(listed, "max_model_len", None))  # vLLM
    if tokens is not None:
        return tokens
    if local or getattr(listed, "owned_by", "") == "llamacpp":
        tokens = _of_llama_cpp(model, listed, fetch)
    return _of_ollama(model, fetch) if tokens is None and local else tokens


def _of_llama_cpp(model: str, listed: Any, fetch: Fetch) -> int | None:
    """Return the window of a slot: a prompt goes to one of several, which share the tokens that the server has."""
    # A server with several models would load the model that is asked about, unless autoload is off.
    for path in (f"/props?model={quote(model, safe='')}&autoload=false", "/props"):
        cells = fetch(path, None)
        settings = cells.get("default_generation_settings") if isinstance(cells, dict) else None
        tokens = _count(settings.get("n_ctx")) if isinstance(settings, dict) else None
        if tokens is not None:
            return tokens
        if not isinstance(cells, dict):
            break
    meta = getattr(listed, "meta", None)
    return _count(meta.get("n_ctx")) if isinstance(meta, dict) else None


def _of_ollama(model: str, fetch: Fetch) -> int | None:
    """Return the window of Ollama, which cuts prompts at num_ctx without an error; its own protocol has the figure."""
    cells = fetch("/api/show", {"model": model})
    if not isinstance(cells, dict):
        return None
    tokens = re.search(r"num_ctx\s+(\d+)", str(cells.get("parameters", "")))
    if tokens:
        return int(tokens[1])
    return _OLLAMA_DEFAULT if cells.get("model_info") else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
