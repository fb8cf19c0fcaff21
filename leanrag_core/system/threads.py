"""What threads of the process share: values that were used last, results in order, an event loop of one's own, a
paused search for cycles."""

import gc
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Keeps the n_kept values that were used last. Any number of threads may ask and keep at the same time."""

    def __init__(self, n_kept: int) -> None:
        self._n_kept = n_kept
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._values

    def get(self, key: Key, default: Value) -> Value:
        """Return the value of the key where it is kept, else the default."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key, default)

    def keep(self, key: Key, value: Value) -> Value:
        """Keep the value, drop those that were not used for the longest time, and return it."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._n_kept:
                self._values.popitem(last=False)
        return value

    def get_or_make(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of the key, made where it is not kept. Made outside the lock: two threads that need the
        same value at the same time may both make it, and no thread waits for the value of another key."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        return self.keep(key, make())


Item = TypeVar("Item")
Sent = TypeVar("Sent")
Result = TypeVar("Result")


def ordered_results(
    items: Iterable[Item],
    send: Callable[[Item], Sent],
    take_first: Callable[[deque[Sent]], Result],
    discard: Callable[[Sent], object],
    *,
    max_waiting: Callable[[], int],
) -> Iterator[Result]:
    """Send the items and yield their results in order.

    take_first: removes the first sent item of the queue and returns its result. discard: called for each item that was
    sent and whose result is no longer wanted, after an error or when the caller stops. max_waiting: more items than
    that would only hold memory.
    """
    waiting: deque[Sent] = deque()
    try:
        for item in items:
            waiting.append(send(item))
            while len(waiting) >= max_waiting():
                yield take_first(waiting)
        while waiting:
            yield take_first(waiting)
    finally:
        for sent in waiting:
            discard(sent)


def in_own_loop(question: Coroutine[Any, Any, Result]) -> Result:
    """Return what the question gives, asked in a thread of its own: a notebook's has an event loop already."""
    import asyncio  # takes a tenth of the time in which the workbench is imported, and few questions need it

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, question).result()


class _Pauses:
    """Who holds Python's search for reference cycles paused. It is one for the process, and so is the count of users.

    The search goes over all records again and again while they grow in number: a third of the time of taking 60,000.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._was_on = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Pause the search while any thread is inside; what nothing refers to any more is freed as always."""
        with self._lock:
            if self._users == 0:
                self._was_on = gc.isenabled()
                gc.disable()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0 and self._was_on:
                    gc.enable()


collector_paused = _Pauses().held
