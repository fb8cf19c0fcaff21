"""How the work of a kind reads the arguments of its jobs."""

from typing import TypeVar

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.jobs.events import JobSpec
from leanrag_core.records import from_values

T = TypeVar("T")


def argument(kind: type[T], spec: JobSpec, name: str) -> T:
    """The argument of that name of a job. Raises InvalidConfig for one of another version."""
    try:
        return from_values(kind, spec.arguments.get(name) or {}, name=name, closed=True)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error
