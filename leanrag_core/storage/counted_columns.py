"""The columns that are counted once, when a table is stored.

They are a function of a part of a table alone. Where a row has the text of the same row in the table that is replaced,
its count is taken over: after a change of a few rows the others are not counted again, since counting takes ten times
as long as writing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.text.tokens import count_many, finding_lines, rest_of_line
from leanrag_core.types.graph import ENTITY_TOKENS, RELATION_TOKENS
from leanrag_core.types.index import CHUNK_BYTES, CHUNK_TOKENS, CorpusTables, chunk_bytes
from leanrag_core.types.rows import numbers

_CELLS_A_PART = 1 << 16


def entities_with_tokens(entities: pa.Table, earlier: pa.Table | None = None) -> pa.Table:
    """Return the entities with their ENTITY_TOKENS: of the name after a space, of the description as the rest of a
    line, of all findings as lines of their own. earlier: rows that they replace, counted."""
    shown: tuple[tuple[str, Callable[[Any], str]], ...] = (
        ("name", lambda name: f" {name}"),
        ("description", rest_of_line),
        ("findings", lambda cell: finding_lines([tuple(row.values()) for row in cell or ()])),
    )
    columns = {
        tokens: _counted(entities[name], show, _known(entities[name], name, tokens, earlier))
        for tokens, (name, show) in zip(ENTITY_TOKENS, shown, strict=True)
    }
    return _with_columns(entities, columns)


def relations_with_tokens(relations: pa.Table, earlier: pa.Table | None = None) -> pa.Table:
    """Return the relations with their RELATION_TOKENS: of the description as the rest of a line. earlier: rows that
    they replace, counted."""
    text = relations["description"]
    columns = {
        tokens: _counted(text, rest_of_line, _known(text, "description", tokens, earlier)) for tokens in RELATION_TOKENS
    }
    return _with_columns(relations, columns)


def chunks_with_places(documents: pa.Table, chunks: pa.Table, earlier: CorpusTables | None = None) -> pa.Table:
    """Return the chunks with their CHUNK_BYTES, and with CHUNK_TOKENS of their text as the rest of a line. earlier:
    rows that they replace, counted, and all previous documents."""
    owner = numbers(chunks["document"])
    first, stop = (int(owner.min()), int(owner.max()) + 1) if len(owner) else (0, 0)
    texts, document_rows = documents["text"].slice(first, stop - first), owner - first
    places = chunk_bytes(documents.slice(first, stop - first), _with_columns(chunks, {"document": document_rows}))
    counts, changed = _counts_of_same_chunks(texts, first, chunks, earlier)
    cells = []
    for row, (start, end) in zip(changed.tolist(), places[changed].tolist(), strict=True):
        text = texts[int(document_rows[row])].as_buffer()[start:end].to_pybytes().decode()
        cells.append(rest_of_line(text.strip()))
    counts[changed] = count_many(cells)
    columns = {name: places[:, side].copy() for side, name in enumerate(CHUNK_BYTES)}
    return _with_columns(chunks, {**columns, CHUNK_TOKENS: counts})


def _counts_of_same_chunks(
    texts: pa.ChunkedArray, first: int, chunks: pa.Table, earlier: CorpusTables | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return counts of the chunks, (n,) int32, and the rows that are still to be counted, (k,): those that are at
    another place than before, or in a document with another text. texts: of the documents from row `first` on."""
    counts = np.zeros(chunks.num_rows, dtype=np.int32)
    if earlier is None or CHUNK_TOKENS not in earlier.chunks.column_names:
        return counts, np.arange(chunks.num_rows)
    n = min(chunks.num_rows, earlier.chunks.num_rows)
    same = np.zeros(chunks.num_rows, dtype=bool)
    same[:n] = True
    for name in ("document", "start", "end"):
        same[:n] &= numbers(chunks[name].slice(0, n)) == numbers(earlier.chunks[name].slice(0, n))
    same_text = np.zeros(len(texts), dtype=bool)
    same_text[_equal_rows(texts, earlier.documents["text"].slice(first))] = True
    rows = np.flatnonzero(same)
    rows = rows[same_text[numbers(chunks["document"])[rows] - first]]
    counts[rows] = numbers(earlier.chunks[CHUNK_TOKENS])[rows]
    return counts, np.setdiff1d(np.arange(chunks.num_rows), rows, assume_unique=True)


def _equal_rows(column: pa.ChunkedArray, earlier: pa.ChunkedArray) -> np.ndarray:
    """Return the rows whose cells are as those of the same row before, (k,) int64; of lists all or none."""
    import pyarrow.compute as pc

    n = min(len(column), len(earlier))
    column, earlier = column.slice(0, n), earlier.slice(0, n)
    if pa.types.is_list(column.type):
        return np.arange(n if column.equals(earlier) else 0)
    equal = pc.fill_null(pc.equal(column, earlier), False)
    return numbers(pc.indices_nonzero(equal)).astype(np.int64)


def _known(
    column: pa.ChunkedArray, name: str, tokens: str, earlier: pa.Table | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the rows of which the earlier table holds the count, and these counts, (k,) each; None without one."""
    if earlier is None or tokens not in earlier.column_names:
        return None
    rows = _equal_rows(column, earlier[name])
    return rows, numbers(earlier[tokens])[rows]


def _counted(
    column: pa.ChunkedArray, shown: Callable[[Any], str], known: tuple[np.ndarray, np.ndarray] | None
) -> np.ndarray:
    """Return the tokens of each cell as it is shown, (rows,) int32; counts of known rows are taken over. Only a part of
    the column at a time is made into Python objects."""
    counts = np.zeros(len(column), dtype=np.int32)
    if known is None or not len(known[0]):
        for start in range(0, len(column), _CELLS_A_PART):
            cells = column.slice(start, _CELLS_A_PART).to_pylist()
            counts[start : start + len(cells)] = count_many([shown(cell) for cell in cells])
        return counts
    rows, counts[known[0]] = np.setdiff1d(np.arange(len(column)), known[0], assume_unique=True), known[1]
    for start in range(0, len(rows), _CELLS_A_PART):
        some = rows[start : start + _CELLS_A_PART]
        counts[some] = count_many([shown(cell) for cell in column.take(pa.array(some)).to_pylist()])
    return counts


def _with_columns(table: pa.Table, columns: dict[str, np.ndarray]) -> pa.Table:
    """Return the table with those columns, (rows,) each, in place of older ones of the same names."""
    others = table.drop_columns([name for name in columns if name in table.column_names])
    for name, values in columns.items():
        others = others.append_column(name, pa.array(values))
    return others
