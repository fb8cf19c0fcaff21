"""PDF: paragraphs page by page; running heads set apart, hyphenated words mended. What stands in a typewriter's letters
amid other text keeps its lines."""

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from statistics import median
from typing import Any

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed, fold_lines, is_wide
from leanrag_core.indexing.parsing.notes import note
from leanrag_core.indexing.parsing.running_heads import PageLine, left_out_note, running_heads

SUFFIXES = ("pdf",)
MEDIA_TYPE = "pdf"
_HEADING_SIZE = 1.15  # times the body's size
_HEADING_CHARACTERS = 120
_LETTERS_TO_TELL = 4  # different ones
_WHOLLY = 0.95  # share of the letters of a box


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document. Raises UnreadableDocument: not a PDF, password, no text layer, damaged."""
    if b"%PDF-" not in content[:1024]:
        raise UnreadableDocument("file.not_pdf")
    boxes, n_pages, damaged = _boxes(content)
    if not any(character.isalnum() for box in boxes for character in box.text):
        raise UnreadableDocument("file.no_text_layer", pages=n_pages)
    heads = running_heads(boxes, n_pages, heading_size=_HEADING_SIZE * _body_size(boxes))
    # A document of running heads alone, such as a form with a number, keeps them.
    heads = heads if len(heads) < len(boxes) else frozenset()
    notes = (*left_out_note(len(heads)), *damaged)
    return FormatResult((Parsed(tuple(_blocks(boxes, heads)), title=_title(content), notes=notes),))


def _body_size(boxes: Sequence[PageLine]) -> float:
    return median(box.size for box in boxes for _ in range(1 + len(box.text) // 40))


def _boxes(content: bytes) -> tuple[list[PageLine], int, tuple[str, ...]]:
    """Return text boxes in the order of the pages, the number of pages, and a note when the file breaks off."""
    import logging

    from pdfminer.layout import LTTextContainer
    from pdfminer.pdfdocument import PDFPasswordIncorrect, PDFTextExtractionNotAllowed

    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    boxes: list[PageLine] = []
    pages = 0
    try:
        for pages, page in enumerate(_layouts(content), start=1):
            for element in page:
                if isinstance(element, LTTextContainer) and element.get_text().strip():
                    boxes.append(_page_line(element, pages))
    except PDFPasswordIncorrect as error:
        raise UnreadableDocument("file.pdf_password") from error
    except PDFTextExtractionNotAllowed as error:
        raise UnreadableDocument("file.pdf_forbidden") from error
    except (RecursionError, MemoryError):
        raise
    except Exception as error:  # pdfminer raises anything on damaged files
        if not boxes:
            raise UnreadableDocument("file.pdf_damaged") from error
        return boxes, pages, (note("damaged_after", page=str(pages)),)
    return boxes, pages, ()


@cache
def _document_class() -> Any:
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.pdftypes import PDFObjRef

    class Document(PDFDocument):
        """A PDF whose objects are never references: pdfminer follows one that leads to itself for ever."""

        def getobj(self, objid: int) -> Any:
            target, visited = super().getobj(objid), {objid}
            while isinstance(target, PDFObjRef):
                if target.objid in visited:
                    raise PDFException(f"object {objid} leads to itself")
                visited.add(target.objid)
                target = super().getobj(target.objid)
            return target

    return Document


def _opened(content: bytes) -> Any:
    from pdfminer.pdfparser import PDFParser

    return _document_class()(PDFParser(io.BytesIO(content)))


def _layouts(content: bytes) -> Iterator[Any]:
    """Yield the layout of each page in turn."""
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


def _page_line(element: Any, page: int) -> PageLine:
    """Return the box with the font of most of its letters, without the mark of its subset, and their median size."""
    from pdfminer.layout import LTChar, LTTextLine

    letters = [char for line in element if isinstance(line, LTTextLine) for char in line if isinstance(char, LTChar)]
    if not letters:
        return PageLine(element.get_text(), page, "", 0.0, *element.bbox)
    fonts = Counter(char.fontname for char in letters)
    font = min(fonts, key=lambda name: (-fonts[name], name.rpartition("+")[2], name))
    in_one_font = fonts[font] >= _WHOLLY * len(letters)  # else it is a line of prose that names a command
    fixed = in_one_font and _is_fixed_pitch(letters)
    size = float(median(char.size for char in letters))
    line = PageLine(element.get_text(), page, font.rpartition("+")[2], size, *element.bbox)
    return replace(line, is_fixed_pitch=fixed)


def _is_fixed_pitch(letters: Sequence[Any]) -> bool:
    """Return whether Latin letters, enough of them to tell, are all as wide."""
    latin = [char for char in letters if char.size and char.get_text().isascii() and char.get_text().isalpha()]
    widths = Counter(round(char.adv / char.size, 2) for char in latin)
    return len({char.get_text() for char in latin}) >= _LETTERS_TO_TELL and max(widths.values()) >= _WHOLLY * len(latin)


def _blocks(boxes: Sequence[PageLine], heads: frozenset[int]) -> list[Block]:
    body = _body_size([box for place, box in enumerate(boxes) if place not in heads])
    fixed = sum(len(box.text) for box in boxes if box.is_fixed_pitch)
    is_typescript = 2 * fixed > sum(len(box.text) for box in boxes)
    blocks: list[Block] = []
    last = -1  # of the blocks that are in the text
    for place, box in enumerate(boxes):
        text = fold_lines(box.text)
        if place in heads:
            blocks.append(Block(text, "running head", page=box.page))
            continue
        if box.size > _HEADING_SIZE * body and len(text) <= _HEADING_CHARACTERS and any(map(str.isalpha, text)):
            blocks.append(Block(text, "heading", 1 if box.size > 1.5 * body else 2, box.page))
            last = len(blocks) - 1
            continue
        if box.is_fixed_pitch and not is_typescript and " " in text:  # a word alone is the head of an entry
            blocks.append(Block(box.text, "preformatted", page=box.page))
            last = len(blocks) - 1
            continue
        before = blocks[last] if last >= 0 else Block("", "heading")
        joins = (
            before.kind == "paragraph"
            and before.text[-1:] not in ".!?:;。！？"
            and (text[:1].islower() or (is_wide(before.text[-1]) and is_wide(text[0])))
        )
        if joins and re.search(r"[^\W\d_]-$", before.text) and text[:1].islower():
            head, _, text = text.partition(" ")  # a word that is cut by the end of the page or column
            blocks[last] = replace(before, text=before.text[:-1] + head)
        if text:
            blocks.append(Block(text, page=box.page, joins=joins))
            last = len(blocks) - 1
    return blocks


def _title(content: bytes) -> str:
    """Return the title that the file states; empty when it states none that can be read."""
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.psexceptions import PSException
    from pdfminer.utils import decode_text

    try:
        stated = (_opened(content).info or [{}])[0].get("Title", b"")
    except (PDFException, PSException):
        return ""  # a damaged trailer: the text was read all the same
    return decode_text(stated) if isinstance(stated, bytes) else ""
