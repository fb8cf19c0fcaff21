"""Work over fixed blocks of rows on all cores, with the same bits from any number of them.

A matrix product that BLAS spreads over threads adds its terms in another order for another number of threads, and one
bit can move an entity. So each product runs on one BLAS thread, blocks have fixed bounds, and blocks run side by side.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # blocks a core may have waiting; more would only hold memory
_lock = Lock()
_held: dict[str, Any] = {"depth": 0, "limits": None}


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """While any thread is inside, every BLAS call of the process runs on one thread."""
    from threadpoolctl import threadpool_limits

    with _lock:
        if _held["depth"] == 0:
            _held["limits"] = threadpool_limits(limits=1, user_api="blas")
        _held["depth"] += 1
    try:
        yield
    finally:
        with _lock:
            _held["depth"] -= 1
            if _held["depth"] == 0:
                _held["limits"].restore_original_limits()
                _held["limits"] = None


def over_blocks(function: Callable[[Item], Result], blocks: Iterable[Item]) -> Iterator[Result]:
    """function of each block, in the blocks' order, on all cores; function must not depend on what runs beside it."""
    blocks = list(blocks)
    workers = min(available_cores(), len(blocks))
    if workers <= 1:
        yield from map(function, blocks)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for block in blocks:
                waiting.append(pool.submit(function, block))
                if len(waiting) >= workers * _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def row_blocks(n: int, size: int) -> list[slice]:
    """Slices of `size` rows that cover 0 ... n-1."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
