"""CSV: each row whole, as lines of "column: value"; a formula is text like any other."""

import csv
import io

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import FormatResult, Parsed
from leanrag_core.indexing.parsing.encoding import decode
from leanrag_core.indexing.parsing.rows import blocks_of_rows

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
        blocks = tuple(blocks_of_rows(reader))
    except csv.Error as error:
        raise UnreadableDocument("file.not_csv", reason=str(error)) from error
    return FormatResult((Parsed(blocks, notes=decoded.notes),))
