"""A source for imported rows that name none: a document made of their descriptions."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from leanrag_core.importing.sources import document_of_text, windows
from leanrag_core.importing.taken import TakenEntity, TakenRelation
from leanrag_core.indexing.parsing.blocks import one_line
from leanrag_core.types.corpus import Chunk, Document

Row = TypeVar("Row", TakenEntity, TakenRelation)


@dataclass(frozen=True)
class DescribedRows:
    """A document with a line for each row. chunk_of: id of the chunk that a row's line begins in."""

    document: Document
    chunks: tuple[Chunk, ...]
    chunk_of: dict[TakenEntity | TakenRelation, str]

    def with_chunks(self, row: Row) -> Row:
        """Return the row with its chunk; one that has sources stays as it is."""
        chunk = self.chunk_of.get(row)
        return row if chunk is None else replace(row, chunks=(chunk,))


def described_rows(rows: Sequence[TakenEntity | TakenRelation], name: str) -> DescribedRows:
    """Make the document of that name that holds the descriptions of these rows."""
    lines = [_line(row) for row in rows]
    document = document_of_text(name, name, "\n".join(lines))
    chunks = tuple(windows(document))
    begins = [chunk.start for chunk in chunks]
    chunk_of: dict[TakenEntity | TakenRelation, str] = {}
    start = 0
    for row, line in zip(rows, lines, strict=True):
        chunk_of[row] = chunks[bisect_right(begins, start) - 1].id
        start += len(line) + 1
    return DescribedRows(document, chunks, chunk_of)


def _line(row: TakenEntity | TakenRelation) -> str:
    if isinstance(row, TakenEntity):
        return one_line(f"{row.name}: {row.description}" if row.description else row.name)
    ends = f"{row.source.name} – {row.target.name}"
    return one_line(row.description if row.description == ends else f"{ends}: {row.description}")
