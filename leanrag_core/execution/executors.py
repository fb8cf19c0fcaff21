"""Maps over threads, for work that waits for a server, and over processes, for work that computes."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanrag_core.errors import WorkersLost
from leanrag_core.execution.cluster import DaskMap
from leanrag_core.system.threads import ordered_results
from leanrag_core.types.settings import PROCESSES, THREADS, Apply, Execution

_WAITING_A_THREAD = 4  # items a worker may have waiting; more would only hold memory


class ThreadMap:
    """Maps a function over items in `workers` threads: results in the items' order, errors in the place of their item.

    After an error no item is begun; those that were begun end first.
    """

    def __init__(self, workers: int) -> None:
        self.workers = max(1, workers)

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        if self.workers == 1:
            yield from map(function, items)
            return
        pool = ThreadPoolExecutor(self.workers)
        try:
            yield from ordered_results(
                items,
                lambda item: pool.submit(function, item),
                lambda waiting: waiting.popleft().result(),
                Future.cancel,
                max_waiting=lambda: self.workers * _WAITING_A_THREAD,
            )
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_WAITING_A_PROCESS = 3  # items a worker may have waiting; more would only hold memory
_MAX_LOSSES = 3  # of a worker, within one call; a batch that ends every worker would go on for ever


class ProcessMap:
    """Maps a function over items in `workers` processes (0: one a core): results in the items' order.

    Processes are spawned at the first call and serve every later one, so that each loads its models once. When one of
    them is lost, what was under way is done again. The function and the items must pickle; a program that uses this
    guards its main module with `if __name__ == "__main__"`. Raises WorkersLost when workers are lost again and again.
    """

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._turn = threading.Lock()

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        losses = 0

        def take_first(waiting: deque[_Sent]) -> Any:
            nonlocal losses
            while True:
                try:
                    result = waiting[0].future.result()
                except BrokenProcessPool as error:
                    losses += 1
                    if losses > _MAX_LOSSES:
                        raise WorkersLost("workers.ended", n=losses) from error
                    again = [sent if sent.is_done else self._sent(function, sent.item, sent.pool) for sent in waiting]
                    waiting.clear()
                    waiting.extend(again)
                else:
                    waiting.popleft()
                    return result

        yield from ordered_results(
            items,
            lambda item: self._sent(function, item),
            take_first,
            lambda sent: sent.future.cancel(),
            max_waiting=lambda: self.workers * _WAITING_A_PROCESS,
        )

    def _sent(self, function: Callable[[Any], Any], item: Any, broken: ProcessPoolExecutor | None = None) -> "_Sent":
        """Send the item to a worker of another pool than the broken one."""
        while True:
            pool = self._running(broken)
            try:
                with _interrupts_are_for_the_parent():
                    return _Sent(item, pool, pool.submit(function, item))
            except RuntimeError as error:
                # Another caller that found the pool broken may have shut it down in the meantime.
                if self._pool is pool and not isinstance(error, BrokenProcessPool):
                    raise
                broken = pool

    def _running(self, broken: ProcessPoolExecutor | None = None) -> ProcessPoolExecutor:
        """Return the pool of all callers; a new one where there is none, or where it is the broken one."""
        with self._turn:
            if self._pool is not None and self._pool is broken:
                self._pool.shutdown(wait=False)  # it raises BrokenProcessPool for every caller by itself
                self._pool = None
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    self.workers, mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent
                )
            return self._pool

    def close(self) -> None:
        """End the processes."""
        with self._turn:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class _Sent:
    """An item, the pool that it was given to, and what came of it."""

    item: Any
    pool: ProcessPoolExecutor
    future: "Future[Any]"

    @property
    def is_done(self) -> bool:
        """Whether the future holds what its function gave or raised, rather than the loss of its worker."""
        is_finished = self.future.done() and not self.future.cancelled()
        return is_finished and not isinstance(self.future.exception(), BrokenProcessPool)


@contextmanager
def _interrupts_are_for_the_parent() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started within: a terminal sends it to all, and this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this worker when the process that started it ends, however it ended."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_ALONE_SECONDS = 3.0  # of work before it is known how long the rest takes
_WORTH_SECONDS = 12.0  # of work that is left: a helper is ready after some four seconds
_MOST_HELPERS = 3  # each holds models of its own, some 400 MB
_WAITING_A_HELPER = 2  # items sent to one, so that neither it nor this process has to wait
_AHEAD = 64  # items that may be done before their turn, whose results are held


class HelpedMap:
    """Maps a function over items here, at first alone: results in the items' order, errors in the place of their item.

    When a few seconds of work have shown that the rest is long, helpers are started, one fewer than there are cores,
    and take items as this process does. A result does not depend on who made it. The function and the items must
    pickle. When a helper is lost, the work goes on without it.
    """

    def __init__(self, workers: int = 0) -> None:
        """Start nothing yet. workers: this process and its helpers together; 0 means one a core."""
        self.helpers = min((workers or os.cpu_count() or 1) - 1, _MOST_HELPERS)
        self._pool: ProcessPoolExecutor | None = None

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        work = _Work(function, list(items))
        began = time.monotonic()
        for place in range(len(work.items)):
            alone = time.monotonic() - began
            if self._pool is None and place and alone > _ALONE_SECONDS:
                left = (len(work.items) - place) * alone / place
                if self.helpers > 0 and left > _WORTH_SECONDS:
                    self._pool = self._started()
            yield self._result(work, place).get()
            self._send(work)

    def _result(self, work: "_Work", place: int) -> "_Outcome":
        """Return what came of the item; while a helper is at it, others are done here."""
        work.next = max(work.next, place)
        if place == work.next:
            work.next += 1
            return work.done_here(place)
        while place in work.sent:
            future = work.sent[place]
            if not future.done() and work.next < min(len(work.items), place + _AHEAD):
                work.next += 1
                work.done[work.next - 1] = work.done_here(work.next - 1)
                self._send(work)
                continue
            del work.sent[place]
            try:
                return _Outcome(future.result())
            except BrokenProcessPool:
                self.close()
                self.helpers = 0
                return work.done_here(place)
            except Exception as error:
                return _Outcome(error=error)
        return work.done.pop(place)

    def _send(self, work: "_Work") -> None:
        """Give helpers what they lack, of the items that nobody has begun."""
        if self._pool is None:
            return
        under_way = sum(not future.done() for future in work.sent.values())
        while under_way < self.helpers * _WAITING_A_HELPER and work.next < len(work.items):
            try:
                with _interrupts_are_for_the_parent():
                    work.sent[work.next] = self._pool.submit(work.function, work.items[work.next])
            except BrokenProcessPool:
                return  # the first of its results says so too
            work.next, under_way = work.next + 1, under_way + 1

    def _started(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.helpers, mp_context=context, initializer=_end_with_parent)

    def close(self) -> None:
        """End the helper processes."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class _Outcome:
    """What came of an item: a result, or an error that is raised in its turn."""

    result: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


class _Work:
    """A call of the map. next: the first item that nobody has begun. sent: items given to helpers, by place. done:
    what was done here before its turn."""

    def __init__(self, function: Callable[[Any], Any], items: list[Any]) -> None:
        self.function, self.items, self.next = function, items, 0
        self.sent: dict[int, Future[Any]] = {}
        self.done: dict[int, _Outcome] = {}

    def done_here(self, place: int) -> _Outcome:
        """Return what comes of the item in this process."""
        try:
            return _Outcome(self.function(self.items[place]))
        except Exception as error:
            return _Outcome(error=error)


def may_have_helpers() -> bool:
    """Return whether helpers can be started, which import this program's main module: it is our own command, whose main
    module does nothing when it is imported."""
    main = sys.modules.get("__main__")
    spec, script = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return bool(spec.name == "leanrag_core.__main__")
    return script is not None and Path(script) == Path(sys.executable).with_name("leanrag")


@dataclass(frozen=True)
class Executor:
    """A map over batches. apart: workers are processes of their own, which import functions and load models.

    Where they are not, work whose library uses every core by itself is not spread. reading: the map for work that holds
    the interpreter.
    """

    apply: Apply
    apart: bool = False
    reading: Apply = map


HERE = Executor(map)


@contextmanager
def opened(execution: Execution) -> Iterator[Executor]:
    """Open the map of that choice; its workers end with the block.

    Nothing is started or connected before the first batch, so an error (ClusterUnavailable, WorkersLost) comes then.
    """
    if execution.kind == THREADS:
        helped = HelpedMap(execution.workers if may_have_helpers() else 1)
        try:
            yield Executor(ThreadMap(execution.workers or os.cpu_count() or 1), reading=helped)
        finally:
            helped.close()
        return
    workers = ProcessMap(execution.workers) if execution.kind == PROCESSES else DaskMap(execution.scheduler)
    try:
        yield Executor(workers, apart=True, reading=workers)
    finally:
        workers.close()
