"""What a build will cost, before it is begun: by stage, as low / expected / high."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """An estimate. Ranges add up with +, which is too wide rather than too narrow."""

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def scaled(self, factor: float) -> "Range":
        """Every bound times the factor."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)


ZERO = Range()


@dataclass(frozen=True)
class StageForecast:
    """Calls, tokens and US dollars of one stage. saved: calls whose answers are stored already."""

    stage: str
    calls: Range
    prompt_tokens: Range
    completion_tokens: Range
    dollars: Range
    saved: int = 0


@dataclass(frozen=True)
class Forecast:
    """A whole build. sampled: chunks whose replies are known, on which the estimate of the rest stands."""

    chunks: int
    sampled: int
    entities: Range
    stages: tuple[StageForecast, ...]
    seconds: Range

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
