"""Rows of a table to text: each row whole, as lines of "column: value"; and what delimits the cells of a CSV file."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from leanrag_core.indexing.parsing.blocks import Block

_SAMPLE = 8192  # characters


def delimiter_of(text: str, delimiters: str) -> str:
    """Return the delimiter that cuts most of the first rows into the same number of cells, more than one; else a comma.

    csv.Sniffer would take time that grows with the square of the text, and guesses at quotes too.
    """
    best, delimiter = (0, 0), ","
    for candidate in delimiters:
        lines = io.StringIO(text[:_SAMPLE], newline="")
        widths = Counter(map(len, csv.reader(lines, delimiter=candidate, skipinitialspace=True)))
        fit = max(((n, width) for width, n in widths.items() if width > 1), default=(0, 0))
        if fit > best:
            best, delimiter = fit, candidate
    return delimiter


def blocks_of_rows(rows: Iterable[Sequence[str]], page: int = 0) -> Iterator[Block]:
    """Yield a paragraph a row, the first row being the names of the columns. Empty rows are left out.

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
