"""A map over the workers of a Dask cluster. Dask pickles what it sends between its own processes; nothing else does.

Anybody who reaches a scheduler's port can run code on every worker: see docs/scale.md for TLS and private networks.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from leanrag_core.errors import ClusterUnavailable, WorkersLost
from leanrag_core.execution.cluster_status import require_scheduler
from leanrag_core.system.threads import ordered_results

_CONNECT_SECONDS = 15.0  # a busy scheduler is slow to answer
_FIRST_WORKER_SECONDS = 60.0
_POLL_SECONDS = 1.0  # between two checks of the scheduler while a result is awaited
_COUNT_SECONDS = 5.0  # between two counts of the workers, which come and go
_AHEAD = 3  # items a worker's thread may have waiting


class DaskMap:
    """Maps a function over items on the workers of the scheduler at that address: results in the items' order.

    A batch whose worker is lost goes to another one, up to the number of times that Dask's allowed-failures says.
    Raises ClusterUnavailable when no scheduler or worker answers, WorkersLost when the scheduler is lost, when a batch
    ends one worker after the other, or when no worker was there for no_workers_seconds.
    """

    def __init__(self, scheduler: str, *, no_workers_seconds: float = 300.0) -> None:
        self.scheduler, self.no_workers_seconds = scheduler, no_workers_seconds
        self._client: Any = None
        self._turn = threading.Lock()
        self._threads, self._counted = 1, -_COUNT_SECONDS

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        client = self._connected()
        yield from ordered_results(
            items,
            lambda item: self._submitted(client, function, item),
            lambda waiting: self._result(client, waiting.popleft()),
            lambda future: future.release(),  # Dask drops work whose result is no longer wanted
            max_waiting=lambda: self._n_threads(client) * _AHEAD,
        )

    def _connected(self) -> Any:
        """Return the client, with at least one worker behind it."""
        with self._turn:
            if self._client is not None:
                return self._client
            require_scheduler(self.scheduler, _CONNECT_SECONDS)
            from distributed import Client

            try:
                client = Client(self.scheduler, timeout=_CONNECT_SECONDS, set_as_default=False, name="leanrag")
            except (OSError, TimeoutError) as error:
                raise ClusterUnavailable("scheduler.went_away", scheduler=self.scheduler) from error
            try:
                client.wait_for_workers(1, timeout=_FIRST_WORKER_SECONDS)
            except (OSError, TimeoutError) as error:
                client.close()
                raise ClusterUnavailable("scheduler.no_workers", scheduler=self.scheduler) from error
            self._client = client
            return client

    def _n_threads(self, client: Any) -> int:
        """Return the threads of all workers, as they were counted a short time ago."""
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            self._counted = time.monotonic()
            self._threads = max(1, self._count(client))
        return self._threads

    def _count(self, client: Any) -> int:
        """Count the threads of all workers, now."""
        try:
            return sum(client.nthreads().values())
        except Exception as error:  # Dask raises many kinds of errors when a scheduler has disappeared
            if client.status != "running" or isinstance(error, OSError | TimeoutError):
                raise self._lost() from error
            raise

    def _submitted(self, client: Any, function: Callable[[Any], Any], item: Any) -> Any:
        try:
            return client.submit(function, item, pure=False)
        except Exception as error:  # Dask raises many kinds of errors when a client was closed meanwhile
            if client.status != "running":
                raise self._lost() from error
            raise

    def _result(self, client: Any, future: Any) -> Any:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        alone_since: float | None = None
        while True:
            try:
                return future.result(timeout=_POLL_SECONDS)
            except KilledWorker as error:
                raise WorkersLost("workers.ended_by_batch") from error
            except FutureCancelledError as error:
                raise self._lost() from error
            except (ImportError, RuntimeError) as error:
                if isinstance(error, RuntimeError) and "deserialization" not in str(error):
                    raise
                raise ClusterUnavailable("scheduler.lacks_program", scheduler=self.scheduler) from error
            except TimeoutError:
                if future.status == "error":
                    raise
                if client.status != "running":
                    raise self._lost() from None
            alone_since = None if self._count(client) else alone_since or time.monotonic()
            if alone_since is not None and time.monotonic() - alone_since > self.no_workers_seconds:
                raise WorkersLost("scheduler.no_workers_for", scheduler=self.scheduler, seconds=self.no_workers_seconds)

    def _lost(self) -> WorkersLost:
        return WorkersLost("scheduler.lost", scheduler=self.scheduler)

    def close(self) -> None:
        """Close the connection; scheduler and workers go on for others."""
        with self._turn:
            client, self._client = self._client, None
        if client is not None:
            client.close(timeout=2)
