"""Each row has a vector of length 1, which is that of its text (eq. 3)."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.indexing.aggregation.embedding_text import embedding_text
from leanrag_core.storage.layout import CHUNKS

_UNIT_TOLERANCE = 1e-3
_BLOCK = 65_536  # vectors measured at a time
_ALL_UP_TO = 1_000  # texts of a file that are embedded again; of more, so many are drawn
_DRAWN = 200
_SAME = 0.99  # cosine; another kind of processor may move a vector by 1e-3


def unit(subject: Subject) -> Iterator[Problem | Note]:
    """One vector for each entity and chunk, of length 1, none NaN."""
    index, dimensions = subject.index, set()
    stored: list[tuple[int | str, np.ndarray, int]] = [
        (layer.number, layer.vectors, len(layer)) for layer in index.layers
    ]
    for part, vectors, n in [*stored, (CHUNKS, index.chunk_vectors, index.chunks.num_rows)]:
        file = subject.vectors(part)
        if len(vectors) != n:
            yield Problem(file, None, f"{len(vectors)} vectors for {n} rows")
        with np.errstate(over="ignore", invalid="ignore"):
            blocks = (vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK))
            off = [np.abs(np.linalg.norm(block, axis=1) - 1) for block in blocks]
        bad = np.flatnonzero(~(np.concatenate([np.zeros(0), *off]) < _UNIT_TOLERANCE))
        yield from at_rows(file, bad, "the vector is not of length 1")
        if n:
            dimensions.add(vectors.shape[1])
    if len(dimensions) > 1:
        yield Problem(subject.vectors(0), None, f"the files hold vectors of several dimensions: {sorted(dimensions)}")


def of_texts(subject: Subject) -> Iterator[Problem | Note]:
    """Vectors are those of their texts, which are embedded again: all of a small file, a draw from a large one."""
    index, model = subject.index, subject.embedding
    recorded = index.manifest.embedding
    if model is None:
        yield Note(f"not checked: {subject.reason}")
        return
    if model.fingerprint != recorded.fingerprint:
        yield Note(f"not checked: it was embedded with {recorded.fingerprint}, here is {model.fingerprint}")
        return
    for layer in index.layers:
        names, texts = layer.entity_cells["name"], layer.entity_cells["description"]

        def text_of(row: int, names: Any = names, texts: Any = texts) -> str:
            return embedding_text(names[row].as_py() or "", texts[row].as_py() or "")

        rows = _drawn(len(layer), layer.number)
        yield from _compared(subject, layer.number, layer.vectors, rows, text_of)
    rows = _drawn(index.chunks.num_rows, len(index.layers))
    yield from _compared(subject, CHUNKS, index.chunk_vectors, rows, lambda row: index.chunk(row).text)


def _drawn(n: int, seed: int) -> np.ndarray:
    """Return the rows whose texts are embedded again, ascending: all of few, a fixed draw of many; (k,) int64."""
    if n <= _ALL_UP_TO:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size=_DRAWN, replace=False))


def _compared(
    subject: Subject, part: int | str, vectors: np.ndarray, rows: np.ndarray, text_of: Callable[[int], str]
) -> Iterator[Problem]:
    """Yield the rows whose vector is not that of their text. vectors: (n, d) float32. rows: (k,) int64."""
    assert subject.embedding is not None
    expected = np.asarray(subject.embedding.embed([text_of(int(row)) for row in rows]))
    with np.errstate(over="ignore", invalid="ignore"):
        far = ~(np.vecdot(np.asarray(vectors[rows]), expected) > _SAME)
    yield from at_rows(subject.vectors(part), rows[far], "the vector is not that of its text")
