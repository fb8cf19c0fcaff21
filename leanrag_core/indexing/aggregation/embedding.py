"""Embedding a layer's entities (eq. 3), each text once in a build."""

from collections.abc import Callable, Sequence

import numpy as np

from leanrag_core.errors import InvalidVectors

Embed = Callable[[list[str]], np.ndarray]
_WINDOW = 1024  # texts that are sorted by length together, so that batches need little padding
_SLICE = 128  # texts between two reports of progress
_UNIT = 1e-4  # rows whose length is that close to 1 are left as they are, bit for bit


class OnceEmbedder:
    """Phi with a memory: a text that any layer had before is not embedded again."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._block_of: dict[str, tuple[np.ndarray, int]] = {}

    def __call__(self, texts: Sequence[str], progress: Callable[[int], None]) -> np.ndarray:
        """(len(texts), d) float32 unit rows; progress(done) is told how many of the texts are done.

        Raises InvalidVectors for a vector that is zero, not finite or missing.
        """
        progress(0)
        new = [text for text in dict.fromkeys(texts) if text not in self._block_of]
        for start in range(0, len(new), _WINDOW):
            new[start : start + _WINDOW] = sorted(new[start : start + _WINDOW], key=lambda text: (len(text), text))
        for start in range(0, len(new), _SLICE):
            part = new[start : start + _SLICE]
            block = unit_rows(self._embed(part), part)
            self._block_of.update((text, (block, row)) for row, text in enumerate(part))
            progress(min(len(texts), start + len(part)))
        progress(len(texts))
        return np.stack([block[row] for block, row in map(self._block_of.__getitem__, texts)])


def unit_rows(vectors: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """The vectors as (n, d) float32 rows of length 1. Raises InvalidVectors, naming the first text concerned."""
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise InvalidVectors(f"the embedding model gave an array of shape {rows.shape} for {len(texts)} texts")
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(bad):
        raise InvalidVectors(
            f"the embedding model gave a zero or NaN vector for {texts[bad[0]][:60]!r} ({len(bad)} texts in all): "
            "choose another embedding model"
        )
    if (np.abs(lengths - 1) > _UNIT).any():
        rows = (rows / lengths[:, None]).astype(np.float32)
    return rows
