import io
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from leanrag_core.indexing.parsing import limits, parse_upload
from leanrag_core.types.corpus import Heading, Span
from tests.indexing.parsing.conftest import Read


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_paragraphs_and_tables_keep_the_order_of_the_document(read: Read) -> None:
    document = docx.Document()
    document.add_heading("Bees", 1)
    table = document.add_table(2, 2)
    for row, texts in zip(table.rows, [("Insect", "Legs"), ("bee", "6")], strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_paragraph("They dance.")
    document.add_heading("Dance", 2)
    document.add_paragraph("in the hive", style="List Bullet")
    parsed = read("a.docx", saved(document))
    assert parsed.text == "Bees\n\nInsect | Legs\n\nbee | 6\n\nThey dance.\n\nDance\n\n- in the hive"
    assert parsed.headings == (Heading("Bees", 1, 0, 4), Heading("Dance", 2, 43, 48))
    assert (parsed.title, parsed.media_type, parsed.pages) == ("Bees", "docx", ())


def test_the_stated_title_is_taken_where_no_heading_opens_the_text(read: Read) -> None:
    document = docx.Document()
    document.core_properties.title = "On Bees"
    document.add_paragraph("They dance.")
    assert read("a.docx", saved(document)).title == "On Bees"
    document.core_properties.title = "Microsoft Word - x.doc"
    assert read("my_bees.docx", saved(document)).title == "my bees"


def test_the_title_style_is_a_heading_of_the_first_level(read: Read) -> None:
    document = docx.Document()
    document.add_heading("Bees", 0)
    assert read("a.docx", saved(document)).headings == (Heading("Bees", 1, 0, 4),)


def test_a_table_of_contents_is_boilerplate(read: Read) -> None:
    document = docx.Document()
    document.styles.add_style("toc 1", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Bees\t3", style="toc 1")
    document.add_paragraph("They dance.")
    assert read("a.docx", saved(document)).boilerplate == (Span(0, 6),)


def test_a_wide_cell_is_written_once_and_a_high_one_in_each_of_its_rows(read: Read) -> None:
    table = (document := docx.Document()).add_table(2, 3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(0, 2).merge(table.cell(1, 2)).text = "high"
    table.cell(1, 0).text, table.cell(1, 1).text = "a", "b"
    assert read("a.docx", saved(document)).text == "wide | high\n\na | b | high"


def test_a_cell_that_continues_nothing_does_not_spoil_the_file(read: Read) -> None:
    table = (document := docx.Document()).add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "a", "b"
    table.cell(0, 0)._tc.get_or_add_tcPr().append(parse_xml(f"<w:vMerge {nsdecls('w')}/>"))
    assert read("a.docx", saved(document)).text == "a | b"


def test_a_table_within_a_cell_is_read(read: Read) -> None:
    outer = (document := docx.Document()).add_table(1, 1)
    outer.cell(0, 0).text = "outer"
    outer.cell(0, 0).add_table(1, 1).cell(0, 0).text = "inner"
    assert read("a.docx", saved(document)).text == "outer inner"


def test_tracked_changes_read_as_accepted(read: Read) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Bees ")._p
    author = f'{nsdecls("w")} w:id="1" w:author="x"'
    paragraph.append(parse_xml(f"<w:ins {author}><w:r><w:t>dance</w:t></w:r></w:ins>"))
    paragraph.append(parse_xml(f"<w:del {author}><w:r><w:delText>walk</w:delText></w:r></w:del>"))
    assert read("a.docx", saved(document)).text == "Bees dance"


def test_content_controls_and_text_boxes_are_read_once(read: Read) -> None:
    document = docx.Document()
    body = document.element.body
    control = "<w:sdt {}><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    body.insert(0, parse_xml(control.format(nsdecls("w"))))
    inner = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
    markup = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    body.insert(
        1,
        parse_xml(
            f"<w:p {nsdecls('w')} {markup}><w:r><w:t>Beside.</w:t></w:r><w:r><mc:AlternateContent>"
            f"<mc:Choice>{inner}</mc:Choice><mc:Fallback>{inner}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
        ),
    )
    assert read("a.docx", saved(document)).text == "In a control.\n\nBeside.\n\nIn a box."


def test_tabs_breaks_and_hyphens_within_a_run_are_kept(read: Read) -> None:
    document = docx.Document()
    document.add_paragraph("one\ttwo\nthree").paragraph_format.tab_stops.add_tab_stop(100)
    assert read("a.docx", saved(document)).text == "one\ttwo\nthree"


def test_an_old_or_locked_file_is_refused_with_the_remedy(refused: Callable[..., str]) -> None:
    assert "save it as .docx without a password" in refused("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")


@pytest.mark.parametrize("content", [b"PK\x03\x04hello", b"plain text", b"%PDF-1.7"])
def test_what_is_no_docx_is_refused(refused: Callable[..., str], content: bytes) -> None:
    assert refused("a.docx", content).startswith("is not a readable DOCX file: open it")


def test_another_kind_of_zip_is_refused(refused: Callable[..., str]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert refused("a.docx", buffer.getvalue()).startswith("is not a readable DOCX file")


def test_a_zip_that_says_it_unpacks_to_more_than_500_mb_is_refused(refused: Callable[..., str]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", "x")
    bomb = bytearray(buffer.getvalue())
    directory = bomb.index(b"PK\x01\x02")
    bomb[directory + 24 : directory + 28] = struct.pack("<I", limits._MAX_UNPACKED + 1)  # the stated size
    assert refused("a.docx", bytes(bomb)) == "unpacks to more than 500 MB: it is not taken"


def with_entities(text: str, entities: str) -> bytes:
    """Return a DOCX whose one paragraph is that piece of XML, the entities being declared."""
    source = docx.Document()
    source.add_paragraph("MARK")
    unpacked = zipfile.ZipFile(io.BytesIO(saved(source)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry in unpacked.namelist():
            content = unpacked.read(entry)
            if entry == "word/document.xml":
                start = content.index(b"<w:document")
                doctype = f"<!DOCTYPE x [{entities}]>".encode()
                content = content[:start] + doctype + content[start:].replace(b"MARK", text.encode())
            archive.writestr(entry, content)
    return buffer.getvalue()


def test_entities_that_grow_are_not_unfolded() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    upload = parse_upload("a.docx", with_entities("Ants &e9; walk", f'<!ENTITY e0 "bees">{entities}'))
    assert all(len(document.text) < 100 for document in upload.documents)


def test_text_behind_an_entity_or_a_comment_is_kept(read: Read) -> None:
    declared = f'<!ENTITY nbsp "&#160;"><!ENTITY who "Ants &amp; bees"><!ENTITY co "Hive"><!ENTITY long "{"x" * 101}">'
    content = with_entities("Ants&nbsp;walk <!-- not read -->to &co;, &long;there", declared)
    assert read("a.docx", content).text == "Ants\xa0walk to Hive, there"


def test_a_damaged_file_is_read_or_refused_but_never_raises() -> None:
    document = docx.Document()
    document.add_heading("Bees", 1)
    document.add_table(2, 2).cell(0, 0).text = "cell"
    whole = saved(document)
    chance = random.Random(5)
    for _ in range(120):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 5, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        upload = parse_upload("a.docx", bytes(damaged))
        assert len(upload.documents) + len(upload.refusals) == 1
