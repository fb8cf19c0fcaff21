"""Embedding as a function that workers elsewhere can be sent: the model stays where it is, its fingerprint travels."""

import threading
from dataclasses import dataclass
from functools import cache

import numpy as np

from leanrag_core.errors import ModelMismatch
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.minilm import FLOATS, MiniLM, model_of

_loading = threading.Lock()


@dataclass(frozen=True)
class EmbedTask:
    """Embeds a batch of texts with the built-in model of the process that calls it, loaded once a process.

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
    if not isinstance(model, MiniLM):
        return None
    return EmbedTask(model.fingerprint, _runtime(), exact=model.form != FLOATS)


@cache
def _model(fingerprint: str) -> MiniLM:
    """Return this process's loaded model in the form that has the fingerprint.

    It has one thread, since a machine has a worker for every core.
    """
    model = model_of(fingerprint, threads=1)
    model.embed(["loaded"])
    return model


def _runtime() -> str:
    from importlib.metadata import version

    return version("onnxruntime")
