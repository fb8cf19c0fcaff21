"""Embedding a layer's entities (eq. 3), each text once in a build."""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from leanrag_core.errors import InvalidVectors
from leanrag_core.types.settings import Apply


def embedding_text(name: str, description: str) -> str:
    """Return the text that is embedded for an entity (eq. 3): its name, then its description.

    The paper embeds the description alone; entities that share one source sentence would then share one vector.
    """
    return f"{name}. {description}"


Embed = Callable[[list[str]], np.ndarray]
_WINDOW = 1024  # texts that are sorted by length together, so that batches need little padding
_SLICE = 128  # texts between two reports of progress
_BLOCK = 64 * _WINDOW  # texts that are held at a time
_UNIT = 1e-4  # rows whose length is that close to 1 are left as they are, bit for bit


class OnceEmbedder:
    """Phi with a memory: a text that any layer had before is not embedded again.

    apply maps embed over slices of the texts, which depend on the texts alone; it may do so in other processes. Kept
    are the hash of each text and the place of its vector.
    """

    def __init__(self, embed: Embed, apply: Apply = map) -> None:
        self._embed, self._apply = embed, apply
        self._known: dict[bytes, int] = {}  # row of each text, counted through the arrays of _held
        self._held: list[np.ndarray] = []
        self._ends: list[int] = [0]

    def remember(self, texts: Iterable[str], vectors: np.ndarray) -> None:
        """Keep the vectors of these texts, so that they are not embedded again. vectors: (len(texts), d) float32 unit
        rows.
        """
        first = self._ends[-1]
        for row, text in enumerate(texts):
            self._known.setdefault(_key(text), first + row)
        self._held.append(vectors)
        self._ends.append(first + len(vectors))

    def __call__(self, texts: Collection[str], progress: Callable[[int], None]) -> np.ndarray:
        """Return the vectors of the texts, (len(texts), d) float32 unit rows.

        progress(done) is called with how many of the texts are done. Raises InvalidVectors for a vector that is zero,
        not finite or missing.
        """
        progress(0)
        vectors, coming, done = np.zeros((0, 0), dtype=np.float32), iter(texts), 0
        first = self._ends[-1]
        for start in range(0, len(texts), _BLOCK):
            block = list(islice(coming, _BLOCK))
            keys = [_key(text) for text in block]
            new: dict[str, int] = {}  # place in the block
            for place, (key, text) in enumerate(zip(keys, block, strict=True)):
                if key not in self._known:
                    self._known[key] = first + start + place
                    new[text] = place
            for part, rows in self._embedded(list(new)):
                if not len(vectors):
                    vectors = np.empty((len(texts), rows.shape[1]), dtype=np.float32)
                vectors[[start + new[text] for text in part]] = rows
                done += len(part)
                progress(min(len(texts), done))
            for place, (key, text) in enumerate(zip(keys, block, strict=True)):
                if new.get(text) != place:
                    row = self._known[key]
                    vector = vectors[row - first] if row >= first else self._remembered(row)
                    if not len(vectors):
                        vectors = np.empty((len(texts), len(vector)), dtype=np.float32)
                    vectors[start + place] = vector
        self._held.append(vectors)
        self._ends.append(first + len(vectors))
        progress(len(texts))
        return vectors

    def _remembered(self, row: int) -> np.ndarray:
        """Return the vector of that row, (d,) float32, counted through all arrays held."""
        held = bisect_right(self._ends, row) - 1
        return np.asarray(self._held[held][row - self._ends[held]])

    def _embedded(self, new: list[str]) -> Iterator[tuple[list[str], np.ndarray]]:
        """Yield slices of the texts with their vectors, (len(slice), d) float32 unit rows."""
        for start in range(0, len(new), _WINDOW):
            new[start : start + _WINDOW] = sorted(new[start : start + _WINDOW], key=lambda text: (len(text), text))
        parts = [new[start : start + _SLICE] for start in range(0, len(new), _SLICE)]
        for part, rows in zip(parts, self._apply(self._embed, parts), strict=True):
            yield part, unit_rows(rows, part)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def unit_rows(vectors: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Scale the vectors to (n, d) float32 rows of length 1. vectors: (n, d).

    Raises InvalidVectors, naming the first text concerned.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise InvalidVectors("embedding.wrong_shape", shape=str(rows.shape), n=len(texts))
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(bad):
        raise InvalidVectors("embedding.zero_or_nan", text=texts[bad[0]][:60], n=len(bad))
    if (np.abs(lengths - 1) > _UNIT).any():
        rows = (rows / lengths[:, None]).astype(np.float32)
    return rows
