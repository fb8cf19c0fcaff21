"""Opens the map that the choice of threads, processes or Dask names, and closes it again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from leanrag_core.execution.cluster import DaskMap
from leanrag_core.execution.processes import ProcessMap
from leanrag_core.execution.threads import ThreadMap
from leanrag_core.types.settings import PROCESSES, THREADS, Apply, Execution


@dataclass(frozen=True)
class Executor:
    """A map over batches. apart: workers are processes of their own, which import functions and load models.

    Where they are not, work whose library uses every core by itself, or holds the interpreter, is not spread.
    """

    apply: Apply
    apart: bool = False


HERE = Executor(map)


@contextmanager
def opened(execution: Execution) -> Iterator[Executor]:
    """Open the map of that choice; its workers end with the block.

    Nothing is started or connected before the first batch, so an error (ClusterUnavailable, WorkersLost) comes then.
    """
    if execution.kind == THREADS:
        yield Executor(ThreadMap(execution.workers or os.cpu_count() or 1))
        return
    workers = ProcessMap(execution.workers) if execution.kind == PROCESSES else DaskMap(execution.scheduler)
    try:
        yield Executor(workers, apart=True)
    finally:
        workers.close()
