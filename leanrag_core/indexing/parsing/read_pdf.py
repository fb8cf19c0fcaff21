"""PDF: paragraphs page by page; running heads left out, hyphenated words mended."""

import io
import re
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import Any

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed, fold_lines, is_wide

SUFFIXES = ("pdf",)
MEDIA_TYPE = "pdf"
_HEADING_SIZE = 1.15  # times the body's size
_HEADING_CHARACTERS = 120


@dataclass(frozen=True)
class _Box:
    text: str
    size: float  # points
    page: int
    edge: bool  # first or last on its page


def parse(name: str, content: bytes) -> FormatResult:
    """One document. Raises UnreadableDocument: not a PDF, password, no text layer, damaged."""
    if b"%PDF-" not in content[:1024]:
        raise UnreadableDocument("is not a PDF: its content is something else; give it the ending of what it is")
    boxes, n_pages = _boxes(content)
    if not any(character.isalnum() for box in boxes for character in box.text):
        raise UnreadableDocument(f"has no text layer (pages: {n_pages}): run OCR on it, then add it again")
    running = _running_heads(boxes, n_pages)
    kept = [box for box in boxes if not (box.edge and _masked(box.text) in running)]
    notes = (
        (f"{len(boxes) - len(kept)} running heads and page numbers were left out.",) if len(kept) < len(boxes) else ()
    )
    body = median(box.size for box in kept for _ in range(1 + len(box.text) // 40))
    return FormatResult((Parsed(tuple(_blocks(kept, body)), title=_title(content), notes=notes),))


def _boxes(content: bytes) -> tuple[list[_Box], int]:
    import logging

    from pdfminer.high_level import extract_pages
    from pdfminer.layout import LAParams, LTTextContainer
    from pdfminer.pdfdocument import PDFPasswordIncorrect, PDFTextExtractionNotAllowed

    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    boxes: list[_Box] = []
    pages = 0
    try:
        for pages, page in enumerate(extract_pages(io.BytesIO(content), laparams=LAParams(line_margin=0.4)), start=1):
            texts = [element for element in page if isinstance(element, LTTextContainer) and element.get_text().strip()]
            for place, element in enumerate(texts):
                edge = place < 2 or place >= len(texts) - 2
                boxes.append(_Box(element.get_text(), _size(element), pages, edge))
    except PDFPasswordIncorrect as error:
        raise UnreadableDocument("needs a password: remove the password, then add it again") from error
    except PDFTextExtractionNotAllowed as error:
        raise UnreadableDocument("does not allow its text to be read: remove that protection first") from error
    except RecursionError:
        raise
    except Exception as error:  # pdfminer raises anything on damaged files
        if not boxes:
            said = f"is damaged and cannot be read ({type(error).__name__}): open it in a PDF viewer and save it again"
            raise UnreadableDocument(said) from error
    return boxes, pages


def _size(element: Any) -> float:
    from pdfminer.layout import LTChar, LTTextLine

    sizes = [char.size for line in element if isinstance(line, LTTextLine) for char in line if isinstance(char, LTChar)]
    return float(median(sizes)) if sizes else 0.0


def _masked(text: str) -> str:
    return re.sub(r"\d+", "#", " ".join(text.split())).lower()


def _running_heads(boxes: list[_Box], n_pages: int) -> set[str]:
    """Texts, numbers masked, that stand at the edge of more than half of the pages; lone page numbers."""
    pages_of = Counter(masked for masked, _ in {(_masked(box.text), box.page) for box in boxes if box.edge})
    heads = {masked for masked, n in pages_of.items() if n_pages >= 2 and n > n_pages / 2 and len(masked) < 150}
    return heads | {"#"}


def _blocks(boxes: list[_Box], body: float) -> list[Block]:
    found: list[Block] = []
    for box in boxes:
        text = fold_lines(box.text)
        if box.size > _HEADING_SIZE * body and len(text) <= _HEADING_CHARACTERS and any(map(str.isalpha, text)):
            found.append(Block(text, "heading", 1 if box.size > 1.5 * body else 2, box.page))
            continue
        before = found[-1] if found else None
        joins = (
            before is not None
            and before.kind == "paragraph"
            and before.text[-1:] not in ".!?:;。！？"
            and (text[:1].islower() or (is_wide(before.text[-1]) and is_wide(text[0])))
        )
        found.append(Block(text, page=box.page, joins=joins))
    return found


def _title(content: bytes) -> str:
    """The title that the file states; empty when it states none that can be read."""
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.pdfparser import PDFParser
    from pdfminer.psexceptions import PSException
    from pdfminer.utils import decode_text

    try:
        stated = (PDFDocument(PDFParser(io.BytesIO(content))).info or [{}])[0].get("Title", b"")
    except (PDFException, PSException):
        return ""  # a damaged trailer: the text was read all the same
    return decode_text(stated) if isinstance(stated, bytes) else ""
