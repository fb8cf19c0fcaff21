"""Threads of BLAS and OpenMP, held to one where they would add up in another order, or wait more than they work."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


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
