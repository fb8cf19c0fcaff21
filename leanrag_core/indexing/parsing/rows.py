"""Rows of a table to text: each row whole, as lines of "column: value"."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from leanrag_core.indexing.parsing.blocks import Block


def blocks_of_rows(rows: Iterable[Sequence[str]], page: int = 0) -> Iterator[Block]:
    """A paragraph a row, the first row being the names of the columns. Empty rows are left out.

    A table of one row has no names.
    """
    filled = (row for row in rows if any(cell.strip() for cell in row))
    head = next(filled, None)
    first = next(filled, None)
    if head is None:
        return
    if first is None:
        yield Block(" | ".join(head), page=page)
        return
    names = [cell.strip() or f"column {number}" for number, cell in enumerate(head, 1)]
    for row in chain([first], filled):
        names += [f"column {number}" for number in range(len(names) + 1, len(row) + 1)]
        pairs = zip(names, row, strict=False)
        yield Block("\n".join(f"{name}: {cell.strip()}" for name, cell in pairs if cell.strip()), page=page)
