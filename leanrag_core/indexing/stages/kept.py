"""Results of stages that are kept: maps over batches, and vectors of texts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.embed_task import EmbedTask, embed_task
from leanrag_core.storage.stages import StageStore, stage_key
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


STAGE = "embeddings"
_SLICE = 128  # texts that are embedded and kept together


class KeptVectors:
    """A map of an embedding function over lists of texts; each vector comes from the store where it is kept.

    model: fingerprint of the model and of the runtime that computes it. A text's vector must not depend on the texts
    that are embedded with it, as that of the built-in model in whole numbers does not.
    """

    def __init__(self, apply: Apply, store: StageStore, *, model: str, dimension: int) -> None:
        self.apply, self.store, self.model, self.dimension = apply, store, model, dimension

    def __call__(self, embed: Callable[[list[str]], np.ndarray], items: Iterable[list[str]]) -> Iterator[np.ndarray]:
        """Yield the vectors of each list of texts, (len(texts), dimension) float32, in order."""
        lists = list(items)
        rows = self._kept([text for texts in lists for text in texts])
        missing = list(dict.fromkeys(text for texts in lists for text in texts if text not in rows))
        slices = [missing[start : start + _SLICE] for start in range(0, len(missing), _SLICE)]
        computed = zip(slices, self.apply(embed, slices), strict=True)
        for texts in lists:
            while any(text not in rows for text in texts):
                part, vectors = next(computed)
                self._keep(part, vectors)
                rows.update(zip(part, vectors, strict=True))
            yield np.array([rows[text] for text in texts], dtype=np.float32).reshape(len(texts), self.dimension)

    def _kept(self, texts: list[str]) -> dict[str, np.ndarray]:
        """Return the stored vectors of the texts that have one, (dimension,) float32 each."""
        keys = {text: self._key(text) for text in texts}
        contents = self.store.get_many(list(dict.fromkeys(keys.values())))
        size = 4 * self.dimension
        return {
            text: np.frombuffer(contents[key], dtype="<f4")
            for text, key in keys.items()
            if len(contents.get(key, b"")) == size
        }

    def _keep(self, texts: list[str], vectors: np.ndarray) -> None:
        """Store the vectors of the texts, (len(texts), dimension); of another shape none are stored."""
        rows = np.asarray(vectors)
        if rows.shape == (len(texts), self.dimension):  # else the caller says what is wrong with them
            packed = rows.astype("<f4")
            keys = map(self._key, texts)
            self.store.put_many(STAGE, {key: row.tobytes() for key, row in zip(keys, packed, strict=True)})

    def n_kept(self, texts: Sequence[str]) -> int:
        """Return how many of the texts have a vector in the store."""
        keys = [self._key(text) for text in texts]
        stored_keys = self.store.stored_keys(list(dict.fromkeys(keys)))
        return sum(key in stored_keys for key in keys)

    def _key(self, text: str) -> bytes:
        return stage_key(STAGE, self.model, text)


def kept_vectors(task: EmbedTask, dimension: int, apply: Apply, store: StageStore) -> KeptVectors:
    """Return the map that keeps the vectors of that task's model."""
    return KeptVectors(apply, store, model=f"{task.fingerprint}@{task.runtime}", dimension=dimension)


def n_kept(texts: Sequence[str], model: EmbeddingModel, store: StageStore) -> int:
    """Return how many of the texts have a vector of that model in the store; none of a model whose vectors are not
    kept.
    """
    task = embed_task(model)
    if task is None or not task.exact:
        return 0
    return kept_vectors(task, model.dimension, map, store).n_kept(texts)
