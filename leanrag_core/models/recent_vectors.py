"""Vectors of texts that were embedded a short time ago, kept in memory: the next question, or the same with another
setting, chooses its answer among many of the same sentences."""

from collections.abc import Sequence

import numpy as np

from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.windowed_embedding import WindowedModel
from leanrag_core.system.threads import BoundedCache


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
