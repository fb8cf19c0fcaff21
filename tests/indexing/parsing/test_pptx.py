import io
import random
import zipfile
from collections.abc import Callable
from typing import Any

import pptx
from lxml import etree
from pptx.util import Inches

from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.types.corpus import Heading, Span
from tests.indexing.parsing.conftest import Read


def saved(slides: Any) -> bytes:
    buffer = io.BytesIO()
    slides.save(buffer)
    return buffer.getvalue()


def deck(*pages: tuple[str, str]) -> Any:
    """Return slides of a title and a text each."""
    slides = pptx.Presentation()
    for title, text in pages:
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    return slides


def test_a_slide_is_a_page_and_its_title_a_heading(read: Read) -> None:
    document = read("a.pptx", saved(deck(("Bees", "They dance."), ("Ants", "They walk.\nThey carry."))))
    assert document.text == "Bees\n\nThey dance.\n\nAnts\n\n- They walk.\n- They carry."
    assert document.headings == (Heading("Bees", 1, 0, 4), Heading("Ants", 1, 19, 23))
    assert document.pages == (Span(0, 19), Span(19, 51))
    assert (document.title, document.media_type) == ("Bees", "pptx")


def test_tables_groups_line_breaks_and_notes_are_read(read: Read) -> None:
    slides = deck(("Bees", "They\vdance."))
    slide = slides.slides[0]
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
    for place, text in enumerate(["Hive", "Bees", "A", "900"]):
        table.cell(place // 2, place % 2).text = text
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "in a group"
    slide.notes_slide.notes_text_frame.text = "Speak slowly."
    assert read("a.pptx", saved(slides)).text == (
        "Bees\n\nThey\ndance.\n\nHive | Bees\n\nA | 900\n\nin a group\n\nNotes: Speak slowly."
    )


def test_a_wide_cell_is_written_once(read: Read) -> None:
    slides = deck(("Bees", ""))
    table = slides.slides[0].shapes.add_table(1, 3, 0, 0, Inches(2), Inches(2)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(0, 0).text, table.cell(0, 2).text = "wide", "right"
    assert read("a.pptx", saved(slides)).text == "Bees\n\nwide | right"


def test_numbers_and_footers_of_slides_are_left_out(read: Read) -> None:
    slides = deck(("Bees", "They dance."))
    box = slides.slides[0].shapes.add_textbox(0, 0, Inches(1), Inches(1))
    box.text_frame.text = "7"
    holder = box._element.find(".//{*}nvPr")
    etree.SubElement(holder, holder.tag.replace("nvPr", "ph"), type="sldNum")
    assert read("a.pptx", saved(slides)).text == "Bees\n\nThey dance."


def test_text_behind_an_entity_is_kept(read: Read) -> None:
    unpacked = zipfile.ZipFile(io.BytesIO(saved(deck(("Bees", "MARK")))))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry in unpacked.namelist():
            content = unpacked.read(entry)
            if entry == "ppt/slides/slide1.xml":
                start = content.index(b"<p:sld")
                content = content[:start] + b'<!DOCTYPE x [<!ENTITY co "Hive">]>' + content[start:]
                content = content.replace(b"MARK", b"In the &co; they dance.")
            archive.writestr(entry, content)
    assert read("a.pptx", buffer.getvalue()).text == "Bees\n\nIn the Hive they dance."


def test_what_is_no_pptx_is_refused_with_what_to_do(refused: Callable[..., str]) -> None:
    whole = saved(deck(("Bees", "They dance.")))
    error_text = "is not a readable PPTX file: open it in a presentation program and save it again"
    for content in (b"Bees dance.", whole[: len(whole) // 2], b"%PDF-1.4"):
        assert refused("a.pptx", content) == error_text
    assert refused("a.pptx", b"\xd0\xcf\x11\xe0" + bytes(600)).startswith("is an old PowerPoint file or protected")
    assert refused("a.pptx", b"") == "has no text: the file is empty"
    assert refused("a.pptx", saved(deck())) == "has no text: there is nothing to index in it"


def test_a_damaged_file_is_read_or_refused_but_never_raises() -> None:
    whole = saved(deck(("Bees", "They dance.")))
    chance = random.Random(5)
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 5, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        upload = parse_upload("a.pptx", bytes(damaged))
        assert len(upload.documents) + len(upload.refusals) == 1
