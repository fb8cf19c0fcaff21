"""PPTX: the texts and tables of each slide in their order, and the speaker's notes below them."""

import io
from collections.abc import Iterator
from typing import Any

from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed
from leanrag_core.indexing.parsing.limits import own_text, read_office

SUFFIXES = ("pptx", "ppsx")
MEDIA_TYPE = "pptx"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_ON_EVERY_SLIDE = ("sldNum", "dt", "ftr", "hdr")
_TITLES = ("title", "ctrTitle")


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document; a slide is a page, its title a heading. Raises UnreadableDocument for what is no PPTX."""
    return read_office(content, _presentation, "pptx")


def _presentation(file: io.BytesIO) -> Parsed:
    from pptx import Presentation

    slides = Presentation(file)
    blocks: list[Block] = []
    for page, slide in enumerate(slides.slides, start=1):
        blocks += _shapes(slide.shapes._spTree, page)
        if slide.has_notes_slide:
            notes = slide.notes_slide.notes_text_frame
            if notes is not None:
                notes_text = "\n".join(_paragraphs(notes._txBody)).strip()
                blocks += [Block(f"Notes: {notes_text}", page=page)] if notes_text else []
    return Parsed(tuple(blocks), title=slides.core_properties.title or "")


def _shapes(element: Any, page: int) -> Iterator[Block]:
    """Yield blocks of the shapes at and below an element, in the order of the file; what is drawn for older programs is
    left out.
    """
    for child in element:
        if child.tag == _FALLBACK:
            continue
        if child.tag == _A + "tbl":
            yield from (Block(" | ".join(_cells(row)), page=page) for row in child.iter(_A + "tr"))
        elif child.tag == _P + "sp":
            yield from _shape(child, page)
        elif isinstance(child.tag, str):
            yield from _shapes(child, page)


def _shape(shape: Any, page: int) -> Iterator[Block]:
    placeholder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    role = "" if placeholder is None else placeholder.get("type", "obj")
    body = shape.find(_P + "txBody")
    if body is None or role in _ON_EVERY_SLIDE:
        return
    paragraphs = [text for text in _paragraphs(body) if text.strip()]
    if role in _TITLES:
        yield Block(" ".join(paragraphs), "heading", 1, page)
        return
    listed = role in ("obj", "body") and len(paragraphs) > 1
    yield Block("\n".join(f"- {text}" if listed else text for text in paragraphs), page=page)


def _cells(row: Any) -> list[str]:
    cells = [cell for cell in row.iter(_A + "tc") if cell.get("hMerge") != "1"]
    return [" ".join(" ".join(_paragraphs(cell)).split()) for cell in cells]


def _paragraphs(body: Any) -> list[str]:
    return ["".join(_pieces(paragraph)) for paragraph in body.iter(_A + "p")]


def _pieces(paragraph: Any) -> Iterator[str]:
    for node in paragraph.iter(_A + "t", _A + "br", _A + "tab", _MATH):
        if next(node.iterancestors(_FALLBACK), None) is None:
            yield {_A + "br": "\n", _A + "tab": "\t"}.get(node.tag) or own_text(node)
