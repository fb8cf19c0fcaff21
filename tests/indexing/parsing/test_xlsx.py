import datetime
import io
import random
import zipfile
from collections.abc import Callable

import openpyxl

from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.types.corpus import Heading, Span
from tests.indexing.parsing.conftest import Read


def saved(sheets: dict[str, list[list[object]]], title: str = "") -> bytes:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    workbook.properties.title = title
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def test_a_row_is_a_paragraph_and_a_sheet_a_page_under_its_name(read: Read) -> None:
    content = saved({"Hives": [["Hive", "Bees"], ["A", 900], ["B", 12.5]], "Plants": [["Plant"], ["clover"]]})
    document = read("my_bees.xlsx", content)
    assert document.text == "Hives\n\nHive: A\nBees: 900\n\nHive: B\nBees: 12.5\n\nPlants\n\nPlant: clover"
    assert document.headings == (Heading("Hives", 2, 0, 5), Heading("Plants", 2, 46, 52))
    assert document.pages == (Span(0, 46), Span(46, 67))
    assert (document.title, document.media_type) == ("my bees", "xlsx")


def test_the_stated_title_is_taken_and_a_sheet_without_a_name_of_its_own_is_no_heading(read: Read) -> None:
    document = read("a.xlsx", saved({"Tabelle1": [["Hive", "Bees"], ["A", 900]]}, title="On Bees"))
    assert (document.title, document.text, document.headings) == ("On Bees", "Hive: A\nBees: 900", ())


def test_cells_read_as_they_are_seen(read: Read) -> None:
    day, hour = datetime.datetime(2024, 5, 1), datetime.datetime(2024, 5, 1, 9, 30)
    rows: list[list[object]] = [["a", "b", "c", "d", "e", "f"], [day, hour, True, 0.1 + 0.2, None, "  x  "]]
    expected = "a: 2024-05-01\nb: 2024-05-01 09:30:00\nc: True\nd: 0.3\nf: x"
    assert read("a.xlsx", saved({"Sheet1": rows})).text == expected


def test_a_formula_without_a_value_is_not_read_and_empty_rows_are_left_out(read: Read) -> None:
    rows: list[list[object]] = [["Hive", "Sum"], [], ["A", "=1+1"], [], ["B"]]
    assert read("a.xlsx", saved({"Sheet1": rows})).text == "Hive: A\n\nHive: B"


def test_a_single_cell_far_away_is_read(read: Read) -> None:
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "Bees"
    workbook.active["XFD9000"] = "dance"
    buffer = io.BytesIO()
    workbook.save(buffer)
    assert read("a.xlsx", buffer.getvalue()).text == "column 16384: dance"


def test_what_is_no_xlsx_is_refused_with_what_to_do(refused: Callable[..., str]) -> None:
    whole = saved({"Sheet1": [["Bees"], ["dance"]]})
    error_text = "is not a readable XLSX file: open it in a spreadsheet program and save it again"
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "Bees")
    for content in (b"Bees dance.", whole[: len(whole) // 2], other.getvalue(), b"%PDF-1.4"):
        assert refused("a.xlsx", content) == error_text
    assert refused("a.xlsx", b"\xd0\xcf\x11\xe0" + bytes(600)).startswith("is an old Excel file or protected")
    assert refused("a.xlsx", b"") == "has no text: the file is empty"
    assert refused("a.xlsx", saved({"Sheet1": []})) == "has no text: there is nothing to index in it"


def test_entities_that_grow_are_refused(refused: Callable[..., str]) -> None:
    unpacked = zipfile.ZipFile(io.BytesIO(saved({"Sheet1": [["Bees"], ["dance"]]})))
    entities = '<!ENTITY a "bees">' + "".join(f'<!ENTITY a{n} "{"&a;" * 10}">' for n in range(9))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry in unpacked.namelist():
            content = unpacked.read(entry)
            if entry == "xl/worksheets/sheet1.xml":
                content = f"<!DOCTYPE x [{entities}]>".encode() + content.replace(b"dance", b"&a8;")
            archive.writestr(entry, content)
    assert refused("a.xlsx", buffer.getvalue()).startswith("is not a readable XLSX file")


def test_a_damaged_file_is_read_or_refused_but_never_raises() -> None:
    whole = saved({"Hives": [["Hive", "Bees"], ["A", 900]]})
    chance = random.Random(5)
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 5, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        upload = parse_upload("a.xlsx", bytes(damaged))
        assert len(upload.documents) + len(upload.refusals) == 1
