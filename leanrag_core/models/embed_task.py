"""Embedding as a function that workers elsewhere can be sent, and embedding with a memory."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from leanrag_core.errors import ModelMismatch
from leanrag_core.models.base import EmbeddingModel, TellsQueriesApart, embed_queries
from leanrag_core.models.e5 import MultilingualE5
from leanrag_core.models.minilm import model_of
from leanrag_core.models.windowed_embedding import WindowedModel
from leanrag_core.system.threads import BoundedCache

_loading = threading.Lock()


@dataclass(frozen=True)
class EmbedTask:
    """Embeds a batch of texts with the model of this machine in the process that calls it, loaded once a process.

    fingerprint: the driver's model; runtime: its onnxruntime. A worker that has others raises ModelMismatch instead of
    mixing vectors. exact: a text's vector is the same to the last bit whatever texts are embedded with it.
    """

    fingerprint: str
    runtime: str
    exact: bool = True

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), 384) float32 unit rows."""
        with _loading:
            model, runtime = _model(self.fingerprint), _runtime()
        if (model.fingerprint, runtime) != (self.fingerprint, self.runtime):
            raise ModelMismatch(
                "worker.other_model",
                worker_model=model.fingerprint,
                worker_runtime=runtime,
                model=self.fingerprint,
                runtime=self.runtime,
            )
        return model.embed(list(texts))


def embed_task(model: EmbeddingModel) -> EmbedTask | None:
    """Return the task that does on any worker what the model does here. None for a model at an endpoint: it is asked
    from this process alone, since its calls are counted and kept."""
    if not isinstance(model, WindowedModel):
        return None
    return EmbedTask(model.fingerprint, _runtime(), exact=model.exact)


@cache
def _model(fingerprint: str) -> WindowedModel:
    """Return this process's loaded model in the form that has the fingerprint.

    It has one thread, since a machine has a worker for every core.
    """
    multilingual = fingerprint.startswith(MultilingualE5.weights)
    model = MultilingualE5(threads=1) if multilingual else model_of(fingerprint, threads=1)
    model.embed(["loaded"])
    return model


@cache
def _runtime() -> str:
    """Return the version of the installed runtime, which is read from its files once."""
    from importlib.metadata import version

    return version("onnxruntime")


class KeptVectors:
    """Embeds each text once, as long as its memory has room; the vectors are those of the model."""

    def __init__(self, model: EmbeddingModel, max_texts: int = 50_000) -> None:
        self.name, self._model, self._max_texts = model.name, model, max_texts
        self._vectors: dict[tuple[str, bool], np.ndarray] = {}  # by text and whether it is searched with
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._model.dimension

    @property
    def fingerprint(self) -> str:
        """That of the model."""
        return self._model.fingerprint

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), dimension) float32, unit rows."""
        return self._embedded(texts, self._model.embed, queries=False)

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), dimension) float32, unit rows of texts that one searches with."""
        return self._embedded(
            texts, partial(embed_queries, self._model), queries=isinstance(self._model, TellsQueriesApart)
        )

    def _embedded(self, texts: list[str], embed: Callable[[list[str]], np.ndarray], *, queries: bool) -> np.ndarray:
        """Return (len(texts), dimension) float32, unit rows. queries: whether their vectors are others than those of
        the same texts in an index."""
        with self._lock:
            known = {text: self._vectors[text, queries] for text in texts if (text, queries) in self._vectors}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        if new:
            known |= dict(zip(new, embed(new), strict=True))
            with self._lock:
                if len(self._vectors) + len(new) > self._max_texts:
                    self._vectors.clear()
                self._vectors |= {(text, queries): known[text] for text in new}
        return np.stack([known[text] for text in texts]) if texts else embed(texts)


class RecentVectors:
    """Embeds texts, and keeps the vectors of the n_kept that were used last. Any number of threads may ask.

    Only for a built-in model whose vector of a text is the same to the last bit whatever is embedded with it; calls of
    an endpoint are kept by the store of calls.
    """

    def __init__(self, n_kept: int) -> None:
        self._rows: BoundedCache[tuple[str, str], np.ndarray | None] = BoundedCache(n_kept)

    def embed(self, model: EmbeddingModel, texts: Sequence[str]) -> np.ndarray:
        """Return (len(texts), d) float32 unit rows, a text each, as model.embed() does and with its errors."""
        if not isinstance(model, WindowedModel) or not model.exact:
            return model.embed(list(texts))
        fingerprint = model.fingerprint
        row_of = {text: self._rows.get((fingerprint, text), None) for text in texts}
        missing = [text for text, row in row_of.items() if row is None]
        for text, row in zip(missing, model.embed(missing) if missing else (), strict=True):
            row_of[text] = self._rows.keep((fingerprint, text), row.copy())  # a view would hold the whole array
        rows = [row for text in texts if (row := row_of[text]) is not None]
        return np.stack(rows) if rows else np.zeros((0, model.dimension), dtype=np.float32)
