"""News from long work, as it is told to pages, command line and job log alike."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """A stage of a build has done so much. total 0: unknown. current: what is being written.

    spent: a meter's reading as JSON values, where models at an endpoint are used. found, relations: how many names of
    entities, and relations, have been found so far; before merging while chunks are read.
    """

    stage: str
    done: int
    total: int
    unit: str = ""
    current: str = ""
    spent: dict[str, Any] | None = None
    found: int | None = None
    relations: int | None = None


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """A report for callers that do not listen."""
