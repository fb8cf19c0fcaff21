"""Checks that the recorded place and token count of each chunk are right."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.storage.tables import chunks_with_places
from leanrag_core.text.tokens import count_many
from leanrag_core.types.index import CHUNK_BYTES, CHUNK_TOKENS
from leanrag_core.types.rows import numbers


def spans(subject: Subject) -> Iterator[Problem | Note]:
    """Chunks lie inside their documents and count their tokens right."""
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
    cut, at, text = [], -1, ""
    for owner, first, last in zip(document.tolist(), start.tolist(), end.tolist(), strict=True):
        if owner != at:
            at, text = owner, texts[owner].as_py()
        cut.append(text[first:last])
    return cut


def stored(subject: Subject) -> Iterator[Problem | Note]:
    """The stored bytes of a chunk are those of its characters, the stored tokens those of its lines in a context."""
    index, file = subject.index, subject.table("chunks")
    columns = [name for name in (*CHUNK_BYTES, CHUNK_TOKENS) if name in index.chunks.column_names]
    if not columns:
        yield Note("the index is of format 1, which stores neither")
        return
    expected = chunks_with_places(index)
    for name in columns:
        wrong = np.flatnonzero(numbers(index.chunks[name]) != numbers(expected[name]))
        yield from at_rows(file, wrong, f"{name} is not that of its text")
