"""News from long work, as it is told to pages, command line and job log alike."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """A stage of a build has done so much. total 0: unknown. current: what is being written."""

    stage: str
    done: int
    total: int
    unit: str = ""
    current: str = ""


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """A report for callers that do not listen."""
