"""Work over fixed blocks of rows on all cores, with the same bits from any number of them.

A matrix product that BLAS spreads over threads adds its terms in another order for another number of threads, and one
bit can move an entity. So each product runs on one BLAS thread, blocks have fixed bounds, and blocks run side by side.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from leanrag_core.system.threads import ordered_results

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # blocks a core may have waiting; more would only hold memory


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _BlasThreads:
    """Counts the users that need BLAS on one thread; the first one sets the limit, the last one takes it back."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limits: list[Any] = []

    @contextmanager
    def held_to_one(self, *, is_new: bool = False) -> Iterator[None]:
        """Hold BLAS to one thread. is_new: a BLAS may have been loaded since another user began."""
        with self._lock:
            if self._users == 0 or is_new:
                _take_control()
                self._limits.append(_libraries(len(sys.modules)).limit(limits=1, user_api="blas"))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                while self._users == 0 and self._limits:  # the last first: it has what the others had changed
                    _take_control()
                    self._limits.pop().restore_original_limits()


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> "ThreadpoolController":
    """Return what sets the threads of the loaded libraries, looked for again once a module more is loaded: a look goes
    through some 200 libraries, and waits for the interpreter at each."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_control() -> None:
    """Let this thread set the number of threads of OpenBLAS.

    threadpoolctl leaves that to the first thread that did so, and silently ignores all others; here _BlasThreads
    decides when it is set.
    """
    from threadpoolctl import OpenBLASController

    OpenBLASController.clear_controlling_thread(force=True)


# BLAS has one number of threads for the whole process, so its users are counted for the whole process, too.
_BLAS = _BlasThreads()


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which every BLAS call of the process runs on one thread."""
    return _BLAS.held_to_one()


@contextmanager
def one_thread_in_scikit_learn() -> Iterator[None]:
    """Run scikit-learn, and what it calls of scipy and numpy, on one thread; for the thread that enters.

    They are loaded first: a limit does not reach a library that is loaded after it was set, and scipy brings a BLAS of
    its own. OpenMP keeps a number for each thread, so that it is set back by the thread that set it.
    """
    import scipy.linalg  # noqa: F401 - loaded for its BLAS
    import sklearn.mixture  # noqa: F401 - loaded for its OpenMP

    with _BLAS.held_to_one(is_new=True), _libraries(len(sys.modules)).limit(limits=1, user_api="openmp"):
        yield


def over_blocks(function: Callable[[Item], Result], blocks: Iterable[Item]) -> Iterator[Result]:
    """Yield function(block) for each block, in the blocks' order, computed on all cores.

    The result of a block must not depend on what runs beside it.
    """
    blocks = list(blocks)
    workers = min(available_cores(), len(blocks))
    if workers <= 1:
        yield from map(function, blocks)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from ordered_results(
            blocks,
            lambda block: pool.submit(function, block),
            lambda waiting: waiting.popleft().result(),
            Future.cancel,
            max_waiting=lambda: workers * _AHEAD,
        )


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return left @ right, (n, m) float32, added up in float64, so that the order in which a processor's BLAS adds does
    not show.

    left: (n, k). right: (k, m).
    """
    return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)


def row_blocks(n: int, size: int) -> list[slice]:
    """Return slices of `size` rows that cover 0 ... n-1; the last one may be shorter."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
