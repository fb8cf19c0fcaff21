"""PDF: paragraphs page by page; running heads left out, hyphenated words mended."""

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
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
    masked: str = ""  # by which running heads are known again


def parse(name: str, content: bytes) -> FormatResult:
    """One document. Raises UnreadableDocument: not a PDF, password, no text layer, damaged."""
    if b"%PDF-" not in content[:1024]:
        raise UnreadableDocument("file.not_pdf")
    boxes, n_pages, damaged = _boxes(content)
    if not any(character.isalnum() for box in boxes for character in box.text):
        raise UnreadableDocument("file.no_text_layer", pages=n_pages)
    body = _body_size(boxes)
    boxes = [replace(box, masked=_masked(box.text, large=box.size > _HEADING_SIZE * body)) for box in boxes]
    running = _running_heads(boxes, n_pages)
    # A document of running heads alone, such as a one-page form with a number, keeps them.
    kept = [box for box in boxes if not (box.edge and box.masked in running)] or boxes
    notes = (
        (f"{len(boxes) - len(kept)} running heads and page numbers were left out.",) if len(kept) < len(boxes) else ()
    )
    blocks = tuple(_blocks(kept, _body_size(kept)))
    return FormatResult((Parsed(blocks, title=_title(content), notes=(*notes, *damaged)),))


def _body_size(boxes: list[_Box]) -> float:
    return median(box.size for box in boxes for _ in range(1 + len(box.text) // 40))


def _boxes(content: bytes) -> tuple[list[_Box], int, tuple[str, ...]]:
    """Text boxes in the order of the pages, the number of pages, and a note when the file breaks off."""
    import logging

    from pdfminer.layout import LTTextContainer
    from pdfminer.pdfdocument import PDFPasswordIncorrect, PDFTextExtractionNotAllowed

    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    boxes: list[_Box] = []
    pages = 0
    try:
        for pages, page in enumerate(_layouts(content), start=1):
            texts = [element for element in page if isinstance(element, LTTextContainer) and element.get_text().strip()]
            for place, element in enumerate(texts):
                edge = place < 2 or place >= len(texts) - 2
                boxes.append(_Box(element.get_text(), _size(element), pages, edge))
    except PDFPasswordIncorrect as error:
        raise UnreadableDocument("file.pdf_password") from error
    except PDFTextExtractionNotAllowed as error:
        raise UnreadableDocument("file.pdf_forbidden") from error
    except (RecursionError, MemoryError):
        raise
    except Exception as error:  # pdfminer raises anything on damaged files
        if not boxes:
            problem = "is damaged and cannot be read: open it in a PDF viewer and save it again"
            raise UnreadableDocument(problem) from error
        return boxes, pages, (f"The file is damaged after page {pages}; what follows could not be read.",)
    return boxes, pages, ()


@cache
def _document_class() -> Any:
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.pdftypes import PDFObjRef

    class Document(PDFDocument):
        """A PDF whose objects are never references: pdfminer follows one that leads to itself for ever."""

        def getobj(self, objid: int) -> Any:
            target, seen = super().getobj(objid), {objid}
            while isinstance(target, PDFObjRef):
                if target.objid in seen:
                    raise PDFException(f"object {objid} leads to itself")
                seen.add(target.objid)
                target = super().getobj(target.objid)
            return target

    return Document


def _opened(content: bytes) -> Any:
    from pdfminer.pdfparser import PDFParser

    return _document_class()(PDFParser(io.BytesIO(content)))


def _layouts(content: bytes) -> Iterator[Any]:
    """The layout of each page in turn."""
    from pdfminer.converter import PDFPageAggregator
    from pdfminer.layout import LAParams
    from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
    from pdfminer.pdfpage import PDFPage

    resources = PDFResourceManager()
    device = PDFPageAggregator(resources, laparams=LAParams(line_margin=0.4))
    interpreter = PDFPageInterpreter(resources, device)
    for page in PDFPage.create_pages(_opened(content)):
        interpreter.process_page(page)
        yield device.get_result()


def _size(element: Any) -> float:
    from pdfminer.layout import LTChar, LTTextLine

    sizes = [char.size for line in element if isinstance(line, LTTextLine) for char in line if isinstance(char, LTChar)]
    return float(median(sizes)) if sizes else 0.0


def _masked(text: str, *, large: bool) -> str:
    """The text in small letters, numbers masked; not in large type: Chapter 1 and Chapter 2 are no running head."""
    folded = " ".join(text.split()).lower()
    masked = re.sub(r"\d+", "#", folded)
    return folded if large and masked != "#" else masked


def _running_heads(boxes: list[_Box], n_pages: int) -> set[str]:
    """Texts, numbers masked, at the edge of more than half of the pages; lone page numbers."""
    pages_of = Counter(masked for masked, _ in {(box.masked, box.page) for box in boxes if box.edge})
    heads = {masked for masked, n in pages_of.items() if n_pages >= 2 and n > n_pages / 2 and len(masked) < 150}
    return heads | {"#"}


def _blocks(boxes: list[_Box], body: float) -> list[Block]:
    blocks: list[Block] = []
    for box in boxes:
        text = fold_lines(box.text)
        if box.size > _HEADING_SIZE * body and len(text) <= _HEADING_CHARACTERS and any(map(str.isalpha, text)):
            blocks.append(Block(text, "heading", 1 if box.size > 1.5 * body else 2, box.page))
            continue
        before = blocks[-1] if blocks else None
        if before is None:
            blocks.append(Block(text, page=box.page))
            continue
        joins = (
            before.kind == "paragraph"
            and before.text[-1:] not in ".!?:;。！？"
            and (text[:1].islower() or (is_wide(before.text[-1]) and is_wide(text[0])))
        )
        if joins and re.search(r"[^\W\d_]-$", before.text) and text[:1].islower():
            head, _, text = text.partition(" ")  # a word that is cut by the end of the page or column
            blocks[-1] = replace(before, text=before.text[:-1] + head)
        if text:
            blocks.append(Block(text, page=box.page, joins=joins))
    return blocks


def _title(content: bytes) -> str:
    """The title that the file states; empty when it states none that can be read."""
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.psexceptions import PSException
    from pdfminer.utils import decode_text

    try:
        stated = (_opened(content).info or [{}])[0].get("Title", b"")
    except (PDFException, PSException):
        return ""  # a damaged trailer: the text was read all the same
    return decode_text(stated) if isinstance(stated, bytes) else ""
