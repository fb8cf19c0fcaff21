"""Parts whose texts a language model writes where there is one, and the built-in engine where there is none."""

import hashlib

from leanrag_core.indexing.part_base import PartModels
from leanrag_core.types.forecast import SECONDS_A_TEXT, ZERO, Forecast, Range, StageForecast
from leanrag_core.types.index import Index

_A_NODE = Range(0.1, 0.3, 0.8)  # groups of all levels for each node
_REPLY_TOKENS = Range(200, 600, 1500)


def with_language(fingerprint: str, index: Index, models: PartModels) -> str:
    """Return the fingerprint of a part whose texts a language model writes where there is one; the part does not need
    it.
    """
    if models.language is None:
        return fingerprint
    decides = [fingerprint, models.language.fingerprint, *map(repr, index.manifest.config.prompts)]
    return hashlib.sha256("\n".join(decides).encode()).hexdigest()[:16]


def text_forecast(n_nodes: int, prompt_tokens: int, models: PartModels, *, more_calls: int = 0) -> Forecast:
    """Estimate what texts on groups of so many nodes take: seconds with the built-in writer, calls with a model."""
    groups = _A_NODE.scaled(n_nodes) + Range(0.1, 0.5, 1.0)
    seconds = groups.scaled(SECONDS_A_TEXT) + Range(0.1, 0.5, 3.0)
    stages: tuple[StageForecast, ...] = ()
    if models.language is not None:
        calls = groups + Range(more_calls, more_calls, more_calls)
        prompts = Range(calls.low * 200, calls.expected * min(1500, prompt_tokens), calls.high * prompt_tokens)
        replies = Range(*(a * b for a, b in zip(_bounds(calls), _bounds(_REPLY_TOKENS), strict=True)))
        stages = (StageForecast("make", calls, prompts, replies, ZERO),)
        seconds = seconds + calls.scaled(2.0)
    return Forecast(chunks=0, sampled=0, entities=Range(), stages=stages, seconds=seconds)


def _bounds(values: Range) -> tuple[float, float, float]:
    return values.low, values.expected, values.high
