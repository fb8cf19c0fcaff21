"""Checks of places, vectors and rows of the search index: each belongs to its text."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.errors import SearchIndexFailed
from leanrag_core.indexing.aggregation.embedding import embedding_text
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.counted_columns import chunks_with_places
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.storage.search_connection import (
    DATABASE,
    REMEDY,
    SEARCH,
    SearchIndex,
    SearchPlace,
    changed_file,
    connect_to_files,
    layer_searches,
    place_in,
    recorded,
)
from leanrag_core.text.tokens import count_many
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import CHUNK_BYTES, CHUNK_TOKENS
from leanrag_core.types.rows import numbers


def spans(subject: Subject) -> Iterator[Problem | Note]:
    """Check that chunks lie inside their documents and count their tokens right."""
    import pyarrow.compute as pc

    index, file = subject.index, subject.table("chunks")
    texts = index.documents["text"]
    document, start, end = (numbers(index.chunks[name]) for name in ("document", "start", "end"))
    absent = np.flatnonzero((document < 0) | (document >= len(texts)))
    yield from at_rows(file, absent, "its document is not there")
    if len(absent):
        return
    lengths = numbers(pc.utf8_length(texts)).astype(np.int64)
    outside = (start < 0) | (start >= end) | (end > lengths[document])
    yield from at_rows(file, np.flatnonzero(outside), "it does not lie inside its document")
    inside = np.flatnonzero(~outside)
    counted = count_many(_cut(texts, document[inside], start[inside], end[inside]))
    wrong = inside[counted != numbers(index.chunks["tokens"])[inside]]
    yield from at_rows(file, wrong, "tokens is not the number of tokens of its text")


def _cut(texts: pa.ChunkedArray, document: np.ndarray, start: np.ndarray, end: np.ndarray) -> list[str]:
    """Return the texts of these chunks. texts: of the documents. document, start, end: (k,) int, of the chunks."""
    cut, current, text = [], -1, ""
    for owner, first, last in zip(document.tolist(), start.tolist(), end.tolist(), strict=True):
        if owner != current:
            current, text = owner, texts[owner].as_py()
        cut.append(text[first:last])
    return cut


def stored_places(subject: Subject) -> Iterator[Problem | Note]:
    """Check that the stored bytes of a chunk are those of its characters, the stored tokens those of its lines in a
    context."""
    index, file = subject.index, subject.table("chunks")
    columns = [name for name in (*CHUNK_BYTES, CHUNK_TOKENS) if name in index.chunks.column_names]
    if not columns:
        yield Note("the index is of format 1, which stores neither")
        return
    expected = chunks_with_places(index.documents, index.chunks)
    for name in columns:
        wrong = np.flatnonzero(numbers(index.chunks[name]) != numbers(expected[name]))
        yield from at_rows(file, wrong, f"{name} is not that of its text")


_UNIT_TOLERANCE = 1e-3
_BLOCK = 65_536  # vectors measured at a time
_ALL_UP_TO = 1_000  # texts of a file that are embedded again; of more, so many are drawn
_DRAWN = 200
_SAME = 0.99  # cosine; another kind of processor may move a vector by 1e-3


def unit(subject: Subject) -> Iterator[Problem | Note]:
    """Check for one vector for each entity and chunk, of length 1, none NaN."""
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
    """Check that vectors are those of their texts, which are embedded again: all of a small file, a draw from a large
    one."""
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


_TOLERANCE = 1e-4


def rows(subject: Subject) -> Iterator[Problem | Note]:
    """Check that Chroma's rows are the entities of each layer, with their vectors; its files are those that were
    written."""
    layers = subject.index.layers
    place = place_in(subject.folder) if subject.folder is not None else None
    if subject.folder is None or place is None:
        yield Note("the index has no search index")
        return
    below = place.folder.relative_to(subject.folder).as_posix()
    try:
        measured = {of_layer.layer: of_layer for of_layer in layer_searches(place.folder)}
        changed = changed_file(place.folder, recorded(place.folder))
    except SearchIndexFailed as error:
        yield Problem(f"{below}/{SEARCH}", None, str(error))
        return
    if not measured:
        yield Note("the search index says nothing of its layers, or is of format 1")
        return
    for layer in layers:
        if layer.number not in measured or measured[layer.number].rows != len(layer):
            counted = measured[layer.number].rows if layer.number in measured else "no"
            text = f"it counts {counted} rows of layer {layer.number}, there are {len(layer)}"
            yield Problem(f"{below}/{SEARCH}", None, text)
    if changed:
        text = f"was changed or deleted after it was written: {sentence(REMEDY)}"
        yield Problem(f"{below}/{changed}", None, text)
        return
    if not place.database.is_file():
        yield Note("not checked: the search index is on a Chroma server")
        return
    # Chroma writes into a folder that it opens, and only one process may use it: the app may have it open.
    with tempfile.TemporaryDirectory(prefix="leanrag-check-") as temporary:
        copy = Path(temporary) / "copy"
        try:
            shutil.copytree(place.folder, copy)
        except OSError as error:
            yield Note(f"its rows are not checked: no room for a copy of the files ({error.strerror})")
            return
        yield from _rows(SearchPlace(subject.folder, copy), layers, f"{below}/{DATABASE}")


def _rows(place: SearchPlace, layers: Sequence[Layer], file: str) -> Iterator[Problem]:
    try:
        searcher = SearchIndex(place, connect_to_files)
        try:
            for layer in layers:
                yield from _different(searcher, layer.number, np.asarray(layer.vectors), file)
        finally:
            searcher.close()
    except SearchIndexFailed as error:
        yield Problem(file, None, str(error))


def _different(searcher: SearchIndex, number: int, vectors: np.ndarray, file: str) -> Iterator[Problem]:
    """Yield the rows of a layer that the search index lacks or holds with another vector. vectors: (n, d) float32."""
    stored = searcher.stored(number, len(vectors))
    missing = np.isnan(stored[:, 0]) if stored.shape[1] else np.ones(len(vectors), dtype=bool)
    yield from at_rows(file, np.flatnonzero(missing), f"the entity in that row of layer {number} is not there")
    if stored.shape[1] != vectors.shape[1]:
        return
    different = ~missing & ~(np.abs(stored - vectors).max(axis=1) <= _TOLERANCE)
    yield from at_rows(file, np.flatnonzero(different), f"its vector is not that of the row in layer {number}")
    extra = searcher.count(number) - int((~missing).sum())
    if extra:
        yield Problem(file, None, f"layer {number} has {extra} rows that are no entities")
