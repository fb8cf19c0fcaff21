"""How the work of a kind reads the settings and arguments of its jobs."""

from typing import TypeVar

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.jobs.events import JobSpec
from leanrag_core.records import from_values

T = TypeVar("T")


def argument(kind: type[T], spec: JobSpec, name: str) -> T:
    """The argument of that name of a job. Raises InvalidConfig for one of another version."""
    return _read(kind, spec.arguments.get(name) or {}, name)


def configured(kind: type[T], spec: JobSpec) -> T:
    """What the job shall do, from its settings. Raises InvalidConfig for a record of another version."""
    return _read(kind, dict(spec.config), "config")


def _read(kind: type[T], values: object, name: str) -> T:
    try:
        return from_values(kind, values, name=name, closed=True)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error
