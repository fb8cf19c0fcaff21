"""Progress of long work, as pages, command line and job log get it."""

from collections.abc import Callable
from dataclasses import dataclass

from leanrag_core.types.spending import Spending


@dataclass(frozen=True)
class Progress:
    """How much of a stage is done. total 0: unknown. current: what is being written.

    waiting: nothing is done, since another job builds the same index. spent: a meter's reading, where models at an
    endpoint are used. found, relations: how many names of entities, and relations, have been found so far; before
    merging while chunks are read.
    """

    stage: str
    done: int
    total: int
    unit: str = ""
    current: str = ""
    spent: Spending | None = None
    found: int | None = None
    relations: int | None = None
    waiting: bool = False


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Ignore the report; for callers that do not listen."""
