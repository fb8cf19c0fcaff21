"""DOCX: paragraphs and tables in the order of the document."""

import io
import re
import zipfile
from typing import Any

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed

SUFFIXES = ("docx",)
MEDIA_TYPE = "docx"
_MAX_UNPACKED = 500 * 1024 * 1024
_HEADING = re.compile(r"(?:heading|überschrift|titre) (\d)", re.IGNORECASE)


def parse(name: str, content: bytes) -> FormatResult:
    """One document. Raises UnreadableDocument for what is no DOCX."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableDocument("is an old Word file or protected by a password: save it as .docx without a password")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MAX_UNPACKED:
                raise UnreadableDocument("unpacks to more than 500 MB: it is not taken")
        document = docx.Document(io.BytesIO(content))
    except (zipfile.BadZipFile, PackageNotFoundError, KeyError, ValueError, SyntaxError) as error:
        raise UnreadableDocument(
            "is not a readable DOCX file: open it in a word processor and save it again"
        ) from error
    blocks: list[Block] = []
    for item in document.iter_inner_content():
        blocks += _table(item) if hasattr(item, "rows") else [_paragraph(item)]
    return FormatResult((Parsed(tuple(blocks), title=document.core_properties.title or ""),))


def _paragraph(paragraph: Any) -> Block:
    style = (paragraph.style.name if paragraph.style is not None else "") or ""
    found = _HEADING.match(style)
    if style == "Title" or found:
        return Block(paragraph.text, "heading", int(found[1]) if found else 1)
    if style.lower().startswith("toc"):
        return Block(paragraph.text, "boilerplate")
    return Block(f"- {paragraph.text}" if style.startswith("List") and paragraph.text.strip() else paragraph.text)


def _table(table: Any) -> list[Block]:
    """A block a row; cells that span several columns are written once."""
    rows = []
    for row in table.rows:
        cells: list[str] = []
        seen: set[int] = set()
        for cell in row.cells:
            if id(cell._tc) not in seen:
                seen.add(id(cell._tc))
                cells.append(" ".join(cell.text.split()))
        rows.append(Block(" | ".join(cells)))
    return rows
