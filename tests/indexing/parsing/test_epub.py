import io
import random
import zipfile
from collections.abc import Callable

import pytest

from leanrag_core.indexing.parsing import limits as limits
from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.types.corpus import Heading
from tests.indexing.parsing.conftest import Read

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
HTML = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
CHAPTERS = {
    "OEBPS/text/two.xhtml": f"{HTML}<body><h1>Ants</h1><p>They walk.</p></body></html>",
    "OEBPS/one 1.xhtml": f"{HTML}<head><title>x</title></head><body><h1>Bees</h1><p>They &lt; dance.</p></body></html>",
}


def package(*spine: str, title: str = "On Insects") -> str:
    """Return a package whose chapters are read in that order. Their ids are their names."""
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in spine)
    order = "".join(f'<itemref idref="{name}"/>' for name in spine)
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>{title}</dc:title></metadata><manifest>{items}"
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="cover" href="cover.jpg" media-type="image/jpeg"/></manifest>'
        f'<spine><itemref idref="nav"/><itemref idref="cover"/>{order}</spine></package>'
    )


def book(**replaced: str | bytes) -> bytes:
    """Return a book of two chapters. replaced: by name in the archive."""
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package("one%201.xhtml", "text/two.xhtml"),
        "OEBPS/nav.xhtml": "<html><body><nav>Bees 1</nav><p>Contents</p></body></html>",
        **CHAPTERS,
        **replaced,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_chapters_are_read_in_the_order_of_the_book(read: Read) -> None:
    document = read("a.epub", book())
    assert document.text == "Bees\n\nThey < dance.\n\nAnts\n\nThey walk."
    assert document.headings == (Heading("Bees", 1, 0, 4), Heading("Ants", 1, 21, 25))
    assert (document.title, document.media_type, document.pages, document.notes) == ("On Insects", "epub", (), ())


def test_a_chapter_that_is_missing_is_reported(read: Read) -> None:
    document = read("a.epub", book(**{"OEBPS/book.opf": package("gone.xhtml", "text/two.xhtml")}))
    assert (document.text, document.notes) == ("Ants\n\nThey walk.", ("1 of 2 chapters are missing in the file.",))


def test_names_lead_nowhere_but_into_the_archive(refused: Callable[..., str]) -> None:
    opf = package("../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://example.org/x")
    assert refused("a.epub", book(**{"OEBPS/book.opf": opf})) == "has no text: there is nothing to index in it"


def test_outer_entities_are_not_read() -> None:
    doctype = '<!DOCTYPE x [<!ENTITY host SYSTEM "file:///etc/hostname">]>'
    opf = doctype + package("text/two.xhtml").replace("On Insects", "&host;")
    upload = parse_upload("a.epub", book(**{"OEBPS/book.opf": opf}))
    assert [document.title for document in upload.documents] == ["Ants"]


def test_a_protected_book_is_refused_and_one_with_protected_fonts_is_read(
    read: Read, refused: Callable[..., str]
) -> None:
    def encryption(name: str) -> dict[str, str]:
        listed = f'<e:EncryptedData><e:CipherData><e:CipherReference URI="{name}"/></e:CipherData></e:EncryptedData>'
        space = 'xmlns:e="http://www.w3.org/2001/04/xmlenc#"'
        return {"META-INF/encryption.xml": f"<encryption {space}>{listed}</encryption>"}

    assert refused("a.epub", book(**encryption("OEBPS/text/two.xhtml"))) == (
        "is protected against copying: its text cannot be read"
    )
    assert "They walk." in read("a.epub", book(**encryption("OEBPS/font.otf"))).text


def test_what_is_no_epub_is_refused_with_what_to_do(refused: Callable[..., str]) -> None:
    error_text = "is not a readable EPUB file: open it in a reader for books and save it again"
    whole = book()
    broken = ("<package", "", "\x00")
    contents = [b"Bees dance.", whole[: len(whole) // 2], book(**{"META-INF/container.xml": "<container/>"})]
    for content in [*contents, *(book(**{"OEBPS/book.opf": opf}) for opf in broken)]:
        assert refused("a.epub", content) == error_text
    assert refused("a.epub", b"") == "has no text: the file is empty"


def test_a_chapter_that_unpacks_to_too_much_is_not_read(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_FREE_BYTES", 1000)
    content = book(**{"OEBPS/text/two.xhtml": "<p>" + "They walk. " * 100_000})
    assert refused("a.epub", content).startswith("unpacks to more than 200 times its size")


def test_a_damaged_file_is_read_or_refused_but_never_raises() -> None:
    whole = book()
    chance = random.Random(5)
    for _ in range(120):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 5, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        upload = parse_upload("a.epub", bytes(damaged))
        assert len(upload.documents) + len(upload.refusals) == 1
