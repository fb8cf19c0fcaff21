"""What a job may spend, and what it has spent so far."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from leanrag_core.errors import InvalidConfig
from leanrag_core.types.usage import NO_USAGE, Usage


@dataclass(frozen=True)
class Budget:
    """What a job or question may spend; 0 means no limit. dollars: US dollars; tokens: prompt and completion together;
    calls: that an endpoint answered.

    Raises InvalidConfig for a budget that is no number or below zero.
    """

    dollars: float = 0.0
    tokens: int = 0
    calls: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.dollars) and min(self.dollars, self.tokens, self.calls) >= 0):
            raise InvalidConfig("budget.invalid", dollars=self.dollars, tokens=self.tokens, calls=self.calls)


NO_BUDGET = Budget()


@dataclass(frozen=True)
class Spending:
    """A meter's reading. by_stage: usage of each stage's calls. reused: answers that were in the call store. faults:
    failed tries; last_faults: what was wrong with the last ones."""

    usage: Usage = NO_USAGE
    by_stage: Mapping[str, Usage] = field(default_factory=dict)
    reused: int = 0
    faults: int = 0
    last_faults: tuple[str, ...] = ()


NO_SPENDING = Spending()
