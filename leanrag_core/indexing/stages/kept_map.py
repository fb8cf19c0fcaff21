"""A map that takes results of batches from the store, and adds those that it computes."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

from leanrag_core.storage.stages import StageStore
from leanrag_core.types.settings import Apply


@runtime_checkable
class Keepable(Protocol):
    """A function of a batch whose results can be kept. stage: the name that they are counted under."""

    stage: str

    def key(self, batch: Any) -> bytes:
        """Return the hash of everything that decides the result (storage.stages.stage_key)."""

    def pack(self, result: Any) -> bytes:
        """Return the result as bytes."""

    def unpack(self, content: bytes) -> Any:
        """Return the result of its bytes, equal in every bit. Raises ValueError for damaged ones."""


class KeptMap:
    """Maps a function over batches; results come in the batches' order.

    A result that is in the store is not computed again. The others are kept one by one, as they come, so that a build
    that is killed loses little. Functions that are not Keepable are mapped as they are. Only this process writes.
    """

    def __init__(self, apply: Apply, store: StageStore | None) -> None:
        self.apply, self.store = apply, store

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        if self.store is None or not isinstance(function, Keepable):
            yield from self.apply(function, items)
            return
        batches = list(items)
        keys = [function.key(batch) for batch in batches]
        stored_keys = self.store.stored_keys(keys)
        computed = iter(
            self.apply(function, [batch for batch, key in zip(batches, keys, strict=True) if key not in stored_keys])
        )
        for batch, key in zip(batches, keys, strict=True):
            if key not in stored_keys:
                result = next(computed)
                self.store.put(function.stage, key, function.pack(result))
                yield result
            else:
                yield self._kept(function, batch, key)

    def _kept(self, function: Any, batch: Any, key: bytes) -> Any:
        """Return the kept result; computed after all when it turns out to be damaged."""
        assert self.store is not None
        content = self.store.get(key)
        if content is not None:
            try:
                return function.unpack(content)
            except ValueError:
                self.store.forget([key])
        [result] = self.apply(function, [batch])
        self.store.put(function.stage, key, function.pack(result))
        return result
