"""Calls, tokens, seconds and money, counted where they arise."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """What some work cost. Values add up with +, and - gives what came between two readings. cost is in US dollars."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
            self.cost + other.cost,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls - other.calls,
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            self.seconds - other.seconds,
            self.cost - other.cost,
        )


NO_USAGE = Usage()
