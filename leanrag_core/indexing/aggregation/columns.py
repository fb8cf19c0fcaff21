"""Columns of a layer, read cell by cell, so that a million texts are not a million objects."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

_BLOCK = 8192  # cells that become objects together


class Texts:
    """A column of strings; an empty cell reads as `empty`."""

    def __init__(self, column: pa.ChunkedArray, empty: str = "") -> None:
        self._column = column
        self._cells = column.chunk(0) if column.num_chunks == 1 else column
        self._empty = empty

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, row: int) -> str:
        return self._cells[row].as_py() or self._empty

    def of(self, rows: np.ndarray) -> list[str]:
        """Return the cells of those rows. rows: (k,) int."""
        return [text or self._empty for text in self._cells.take(pa.array(rows)).to_pylist()]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self._column), _BLOCK):
            for text in self._column.slice(start, _BLOCK).to_pylist():
                yield text or self._empty


class Lists:
    """A column of lists of strings."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._cells = column.chunk(0) if column.num_chunks == 1 else column

    def of(self, rows: np.ndarray) -> list[tuple[str, ...]]:
        """Return the cells of those rows. rows: (k,) int."""
        return [tuple(words or ()) for words in self._cells.take(pa.array(rows)).to_pylist()]


def joined(column: pa.ChunkedArray) -> pa.Array:
    """Return the column of n cells as one array, (n,)."""
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def list_offsets(lengths: np.ndarray) -> pa.Array:
    """Return the offsets, (n + 1,) int32, of a list array whose lists have these lengths. lengths: (n,) int."""
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def distinct(values: np.ndarray) -> np.ndarray:
    """Return the values in order, each once, (k,); several times as fast as np.unique where there are many. values:
    (n,) int.
    """
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]
