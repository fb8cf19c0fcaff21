"""What the files give for a claim, one function for each measure of the manifest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from leanrag_core.evaluation.audit.files import JudgeFile


@dataclass(frozen=True)
class Found:
    """What the files give. low, high: 95 % interval, None where nothing was sampled. n: questions, nodes or cells that
    it is of. p: that two systems do not differ, before correction; in_both_orders: whether the one that is ahead is
    so in either order of the answers."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0
    p: float | None = None
    in_both_orders: bool = True


Arguments = Mapping[str, str]
Files = tuple[JudgeFile, ...]


class Measure(Protocol):
    """Makes the figure of a claim. Raises ValueError or InvalidConfig for content that it cannot read."""

    def __call__(self, files: Files, arguments: Arguments, /) -> Found:
        """Return what the files give."""


def measures() -> Mapping[str, Callable[[Files, Arguments], Found]]:
    """Return all measures by the names that the manifest gives them."""
    from benchmarks.claims import judged, printed, recorded

    return {**judged.MEASURES, **recorded.MEASURES, **printed.MEASURES}
