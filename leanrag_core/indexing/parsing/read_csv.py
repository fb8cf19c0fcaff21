"""CSV: each row whole, as lines of "column: value"; a formula is text like any other."""

import csv
import io

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed
from leanrag_core.indexing.parsing.encoding import decode

SUFFIXES = ("csv", "tsv")
MEDIA_TYPE = "csv"


def parse(name: str, content: bytes) -> FormatResult:
    """One document, a paragraph a row. Raises UnreadableDocument for what is no table."""
    decoded = decode(content)
    csv.field_size_limit(10_000_000)
    try:
        # Only the delimiter: the sniffer's guess at quoting is wrong when the first quoted quote comes later.
        delimiter = csv.Sniffer().sniff(decoded.text[:8192], delimiters=",;\t|").delimiter
    except csv.Error:
        delimiter = ","
    try:
        lines = io.StringIO(decoded.text, newline="")  # lines that end in a lone carriage return are lines too
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        rows = [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise UnreadableDocument(f"is not a readable CSV file ({error}): save the table again as CSV") from error
    if len(rows) < 2:
        return FormatResult((Parsed(tuple(Block(" | ".join(row)) for row in rows), notes=decoded.notes),))
    head, blocks = [cell.strip() or f"column {n}" for n, cell in enumerate(rows[0], 1)], []
    for row in rows[1:]:
        names = [*head, *(f"column {n}" for n in range(len(head) + 1, len(row) + 1))]
        pairs = zip(names, row, strict=False)
        blocks.append(Block("\n".join(f"{name}: {cell.strip()}" for name, cell in pairs if cell.strip())))
    return FormatResult((Parsed(tuple(blocks), notes=decoded.notes),))
