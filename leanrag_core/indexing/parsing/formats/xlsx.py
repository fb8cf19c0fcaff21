"""XLSX: each row of each sheet whole, as lines of "column: value"; of formulas what they gave when they were saved."""

import datetime
import io
import re
from collections.abc import Iterator
from typing import Any

from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed, blocks_of_rows
from leanrag_core.indexing.parsing.limits import read_office

SUFFIXES = ("xlsx", "xlsm")
MEDIA_TYPE = "xlsx"
_UNNAMED = re.compile(r"Sheet|[^\W\d_]+ ?1")  # Sheet1, Tabelle1, Feuil1: as the program calls it


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document; a sheet is a page under its name. Raises UnreadableDocument for what is no XLSX."""
    return read_office(content, _workbook, "xlsx")


def _workbook(file: io.BytesIO) -> Parsed:
    import openpyxl

    workbook = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    blocks: list[Block] = []
    for page, sheet in enumerate(workbook.worksheets, start=1):
        sheet.reset_dimensions()  # what a file says about them is often wrong
        rows = list(blocks_of_rows(_rows(sheet), page))
        if rows and not (len(workbook.worksheets) == 1 and _UNNAMED.fullmatch(sheet.title)):
            blocks.append(Block(sheet.title, "heading", 2, page))
        blocks += rows
    return Parsed(tuple(blocks), title=workbook.properties.title or "", title_first=True)


def _rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows(values_only=True):
        yield [_shown(value) for value in row]


def _shown(value: Any) -> str:
    """Return a cell as a reader sees it, without its number format."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time()
        return value.date().isoformat() if at_midnight else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)
