"""How the batches of a build are executed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.system.addresses import SCHEDULER, Fault, fault_of
from leanrag_core.types.config import option, validate

THREADS, PROCESSES, DASK = "threads", "processes", "dask"

# A map over work: applies a function to items and yields the results in the items' order.
Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Execution:
    """Threads of this process, processes of this machine, or the workers of a Dask cluster: the same index from each.

    It is no part of IndexConfig, since it changes nothing in an index.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic

    kind: str = option(
        THREADS, choices=(THREADS, PROCESSES, DASK), help="Who reads, embeds and clusters: threads, processes or dask."
    )
    workers: int = option(
        0,
        low=0,
        high=1024,
        help="Threads or processes; 0 means one for each processor core. A cluster sets its own.",
    )
    scheduler: str = option("", help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786 or tls://head:8786.")

    def __post_init__(self) -> None:
        validate(self)
        if fault_of(self.scheduler, SCHEDULER) in (Fault.SECRET, Fault.MORE):
            raise InvalidConfig("scheduler.address_holds_secrets")
        if self.kind == DASK and not self.scheduler.startswith(SCHEDULER.schemes):
            raise InvalidConfig("scheduler.no_address")
        if self.kind != DASK and self.scheduler:
            raise InvalidConfig("scheduler.not_dask_execution", kind=self.kind)
