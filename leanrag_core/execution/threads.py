"""A map over threads, for work that waits for a server."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from leanrag_core.system.threads import ordered_results

_AHEAD = 4  # items a worker may have waiting; more would only hold memory


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
                max_waiting=lambda: self.workers * _AHEAD,
            )
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
