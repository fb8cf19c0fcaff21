"""CSV: each row whole, as lines of "column: value"; a formula is text like any other."""

import csv
import io

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import FormatResult, Parsed, blocks_of_rows, delimiter_of
from leanrag_core.indexing.parsing.encoding import decode

SUFFIXES = ("csv", "tsv")
MEDIA_TYPE = "csv"


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document, a paragraph a row. Raises UnreadableDocument for what is no table."""
    decoded = decode(content)
    csv.field_size_limit(10_000_000)
    try:
        delimiter = delimiter_of(decoded.text, ",;\t|")
        lines = io.StringIO(decoded.text, newline="")  # lines that end in a lone carriage return are lines too
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        blocks = tuple(blocks_of_rows(reader))
    except csv.Error as error:
        raise UnreadableDocument("file.not_csv", reason=str(error)) from error
    return FormatResult((Parsed(blocks, notes=decoded.notes),))
