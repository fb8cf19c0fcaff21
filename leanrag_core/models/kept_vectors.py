"""An embedding model with a memory: strategies that are compared put the same sentences into their contexts."""

import threading

import numpy as np

from leanrag_core.models.base import EmbeddingModel


class KeptVectors:
    """Embeds each text once, as long as its memory has room; the vectors are those of the model."""

    def __init__(self, model: EmbeddingModel, max_texts: int = 50_000) -> None:
        self.name, self._model, self._max_texts = model.name, model, max_texts
        self._vectors: dict[str, np.ndarray] = {}
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
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        if new:
            known |= dict(zip(new, self._model.embed(new), strict=True))
            with self._lock:
                if len(self._vectors) + len(new) > self._max_texts:
                    self._vectors.clear()
                self._vectors |= {text: known[text] for text in new}
        return np.stack([known[text] for text in texts]) if texts else self._model.embed(texts)
