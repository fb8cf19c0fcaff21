"""Values that are kept for threads that share them, as many as were used last."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

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
