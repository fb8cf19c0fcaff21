"""Strategies on one question side by side, for Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from leanrag_core.comparing.sharing import Shared, compare
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import ShownInNotebooks


@dataclass(frozen=True)
class Comparison(ShownInNotebooks):
    """traces: by the letters of their columns, all of one question. answers: by the same letters, or none."""

    traces: Mapping[str, Trace]
    answers: Mapping[str, Answer]

    @cached_property
    def shared(self) -> Shared:
        """Who retrieved what."""
        return compare(self.traces)
