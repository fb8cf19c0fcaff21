"""DOCX: paragraphs and tables in the order of the document, as they read when every tracked change is accepted."""

import io
import re
from collections.abc import Iterator
from typing import Any

from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed
from leanrag_core.indexing.parsing.limits import own_text, read_office

SUFFIXES = ("docx",)
MEDIA_TYPE = "docx"
_HEADING = re.compile(r"(?:heading|überschrift|titre) (\d)", re.IGNORECASE)
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_WRAPPERS = frozenset(_W + name for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"))
# Text boxes are blocks of their own; deleted text, layout and the reading beside an ideograph are not read.
_UNREAD = frozenset([_FALLBACK, *(_W + name for name in ("txbxContent", "pPr", "rPr", "del", "moveFrom", "rt"))])
_CHARACTERS = {_W + "tab": "\t", _W + "br": "\n", _W + "cr": "\n", _W + "noBreakHyphen": "-"}


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document. Raises UnreadableDocument for what is no DOCX."""
    return read_office(content, _document, "docx")


def _document(file: io.BytesIO) -> Parsed:
    import docx
    from docx.text.paragraph import Paragraph

    document = docx.Document(file)
    blocks: list[Block] = []
    for item in _unwrapped(document.element.body, "p", "tbl"):
        if item.tag == _W + "tbl":
            blocks += _table(item)
        else:
            blocks += [_paragraph(Paragraph(paragraph, document)) for paragraph in _paragraphs(item)]
    return Parsed(tuple(blocks), title=document.core_properties.title or "")


def _unwrapped(element: Any, *names: str) -> Iterator[Any]:
    """Yield children of these names, those in content controls and tracked insertions among them."""
    tags = frozenset(_W + name for name in names)
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _unwrapped(child, *names)


def _paragraphs(element: Any) -> Iterator[Any]:
    """Yield the paragraphs at and below an element, in text boxes and inner tables too, each once."""
    for paragraph in element.iter(_W + "p"):
        if next(paragraph.iterancestors(_FALLBACK), None) is None:
            yield paragraph


def _text(element: Any) -> str:
    parts: list[str] = []
    for node in element:
        if node.tag == _W + "t" or node.tag == _MATH:
            parts.append(own_text(node))
        elif node.tag not in _UNREAD:
            parts.append(_CHARACTERS.get(node.tag) or _text(node))
    return "".join(parts)


def _paragraph(paragraph: Any) -> Block:
    text = _text(paragraph._p)
    style = (paragraph.style.name if paragraph.style is not None else "") or ""
    heading = _HEADING.match(style)
    if style == "Title" or heading:
        return Block(text, "heading", int(heading[1]) if heading else 1)
    if style.lower().startswith("toc"):
        return Block(text, "boilerplate")
    return Block(f"- {text}" if style.startswith("List") and text.strip() else text)


def _table(table: Any) -> list[Block]:
    """Return a block a row; a cell over several columns is written once, one over several rows in each of them."""
    rows: list[Block] = []
    above: dict[int, str] = {}
    for row in _unwrapped(table, "tr"):
        cells: list[str] = []
        column = 0
        for cell in _unwrapped(row, "tc"):
            text = " ".join(" ".join(_text(paragraph) for paragraph in _paragraphs(cell)).split())
            if cell.vMerge == "continue":
                text = above.get(column, text)
            above[column] = text
            cells.append(text)
            column += cell.grid_span
        rows.append(Block(" | ".join(cells)))
    return rows
