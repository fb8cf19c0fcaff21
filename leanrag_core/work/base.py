"""What the runner asks of the work of a kind of job."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.jobs.events import JobSpec
from leanrag_core.records import from_values
from leanrag_core.types.progress import Report

T = TypeVar("T")


class Work(Protocol):
    """Does the jobs of one kind."""

    def run(self, folder: Path, spec: JobSpec, report: Report) -> "Done":
        """The job's work is done. folder: of the job, for events of its own. Raises LeanRAGError."""

    def clean_up(self, spec: JobSpec) -> None:
        """What is half made is gone; called when the process must end at once."""


@dataclass(frozen=True)
class Done:
    """What a job made. result: its id, of an index for instance. report: plain JSON values for the job's record."""

    result: str
    report: dict[str, Any]


def argument(kind: type[T], spec: JobSpec, name: str) -> T:
    """The argument of that name of a job. Raises InvalidConfig for one of another version."""
    try:
        return from_values(kind, spec.arguments.get(name, {}), closed=True)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error
