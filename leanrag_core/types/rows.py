"""From columns to numbers, and from an id to its row, without a Python object for every cell."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

_SCANS = 16  # look-ups by scanning before the ids are sorted once


def numbers(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return the column's numbers, (n,) of the column's type, read-only; a column in one piece is not copied.

    pyarrow's own to_numpy() imports pandas, which takes a second and 60 MB.
    """
    if column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    pieces = [column] if isinstance(column, pa.Array) else column.chunks
    arrays = [np.from_dlpack(piece) for piece in pieces if len(piece)]
    if len(arrays) == 1:
        return arrays[0]
    is_float, size = pa.types.is_floating(column.type), column.type.bit_width // 8
    return np.concatenate([*arrays, np.zeros(0, dtype=f"{'f' if is_float else 'i'}{size}")])


def with_column(table: pa.Table, name: str, values: Sequence[Any] | np.ndarray) -> pa.Table:
    """Return the table with other values, (rows,), in that column."""
    place = table.schema.get_field_index(name)
    field = table.schema.field(place)
    return table.set_column(place, field, pa.array(values, field.type))


def places_of_runs(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the places of runs, one run after the other, (counts.sum(),) int64. starts, counts: (k,), of each run its
    first place and how many it has."""
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(starts - np.cumsum(counts) + counts, counts))


def starts_of_runs(values: np.ndarray) -> np.ndarray:
    """Return the first place of each run of equal neighbours, (k,) int64. values: (n,)."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def place_of_each(rows: np.ndarray | Sequence[int], n: int) -> np.ndarray:
    """Return for each of n rows its place among those rows, -1 where it is not among them; (n,) int64. rows: (k,) int,
    each once."""
    places = np.full(n, -1, dtype=np.int64)
    places[rows] = np.arange(len(rows))
    return places


def incidence(offsets: np.ndarray, values: np.ndarray, n_columns: int) -> "csr_array":
    """Return lists of columns as a matrix, (n, n_columns) float32: 1 where the list has the column. Offsets: (n + 1,),
    list i is values[offsets[i] : offsets[i + 1]]."""
    from scipy.sparse import csr_array

    first, last = int(offsets[0]), int(offsets[-1])
    ones = np.ones(last - first, dtype=np.float32)
    return csr_array((ones, values[first:last], offsets - first), shape=(len(offsets) - 1, n_columns))


def entries_of(matrix: "csr_array | csc_array", place: int) -> np.ndarray:
    """Return the columns in which a row of a CSR matrix has entries, or the rows of a column of a CSC matrix; (k,) int,
    as they are stored."""
    return np.asarray(matrix.indices[matrix.indptr[place] : matrix.indptr[place + 1]])


_SHORT = 4096  # rows of a table whose values are kept


class Columns:
    """The columns of a table, each looked up in it once: a cell then costs a third of `table[name][row]`, and less in a
    short table, whose values are kept."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        self._values: dict[str, list[Any]] = {}

    def value(self, name: str, row: int) -> Any:
        """Return the value of a cell."""
        values = self._values.get(name)
        if values is not None:
            return values[row]
        column = self[name]
        if len(column) <= _SHORT:
            self._values[name] = column.to_pylist()
        return column[row].as_py()

    def __getitem__(self, name: str) -> pa.Array | pa.ChunkedArray:
        """Return that column of the table, in one piece where it is stored so."""
        column = self._columns.get(name)
        if column is None:
            chunked = self._table[name]
            column = self._columns[name] = chunked.chunk(0) if chunked.num_chunks == 1 else chunked
        return column


class Rows:
    """What stands in the rows of a table."""

    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def cells(self) -> Columns:
        """The columns, for reading single cells."""
        return Columns(self.table)


class Lists:
    """A column of n lists of numbers, whose cells are views; a list that is null is empty.

    A column in several pieces is joined where all of its lists are asked for at once, not for some of them.
    """

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._pieces = [_ListPiece(piece) for piece in column.chunks if len(piece)]
        self._starts = np.cumsum([0, *(len(piece.offsets) - 1 for piece in self._pieces)])
        self._type = column.type.value_type

    @cached_property
    def _joined(self) -> "_ListPiece":
        if len(self._pieces) == 1:
            return self._pieces[0]
        joined = _ListPiece(pa.array([], pa.list_(self._type)))
        cut = [piece.values[piece.offsets[0] : piece.offsets[-1]] for piece in self._pieces]
        lengths = [np.diff(piece.offsets) for piece in self._pieces]
        joined.offsets = np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64)
        joined.values = np.concatenate([joined.values, *cut])
        return joined

    @property
    def offsets(self) -> np.ndarray:
        """Return where each list begins and ends, (n + 1,) int: list i is values[offsets[i] : offsets[i + 1]]."""
        return self._joined.offsets

    @property
    def values(self) -> np.ndarray:
        """Return the numbers of all lists, (m,)."""
        return self._joined.values

    def __getitem__(self, row: int) -> np.ndarray:
        """Return the list in that row, (k,)."""
        if len(self._pieces) == 1:
            piece = self._pieces[0]
        else:
            number = int(np.searchsorted(self._starts, row, side="right")) - 1
            piece, row = self._pieces[number], row - int(self._starts[number])
        return piece.values[piece.offsets[row] : piece.offsets[row + 1]]

    def joined(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of those lists, one list after the other. rows: (k,) int."""
        if len(self._pieces) != 1:
            return np.concatenate([np.zeros(0, self._type.to_pandas_dtype()), *(self[int(row)] for row in rows)])
        offsets, values = self._pieces[0].offsets, self._pieces[0].values
        starts = offsets[rows].astype(np.int64)
        counts = offsets[rows + 1] - starts
        return np.asarray(values[places_of_runs(starts, counts)])


class _ListPiece:
    """A piece of a column of lists. offsets: (n + 1,). values: the numbers of all lists."""

    def __init__(self, lists: pa.ListArray) -> None:
        if lists.null_count:  # what a null list's slot holds is not defined
            lists = pa.array([cell or [] for cell in lists.to_pylist()], lists.type)
        self.offsets, self.values = numbers(lists.offsets), numbers(lists.values)


class RowOf(Mapping[str, int]):
    """Row of each id of a column, as a mapping. The first look-ups scan the column; then the ids are sorted, once.

    Of an id that is there twice the last row counts.
    """

    def __init__(self, ids: pa.ChunkedArray) -> None:
        self._ids = ids
        self._scans = 0
        self._sorted: tuple[np.ndarray, pa.ChunkedArray] | None = None

    def __getitem__(self, id_: str) -> int:
        row = self._row(id_) if isinstance(id_, str) else -1
        if row < 0:
            raise KeyError(id_)
        return row

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids.to_pylist())

    def _row(self, id_: str) -> int:
        import pyarrow.compute as pc

        if self._sorted is None and self._scans < _SCANS:
            self._scans += 1
            rows = np.flatnonzero(pc.equal(self._ids, id_).to_numpy())
            return int(rows[-1]) if len(rows) else -1
        if self._sorted is None:
            order = pc.sort_indices(self._ids)
            self._sorted = order.to_numpy(), self._ids.take(order)
        order, ids = self._sorted
        low, high = 0, len(ids)
        while low < high:  # the first place whose id is larger
            middle = (low + high) // 2
            if ids[middle].as_py() <= id_:
                low = middle + 1
            else:
                high = middle
        if low == 0 or ids[low - 1].as_py() != id_:
            return -1
        return int(order[low - 1])
