"""From columns to numbers, and from an id to its row, without a Python object for every cell."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

_SCANS = 16  # look-ups by scanning before the ids are sorted once


def numbers(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return the column's numbers, (n,) of the column's type, read-only; a column in one piece is not copied.

    pyarrow's own to_numpy() imports pandas, which takes a second and 60 MB.
    """
    if column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    pieces = [column] if isinstance(column, pa.Array) else column.chunks
    made = [np.from_dlpack(piece) for piece in pieces if len(piece)]
    if len(made) == 1:
        return made[0]
    is_float, size = pa.types.is_floating(column.type), column.type.bit_width // 8
    return np.concatenate([*made, np.zeros(0, dtype=f"{'f' if is_float else 'i'}{size}")])


class Columns:
    """The columns of a table, each looked up in it once: a cell then costs a third of `table[name][row]`."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._columns: dict[str, pa.Array | pa.ChunkedArray] = {}

    def __getitem__(self, name: str) -> pa.Array | pa.ChunkedArray:
        """Return that column of the table, in one piece where it is stored so."""
        column = self._columns.get(name)
        if column is None:
            chunked = self._table[name]
            column = self._columns[name] = chunked.chunk(0) if chunked.num_chunks == 1 else chunked
        return column


class Lists:
    """A column of n lists of numbers, whose cells are views; a list that is null is empty.

    offsets: (n + 1,), values: the numbers of all lists; list i is values[offsets[i] : offsets[i + 1]].
    """

    def __init__(self, column: pa.ChunkedArray) -> None:
        lists = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if lists.null_count:  # what a null list's slot holds is not defined
            lists = pa.array([cell or [] for cell in lists.to_pylist()], lists.type)
        self.offsets, self.values = numbers(lists.offsets), numbers(lists.values)

    def __getitem__(self, row: int) -> np.ndarray:
        """Return the list in that row, (k,)."""
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def joined(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of those lists, one list after the other. rows: (k,) int."""
        starts = self.offsets[rows].astype(np.int64)
        counts = self.offsets[rows + 1] - starts
        places = np.arange(int(counts.sum())) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        return np.asarray(self.values[places])


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
