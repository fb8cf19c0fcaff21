"""Tables on disk: Arrow files, mapped into memory.

A mapped table takes no memory before a row of it is read, is shared by all processes that have it open, and opens in
the same time whatever its size. Files are renamed into place: what another reader has mapped stays what it was.
"""

import io
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from leanrag_core.errors import IndexDamaged, InvalidVectors
from leanrag_core.files.atomic import replacing
from leanrag_core.messages.message import message
from leanrag_core.storage.digests import damaged
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.graph import ENTITY_TOKENS, RELATION_TOKENS
from leanrag_core.types.index import CHUNK_BYTES, CHUNK_TOKENS
from leanrag_core.types.rows import numbers

_MAY_BE_NULL = ("type", "language", "title", "media_type", "findings", "chunks", "members", "keywords", "notes")
_COUNTED = (*ENTITY_TOKENS, *RELATION_TOKENS, CHUNK_TOKENS, *CHUNK_BYTES)  # columns that a stored table may add


def require_unit_rows(vectors: np.ndarray, what: str) -> None:
    """Raise InvalidVectors when a row is NaN, zero, or not of length 1. vectors: (n, dim)."""
    norms = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(~(np.abs(norms - 1.0) < 1e-3))
    if len(bad):
        raise InvalidVectors("vectors.not_unit", n=len(bad), what=what, row=int(bad[0]))


def require_columns(table: pa.Table, schema: pa.Schema, path: Path) -> None:
    """Raise IndexDamaged when a column is missing, of another type, empty where it may not be, or leads outside."""
    present = set(table.column_names)
    for field in schema:
        if field.name not in present or table.schema.field(field.name).type != field.type:
            raise damaged(path, message("damage.no_column", column=field.name, type=str(field.type)))
    for name in table.column_names:
        column = table[name]
        if name in _COUNTED and not pa.types.is_integer(column.type):
            raise damaged(path, message("damage.no_integers", column=name))
        if column.null_count and name not in _MAY_BE_NULL:
            raise damaged(path, message("damage.empty_cells", n=column.null_count, column=name))
        for piece in column.chunks:
            row = _first_unsound(piece)
            if row is not None:
                raise damaged(path, message("damage.outside_file", column=name, row=row))


def _first_unsound(array: pa.Array) -> int | None:
    """Return the first row of the array (or of one within it) whose offsets do not ascend within what they point
    into."""
    kind = array.type
    if pa.types.is_struct(kind):
        parts = (_first_unsound(array.field(place)) for place in range(kind.num_fields))
        return next((row for row in parts if row is not None), None)
    if not (pa.types.is_list(kind) or pa.types.is_string(kind)):
        return None
    buffers = array.buffers()
    if len(array) == 0 or buffers[1] is None:
        return None if len(array) == 0 else 0
    offsets = np.frombuffer(buffers[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    end = len(array.values) if pa.types.is_list(kind) else buffers[2].size if buffers[2] is not None else 0
    if len(offsets) <= len(array):
        return len(offsets)
    if offsets[0] < 0 or offsets[-1] > end or (offsets[1:] < offsets[:-1]).any():
        outside = np.concatenate([offsets[1:] < offsets[:-1], [True]]) | (offsets < 0) | (offsets > end)
        return int(np.flatnonzero(outside)[0])
    return _first_unsound(array.values) if pa.types.is_list(kind) else None


def mapped_vectors(path: Path, rows: int, dimension: int) -> np.ndarray:
    """Return the (rows, dimension) float32 vectors of an index part, mapped from the disk. Raises IndexDamaged for
    another shape."""
    vectors = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    require_vectors(vectors, rows, dimension, path)
    return vectors


def require_vectors(vectors: np.ndarray, rows: int, dimension: int, path: Path) -> None:
    """Raise IndexDamaged when there is not one vector of that dimension for each row: (rows, dimension)."""
    if vectors.shape != (rows, dimension):
        raise damaged(path, message("damage.shape", shape=str(vectors.shape), rows=rows, dimension=dimension))


def require_chunks(documents: pa.Table, chunks: pa.Table, path: Path) -> None:
    """Raise IndexDamaged when a chunk does not lie in a document that is there."""
    import pyarrow.compute as pc

    owner = numbers(chunks["document"])
    require_range(owner, documents.num_rows, path, "document")
    for first, last in (("start", "end"), CHUNK_BYTES):
        if first in chunks.column_names and last in chunks.column_names:
            start, end = numbers(chunks[first]), numbers(chunks[last])
            lengths = numbers(pc.binary_length(documents["text"]))[owner]  # of bytes, at least one a character
            wrong = np.flatnonzero((start < 0) | (start > end) | (end > lengths))
            if len(wrong):
                raise damaged(path, message("damage.outside_document", column=first, row=int(wrong[0])))


def require_entities(entities: pa.Table, n_chunks: int, path: Path) -> None:
    """Raise IndexDamaged when a chunk of an entity is a row that is not there."""
    _require_cells(entities, "chunks", n_chunks, path)


def require_relations(relations: pa.Table, n_entities: int, n_below: int, n_chunks: int, path: Path) -> None:
    """Raise IndexDamaged when an end, a member or a chunk of a relation is a row that is not there. n_below: relations
    of the layer below."""
    for name in ("source", "target"):
        require_range(numbers(relations[name]), n_entities, path, name)
    _require_cells(relations, "members", n_below, path)
    _require_cells(relations, "chunks", n_chunks, path)
    weight = numbers(relations["weight"])
    wrong = np.flatnonzero(~np.isfinite(weight))
    if len(wrong):
        raise damaged(path, message("damage.no_number", column="weight", row=int(wrong[0])))


def require_tree(tree: pa.Table, sizes: list[int], path: Path) -> None:
    """Raise IndexDamaged when not every entity but those of the last layer has one parent in the layer above."""
    owner, row, parent = (numbers(tree[name]) for name in ("layer", "row", "parent"))
    if len(owner) != sum(sizes[:-1]):
        raise damaged(path, message("damage.tree_size", named=len(owner), held=sum(sizes[:-1])))
    start = 0
    for number, (size, above) in enumerate(pairwise(sizes)):
        part = slice(start, start + size)
        if (owner[part] != number).any() or (row[part] != np.arange(size, dtype=np.int32)).any():
            raise damaged(path, message("damage.tree_order", layer=number))
        require_range(parent[part], above, path, "parent", start)
        start += size


def _require_cells(table: pa.Table, name: str, end: int, path: Path) -> None:
    for piece in table[name].chunks:
        if piece.values.null_count:
            raise damaged(path, message("damage.empty_list_cells", column=name))
        require_range(numbers(piece.flatten()), end, path, name)


def require_range(values: np.ndarray, end: int, path: Path, name: str, start: int = 0) -> None:
    """Raise IndexDamaged when a value is no row below `end`. start: place of the first value in its column. values:
    (n,) int."""
    if len(values) and (values.min() < 0 or values.max() >= end):
        wrong = int(np.flatnonzero((values < 0) | (values >= end))[0])
        problem = message("damage.no_such_row", column=name, place=start + wrong, value=int(values[wrong]))
        raise damaged(path, problem)


Sink: TypeAlias = io.RawIOBase | io.BufferedIOBase | pa.NativeFile  # of the bytes of a file
_ROWS = 1 << 20  # of one record batch


def write_table(path: Path, table: pa.Table) -> None:
    """Write the table; equal tables give equal bytes, however they were chunked."""
    with replacing(path) as new_path, pa.OSFile(str(new_path), "wb") as sink:
        table_into(sink, table)


def table_into(sink: Sink, table: pa.Table) -> None:
    """Write the table's bytes as a file has them."""
    with pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table.combine_chunks(), max_chunksize=_ROWS)


def rows_into(sink: Sink, rows: pa.Table) -> None:
    """Write a slice of a table as a file of its own, a function of these rows alone; one record batch is copied at a
    time.

    Arrow writes a slice with up to 63 bytes of the texts that come after it, in place of padding: such a file would
    change with its neighbours, and hold words of a document that is gone.
    """
    nothing = rows.schema.empty_table()
    with pa.ipc.new_file(sink, rows.schema) as file:
        for start in range(0, rows.num_rows, _ROWS):
            batch = pa.concat_tables([rows.slice(start, _ROWS), nothing])
            file.write_table(batch.combine_chunks(), max_chunksize=_ROWS)  # two pieces at least: always a copy


def read_table(path: Path) -> pa.Table:
    """Return the table at `path`, mapped; what its cells point to is not looked at (storage.tables). Raises
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


def vectors_into(sink: Sink, vectors: np.ndarray) -> None:
    """Write the vectors' bytes as a file has them. vectors: (n, d), stored as float32."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    np.lib.format.write_array_header_1_0(sink, np.lib.format.header_data_from_array_1_0(rows))
    sink.write(rows.data)  # as np.save writes it, but a full disk is an error that says so


def read_vectors(path: Path) -> np.ndarray:
    """Return the (rows, dim) vectors at `path`, mapped; nothing is ever unpickled. Raises IndexDamaged."""
    try:
        vectors: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses the header as Python: errors of many kinds, EOFError and SyntaxError too
        raise unread(path, error) from error
    if not isinstance(vectors, np.memmap) or vectors.dtype != np.float32 or not vectors.flags.c_contiguous:
        raise unread(path, ValueError("it is no array of 32-bit numbers, row by row"))
    return vectors
