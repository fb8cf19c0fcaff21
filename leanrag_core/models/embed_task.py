"""Embedding as a function that workers elsewhere can be sent: the model stays where it is, its fingerprint travels."""

import hashlib
import io
import json
import threading
from dataclasses import dataclass
from functools import cache

import numpy as np

from leanrag_core.errors import ModelMismatch
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.minilm import MiniLM

_loading = threading.Lock()


@dataclass(frozen=True)
class EmbedTask:
    """Embeds a batch of texts with the built-in model of the process that calls it, loaded once a process.

    fingerprint: the driver's model; runtime: its onnxruntime. A worker that has others raises ModelMismatch instead of
    mixing vectors.
    """

    fingerprint: str
    runtime: str

    def __call__(self, texts: list[str]) -> np.ndarray:
        """(len(texts), 384) float32 unit rows."""
        with _loading:
            model, runtime = _model(), _runtime()
        if (model.fingerprint, runtime) != (self.fingerprint, self.runtime):
            raise ModelMismatch(
                "worker.other_model",
                worker_model=model.fingerprint,
                worker_runtime=runtime,
                model=self.fingerprint,
                runtime=self.runtime,
            )
        return model.embed(list(texts))

    def key(self, batch: list[str]) -> str:
        """Hash of model, runtime and texts."""
        return hashlib.sha256(json.dumps([self.fingerprint, self.runtime, list(batch)]).encode()).hexdigest()

    def pack(self, result: np.ndarray) -> bytes:
        """The rows in numpy's own format."""
        content = io.BytesIO()
        np.save(content, result, allow_pickle=False)
        return content.getvalue()

    def unpack(self, content: bytes) -> np.ndarray:
        """The rows. Raises ValueError for a damaged file."""
        try:
            rows = np.load(io.BytesIO(content), allow_pickle=False)
        except EOFError as error:
            raise ValueError("the file ends too early") from error
        if not isinstance(rows, np.ndarray) or rows.dtype != np.float32 or rows.ndim != 2:
            raise ValueError("the file holds no vectors")
        return rows


def embed_task(model: EmbeddingModel) -> EmbedTask | None:
    """The task that does on any worker what the model does here; None for a model at an endpoint, which is asked from
    here alone, since its calls are counted and kept."""
    return EmbedTask(model.fingerprint, _runtime()) if isinstance(model, MiniLM) else None


@cache
def _model() -> MiniLM:
    """This process's model, loaded; one thread, since a machine has a worker for every core."""
    model = MiniLM(threads=1)
    model.embed(["loaded"])
    return model


def _runtime() -> str:
    from importlib.metadata import version

    return version("onnxruntime")
