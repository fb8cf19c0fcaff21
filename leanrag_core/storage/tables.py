"""Tables on disk: Arrow files, mapped into memory, and the columns that are counted once, when they are written.

A mapped table takes no memory before a row of it is read, is shared by all processes that have it open, and opens in
the same time whatever its size. Files are renamed into place: what another reader has mapped stays what it was.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.errors import IndexDamaged
from leanrag_core.files.atomic import replacing
from leanrag_core.messages.message import message
from leanrag_core.storage.json_files import damaged
from leanrag_core.text.plain_words import in_words
from leanrag_core.text.tokens import count_many, finding_lines, rest_of_line
from leanrag_core.types.graph import ENTITY_TOKENS, RELATION_TOKENS, Layer
from leanrag_core.types.index import CHUNK_BYTES, CHUNK_TOKENS, Index, chunk_bytes

_ROWS = 1 << 20  # of one record batch
_CELLS_A_PART = 1 << 16


def write_table(path: Path, table: pa.Table) -> None:
    """Writes the table; equal tables give equal bytes, however they were chunked."""
    with (
        replacing(path) as written,
        pa.OSFile(str(written), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as file,
    ):
        file.write_table(table.combine_chunks(), max_chunksize=_ROWS)


def read_table(path: Path) -> pa.Table:
    """Return the table at `path`, mapped; what its cells point to is not looked at (storage.bounds). Raises
    IndexDamaged."""
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        table.validate()
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:
        raise unread(path, error) from error
    return table


def read_parquet(path: Path) -> pa.Table:
    """Return a table of index format 1, in memory. Raises IndexDamaged."""
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path).combine_chunks()
        table.validate(full=True)
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:
        raise unread(path, error) from error
    return table


def unread(path: Path, error: BaseException) -> IndexDamaged:
    """Return the error that the file cannot be read, and what to do."""
    return damaged(path, message("damage.unreadable", reason=in_words(error)[:300]))


def write_vectors(path: Path, vectors: np.ndarray) -> None:
    """Writes the vectors. vectors: (n, d), stored as float32."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    with replacing(path) as written, written.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        file.write(rows.data)  # as np.save writes it, but a full disk is an error that says so


def read_vectors(path: Path) -> np.ndarray:
    """Return the (rows, dim) vectors at `path`, mapped; nothing is ever unpickled. Raises IndexDamaged."""
    try:
        vectors: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses the header as Python: errors of many kinds, EOFError and SyntaxError too
        raise unread(path, error) from error
    if not isinstance(vectors, np.memmap) or vectors.dtype != np.float32 or not vectors.flags.c_contiguous:
        raise unread(path, ValueError("it is no array of 32-bit numbers, row by row"))
    return vectors


def entities_with_tokens(layer: Layer) -> pa.Table:
    """Return the layer's entities with their ENTITY_TOKENS: of the name after a space, of the description as the rest
    of a line, of all findings as lines of their own."""
    counts = (
        _counted(layer.entities["name"], lambda name: f" {name}"),
        _counted(layer.entities["description"], rest_of_line),
        _counted(layer.entities["findings"], lambda cell: finding_lines([tuple(row.values()) for row in cell or ()])),
    )
    return _with_columns(layer.entities, dict(zip(ENTITY_TOKENS, counts, strict=True)))


def relations_with_tokens(layer: Layer) -> pa.Table:
    """Return the layer's relations with their RELATION_TOKENS: of the description as the rest of a line."""
    counts = _counted(layer.relations["description"], rest_of_line)
    return _with_columns(layer.relations, dict.fromkeys(RELATION_TOKENS, counts))


def chunks_with_places(index: Index) -> pa.Table:
    """Return the index's chunks with their CHUNK_BYTES, and with CHUNK_TOKENS of their text as the rest of a line."""
    places = chunk_bytes(index.documents, index.chunks)
    texts = []
    for document, (start, end) in zip(index.chunks["document"].to_pylist(), places.tolist(), strict=True):
        text = index.documents["text"][document].as_buffer()[start:end].to_pybytes().decode()
        texts.append(rest_of_line(text.strip()))
    columns = {name: places[:, side].copy() for side, name in enumerate(CHUNK_BYTES)}
    return _with_columns(index.chunks, {**columns, CHUNK_TOKENS: count_many(texts)})


def _counted(column: pa.ChunkedArray, shown: Callable[[Any], str]) -> np.ndarray:
    """Count the tokens of each cell, (rows,) int32, as it is shown; a part of the column at a time is made of Python
    objects."""
    counts = [np.zeros(0, dtype=np.int32)]
    for start in range(0, len(column), _CELLS_A_PART):
        counts.append(count_many([shown(cell) for cell in column.slice(start, _CELLS_A_PART).to_pylist()]))
    return np.concatenate(counts)


def _with_columns(table: pa.Table, columns: dict[str, np.ndarray]) -> pa.Table:
    """Return the table with those columns, (rows,) each, in place of older ones of the same names."""
    others = table.drop_columns([name for name in columns if name in table.column_names])
    for name, values in columns.items():
        others = others.append_column(name, pa.array(values))
    return others
