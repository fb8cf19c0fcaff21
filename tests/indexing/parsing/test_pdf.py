import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from fpdf import FPDF
from fpdf.enums import AccessPermission

from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.indexing.parsing.formats import pdf as read_pdf
from leanrag_core.indexing.parsing.running_heads import put_back
from leanrag_core.types.corpus import Heading
from tests.indexing.parsing.conftest import Read

BEES = "Bees dance in the hive to tell where nectar lies."
ANTS = "Ants follow trails of scent to their nest and back."


def pdf(*pages: list[tuple[int, str]], title: str = "") -> bytes:
    """Return a PDF of pages of (size in points, text)."""
    return bytes(unsaved(*pages, title=title).output())


def unsaved(*pages: list[tuple[int, str]], title: str = "") -> FPDF:
    file = FPDF()
    file.set_creation_date(datetime(2026, 1, 1, tzinfo=UTC))  # the same bytes every time
    if title:
        file.set_title(title)
    for lines in pages:
        file.add_page()
        for size, text in lines:
            file.set_font("Helvetica", size=size)
            file.multi_cell(0, size * 0.4, text, align="L")
            file.ln(10)
    return file


def test_paragraphs_pages_and_headings_have_their_places(read: Read) -> None:
    document = read("a.pdf", pdf([(24, "On insects"), (12, BEES)], [(15, "Ants"), (12, ANTS)]))
    assert document.text == f"On insects\n\n{BEES}\n\nAnts\n\n{ANTS}"
    assert document.headings == (Heading("On insects", 1, 0, 10), Heading("Ants", 2, 63, 67))
    first, second = document.pages
    assert document.text[first.start : first.end].strip() == f"On insects\n\n{BEES}"
    assert document.text[second.start : second.end] == f"Ants\n\n{ANTS}"
    assert (document.title, document.media_type, document.notes) == ("On insects", "pdf", ())


def test_the_stated_title_is_taken_where_no_heading_opens_the_text(read: Read) -> None:
    assert read("a.pdf", pdf([(12, BEES)], title="On Bées")).title == "On Bées"
    assert read("my_bees.pdf", pdf([(12, BEES)], title="draft.tex")).title == "my bees"


def test_a_page_without_text_is_an_empty_span(read: Read) -> None:
    document = read("a.pdf", pdf([(12, BEES)], [], [(12, ANTS)]))
    assert [document.text[page.start : page.end].strip() for page in document.pages] == [BEES, "", ANTS]


def test_running_heads_and_page_numbers_are_left_out_and_counted(read: Read) -> None:
    texts = [BEES, ANTS, "Wasps build with paper that they make of wood."]
    pages = [[(12, "Journal of Insects"), (12, text), (12, f"Page {n}")] for n, text in enumerate(texts, 1)]
    document = read("a.pdf", pdf(*pages))
    assert document.text == "\n\n".join(texts)
    assert document.notes == ("6 running heads and page numbers were left out.",)


def test_what_stands_at_the_top_of_half_of_the_pages_alone_is_text(read: Read) -> None:
    texts = [BEES, ANTS, "Wasps build with paper that they make of wood.", "Moths fly at night and are drawn to light."]
    document = read("a.pdf", pdf(*([(12, "On insects")] * (n < 2) + [(12, text)] for n, text in enumerate(texts))))
    assert document.text.count("On insects") == 2
    document = read("a.pdf", pdf(*([(12, "On insects")] * (n < 3) + [(12, text)] for n, text in enumerate(texts))))
    assert document.notes == ("3 running heads and page numbers were left out.",)


def test_numbered_chapters_in_large_type_are_headings_not_running_heads(read: Read) -> None:
    document = read("a.pdf", pdf([(20, "Chapter 1"), (12, BEES)], [(20, "Chapter 2"), (12, ANTS)]))
    assert [heading.title for heading in document.headings] == ["Chapter 1", "Chapter 2"]


def test_a_file_of_running_heads_alone_keeps_them(read: Read) -> None:
    assert read("a.pdf", pdf([(12, "Confidential")], [(12, "Confidential")])).text == "Confidential\n\nConfidential"
    assert read("a.pdf", pdf([(12, "7")])).text == "7"


def test_a_hyphenated_word_is_mended_and_wrapped_lines_are_one_paragraph(read: Read) -> None:
    assert (
        read("a.pdf", pdf([(12, "Bees collect nec-\ntar in the\nfields.")])).text
        == "Bees collect nectar in the fields."
    )


def test_a_sentence_goes_on_over_the_page(read: Read) -> None:
    document = read("a.pdf", pdf([(12, "Bees collect nectar in")], [(12, "the fields.")]))
    assert document.text == "Bees collect nectar in the fields."
    assert [page.start for page in document.pages] == [0, 23]


def test_a_word_cut_by_the_end_of_the_page_is_mended(read: Read) -> None:
    document = read("a.pdf", pdf([(12, "Bees collect nec-")], [(12, "tar in the fields.")]))
    assert document.text == "Bees collect nectar in the fields."
    assert [page.start for page in document.pages] == [0, 20]
    assert read("a.pdf", pdf([(12, "Bees collect nec-")], [(12, "tar")])).text == "Bees collect nectar"


LISTING = "# mkfs.ext4 backups\nDiscarding device blocks: done\nWriting superblocks: done"


def pages_of(*paragraphs: tuple[str, str], head: str = "", pages: int = 1) -> bytes:
    """Return a PDF of so many pages, each with these paragraphs of (font, text) below its head."""
    file = FPDF()
    for _ in range(pages):
        file.add_page()
        file.set_font("Helvetica", size=11)
        file.text(30, 15, head)
        file.ln(30)
        for font, text in paragraphs:
            file.set_font(font, size=11)
            file.multi_cell(0, 5, text, align="L")
            file.ln(10)
    return bytes(file.output())


def test_a_listing_in_fixed_pitch_keeps_its_lines_and_is_told_apart(read: Read) -> None:
    document = read("a.pdf", pages_of(("Helvetica", f"{BEES} {ANTS}"), ("Courier", LISTING), ("Helvetica", ANTS)))
    assert document.text == f"{BEES} {ANTS}\n\n{LISTING}\n\n{ANTS}"
    [span] = document.preformatted
    assert document.text[span.start : span.end] == LISTING


def test_a_typescript_and_the_head_of_an_entry_are_read_as_paragraphs(read: Read) -> None:
    assert read("a.pdf", pages_of(("Courier", BEES), ("Courier", ANTS))).preformatted == ()
    entry = read("a.pdf", pages_of(("Helvetica", BEES), ("Courier", "globskipdots"), ("Helvetica", ANTS)))
    assert entry.preformatted == ()
    assert "globskipdots" in entry.text


def test_a_listing_moves_with_the_running_heads_that_are_put_back(read: Read) -> None:
    paragraphs = (
        ("Helvetica", BEES),
        ("Helvetica", ANTS),
        ("Courier", LISTING),
        ("Helvetica", ANTS),
        ("Helvetica", BEES),
    )
    left_out = read("a.pdf", pages_of(*paragraphs, head="On insects", pages=3))
    [head, *_] = left_out.running_heads
    document = put_back(left_out, head.text)
    assert document.text.count("On insects") == 3
    assert [document.text[span.start : span.end] for span in document.preformatted] == [LISTING] * 3


def test_a_file_without_a_text_layer_is_refused_with_its_pages(refused: Callable[..., str]) -> None:
    file = FPDF()
    for _ in range(2):
        file.add_page()
        file.rect(10, 10, 50, 50)
    assert refused("a.pdf", bytes(file.output())) == ("has no text layer (pages: 2): run OCR on it, then add it again")


def test_a_file_with_a_password_is_refused(refused: Callable[..., str]) -> None:
    file = unsaved([(12, BEES)])
    file.set_encryption(owner_password="owner", user_password="user", permissions=AccessPermission.none())
    assert refused("a.pdf", bytes(file.output())) == "needs a password: remove the password, then add it again"


def test_what_is_no_pdf_is_refused(refused: Callable[..., str]) -> None:
    assert refused("a.pdf", "Bees dance.").startswith("is not a PDF")


def test_half_a_file_is_refused_as_damaged(refused: Callable[..., str]) -> None:
    whole = pdf([(12, BEES)])
    assert refused("a.pdf", whole[: len(whole) // 2]).startswith("is damaged and cannot be read: open it")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("objects", ["1 0 obj 1 0 R endobj", "1 0 obj 2 0 R endobj\n2 0 obj 1 0 R endobj"])
def test_an_object_that_leads_to_itself_is_refused_and_not_followed_for_ever(
    refused: Callable[..., str], objects: str
) -> None:
    file = f"%PDF-1.4\n{objects}\ntrailer << /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"
    assert refused("a.pdf", file).startswith("is damaged and cannot be read: open it")


def test_a_file_that_breaks_off_keeps_what_was_read_and_says_so(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    layouts = read_pdf._layouts

    def breaking_off(content: bytes) -> Iterator[Any]:
        yield next(layouts(content))
        raise ValueError("bad object")

    monkeypatch.setattr(read_pdf, "_layouts", breaking_off)
    document = read("a.pdf", pdf([(12, BEES)], [(12, ANTS)]))
    assert document.text == BEES
    assert document.notes == ("The file is damaged after page 1; what follows could not be read.",)


def test_a_damaged_file_is_read_or_refused_but_never_raises() -> None:
    whole = pdf([(20, "Insects"), (12, BEES)], [(12, ANTS)], title="Insects")
    chance = random.Random(5)
    for _ in range(80):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 5, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        upload = parse_upload("a.pdf", bytes(damaged))
        assert len(upload.documents) + len(upload.refusals) == 1


def pages_with(*edges: str, at: str = "top", size: int = 11) -> bytes:
    """Return a PDF with a page for each text, which is at the same place of its page, above or below other text."""
    file = FPDF()
    for text in edges:
        file.add_page()
        file.set_font("Helvetica", size=size)
        file.set_xy(20, 20 if at == "top" else 250)
        file.cell(text=text)
        file.set_font("Helvetica", size=11)
        for place, body in enumerate((BEES, ANTS)):
            file.set_xy(20, 60 + 40 * place)
            file.cell(text=body)
    return bytes(file.output())


YEARS = ["Net revenue in 2021 was 4.2 million euro.", "Net revenue in 2022 was 5.1 million euro."]


@pytest.mark.parametrize("at", ["top", "bottom"])
@pytest.mark.parametrize(
    "edges",
    [
        [*YEARS, "Net revenue in 2023 was 6.3 million euro."],
        [YEARS[0], YEARS[0], YEARS[0]],
        ["Revenue of 2021: 4.2", "Revenue of 2022: 4.2", "Revenue of 2023: 4.2"],
        ["12 hives, 40 frames", "13 hives, 38 frames", "14 hives, 51 frames"],
    ],
    ids=["sisters", "one sentence", "years", "counts"],
)
def test_sentences_and_figures_at_the_same_place_of_three_pages_are_text(read: Read, edges: list[str], at: str) -> None:
    document = read("a.pdf", pages_with(*edges, at=at))
    assert [paragraph for paragraph in document.text.split("\n\n") if paragraph not in (BEES, ANTS)] == edges
    assert (document.running_heads, document.notes) == ((), ())


def test_what_repeats_in_words_alone_is_text() -> None:
    texts = {"place": "", "font": "", "size": ""}
    for differs in texts:
        file = FPDF()
        for n in range(3):
            file.add_page()
            file.set_font("Courier" if differs == "font" and n == 1 else "Helvetica", size=11)
            file.set_font_size(11 + (n if differs == "size" else 0))
            file.set_xy(20, 20 + (15 * n if differs == "place" else 0))
            file.cell(text="Journal of Insects")
            file.set_font("Helvetica", size=11)
            file.set_xy(20, 120)
            file.cell(text=BEES)
        [document] = parse_upload("a.pdf", bytes(file.output())).documents
        texts[differs] = document.text
    counts = {differs: text.count("Journal of Insects") for differs, text in texts.items()}
    assert counts == {"place": 3, "font": 1, "size": 3}  # of font, two pages of three are the same


def test_page_numbers_at_alternating_sides_are_left_out_and_known_with_their_places(read: Read) -> None:
    file = FPDF()
    for n in range(1, 5):
        file.add_page()
        file.set_font("Helvetica", size=11)
        file.set_xy(20, 120)
        file.cell(text=f"{BEES} {'I' * n}")
        file.set_xy(20 if n % 2 else 180, 270)
        file.cell(text=str(n + 16))
    document = read("a.pdf", bytes(file.output()))
    assert [(head.text, head.page, head.in_text) for head in document.running_heads] == [
        (str(n + 16), n, False) for n in range(1, 5)
    ]
    assert document.notes == ("4 running heads and page numbers were left out.",)


def test_running_heads_that_are_put_back_and_left_out_again_give_the_same_document(read: Read) -> None:
    texts = [BEES, ANTS, "Wasps build with paper that they make of wood."]
    pages = [[(12, "Journal of Insects"), (12, text), (12, f"Page {n}")] for n, text in enumerate(texts, 1)]
    document = read("a.pdf", pdf(*pages))
    heads = put_back(document, "Journal of Insects")
    assert heads.text == "\n\n".join(f"Journal of Insects\n\n{text}" for text in texts)
    both = put_back(heads, "Page 2")
    assert both.text == "\n\n".join(f"Journal of Insects\n\n{text}\n\nPage {n}" for n, text in enumerate(texts, 1))
    assert [both.text[page.start : page.end].strip() for page in both.pages] == [
        f"Journal of Insects\n\n{text}\n\nPage {n}" for n, text in enumerate(texts, 1)
    ]
    assert all(both.text[head.start : head.end].strip() == head.text for head in both.running_heads)
    assert both.id != document.id
    assert (heads.notes, both.notes) == (("3 running heads and page numbers were left out.",), ())
    assert put_back(put_back(both, "Journal of Insects"), "Page 1") == document
    assert put_back(put_back(both, "Page 3"), "Journal of Insects") == document


def test_a_running_head_inside_a_sentence_is_put_back_between_its_parts(read: Read) -> None:
    lines = ["Bees collect nectar in", "the fields and carry it", "home to the hive."]
    document = read("a.pdf", pdf(*([(12, "Journal of Insects"), (12, line)] for line in lines)))
    assert document.text == " ".join(lines)
    again = put_back(document, "journal of insects")
    assert [part.strip() for part in again.text.split("\n\n")] == [
        text for line in lines for text in ("Journal of Insects", line)
    ]
    assert put_back(again, "Journal of Insects") == document
