"""What a job will take, before it begins: by stage, as low / expected / high."""

import math
from dataclasses import dataclass

from leanrag_core.files.records import absent_at_default
from leanrag_core.messages.message import Message

SECONDS_A_TEXT = 0.02  # to embed it with the built-in model
MULTILINGUAL_TIMES = 2.4  # as long as that, with multilingual-e5-small
_HEAPS_EXPONENT = 0.82  # distinct entities grow with this power of the text (Heaps' law)


def grown(n: float, read: float, whole: float) -> float:
    """Estimate the distinct entities of the whole text from the n in its part `read`. read, whole: in any unit, such as
    chunks.
    """
    return n * math.pow(whole / read, _HEAPS_EXPONENT)


@dataclass(frozen=True)
class Range:
    """An estimate. Ranges add up with +, which is too wide rather than too narrow."""

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    @property
    def bounds(self) -> tuple[float, float, float]:
        """The three numbers, the lowest first."""
        return self.low, self.expected, self.high

    def times(self, other: "Range") -> "Range":
        """Return the products of the bounds, one by one."""
        return Range(*(a * b for a, b in zip(self.bounds, other.bounds, strict=True)))

    def scaled(self, factor: float) -> "Range":
        """Return every bound times the factor."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)


ZERO = Range()


def exactly(value: float) -> Range:
    """Return a range that holds one value alone."""
    return Range(value, value, value)


@dataclass(frozen=True)
class StageForecast:
    """Calls, tokens and US dollars of one stage. saved: calls whose answers are stored already.

    seconds: of a stage that works on this machine and calls no model at an endpoint; None where it calls one.
    """

    stage: str
    calls: Range = ZERO
    prompt_tokens: Range = ZERO
    completion_tokens: Range = ZERO
    dollars: Range = ZERO
    saved: int = 0
    seconds: Range | None = None


@dataclass(frozen=True)
class Forecast:
    """What a job takes. sampled: chunks whose extraction is known, from which the rest is estimated. seconds: of the
    whole job. basis: what the estimate rests on. relations_each: of an entity, where some are known from replies of a
    model. Old records have no basis and list only stages that call models."""

    chunks: int
    sampled: int
    entities: Range
    stages: tuple[StageForecast, ...]
    seconds: Range
    basis: Message | None = None
    relations_each: Range | None = absent_at_default()

    @property
    def calling(self) -> tuple[StageForecast, ...]:
        """The stages that call a model at an endpoint."""
        return tuple(stage for stage in self.stages if stage.seconds is None)

    @property
    def calls(self) -> Range:
        """All calls that will be made."""
        return sum((stage.calls for stage in self.stages), ZERO)

    @property
    def tokens(self) -> Range:
        """Prompt and completion tokens of those calls."""
        return sum((stage.prompt_tokens + stage.completion_tokens for stage in self.stages), ZERO)

    @property
    def dollars(self) -> Range:
        """US dollars by the price table."""
        return sum((stage.dollars for stage in self.stages), ZERO)

    @property
    def saved(self) -> int:
        """Calls that the store saves."""
        return sum(stage.saved for stage in self.stages)
