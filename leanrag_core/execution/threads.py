"""A map over threads, for work that waits for a server."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

_AHEAD = 4  # items a worker may have waiting; more would only hold memory


class ThreadMap:
    """Maps a function over items in `workers` threads: results in the items' order, errors where their item stands.

    After an error nothing new is begun; what is under way ends first.
    """

    def __init__(self, workers: int) -> None:
        self.workers = max(1, workers)

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        if self.workers == 1:
            yield from map(function, items)
            return
        waiting: deque[Future[Any]] = deque()
        pool = ThreadPoolExecutor(self.workers)
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= self.workers * _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
