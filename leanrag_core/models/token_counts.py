"""The tokens that a server counted in a call, and how many of them it had read before."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Where servers say how many tokens of a prompt came from their cache: OpenAI, Azure, Groq, xAI, vLLM and llama.cpp in
# the first place, DeepSeek in the second, Moonshot and Together in the third, gateways to Anthropic in the last.
_CACHED = (
    ("prompt_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),
    ("cached_tokens",),
    ("cache_read_input_tokens",),
)


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of one call. cached: of the prompt, those that the server had read before, at a price of their own."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


def token_counts(usage: Any) -> TokenCounts:
    """Return what the `usage` of a reply says, an object or its JSON; what it does not say is 0."""
    prompt = _count(usage, ("prompt_tokens",))
    cached = next((n for place in _CACHED if (n := _count(usage, place))), 0)
    return TokenCounts(prompt, _count(usage, ("completion_tokens",)), min(cached, prompt))


def _count(usage: Any, place: tuple[str, ...]) -> int:
    value = usage
    for name in place:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
