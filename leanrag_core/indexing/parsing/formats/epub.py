"""EPUB: the chapters in the order of the book, each read as a page of HTML."""

import io
import posixpath
import zipfile
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed, one_line
from leanrag_core.indexing.parsing.formats.html import blocks_of, utf8_or_bytes
from leanrag_core.indexing.parsing.formats.zip import unpack
from leanrag_core.indexing.parsing.limits import Allowance, is_out_of_memory, own_text
from leanrag_core.indexing.parsing.notes import note

SUFFIXES = ("epub",)
MEDIA_TYPE = "epub"
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_NO_BOOK = "is not a readable EPUB file: open it in a reader for books and save it again"


@dataclass(frozen=True)
class _Book:
    """chapters: names in the archive, in the order of the book."""

    title: str
    chapters: tuple[str, ...]


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document. Raises UnreadableDocument for what is no EPUB or is protected."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return FormatResult((_parsed(archive),))
    except (UnreadableDocument, RecursionError):
        raise
    except Exception as error:  # zipfile and lxml raise anything on damaged files
        if is_out_of_memory(error):
            raise MemoryError from error
        raise UnreadableDocument(_NO_BOOK) from error


def _parsed(archive: zipfile.ZipFile) -> Parsed:
    entries = {entry.filename: entry for entry in archive.infolist()}
    Allowance().take(len(entries), sum(entry.file_size for entry in entries.values()))
    book = _book(archive, entries)
    protected = _encrypted(archive, entries)
    if protected.intersection(book.chapters):
        raise UnreadableDocument("file.copy_protected")
    blocks: list[Block] = []
    missing = 0
    for chapter in book.chapters:
        if chapter not in entries:
            missing += 1
            continue
        blocks += blocks_of(utf8_or_bytes(unpack(archive, entries[chapter])))
    notes = (note("missing_chapters", missing=str(missing), chapters=str(len(book.chapters))),) if missing else ()
    return Parsed(tuple(blocks), title=book.title, title_first=bool(book.title), notes=notes)


def _book(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> _Book:
    """Return the title and chapters, as the book's package says. Its names lead into the archive and nowhere else."""
    if _CONTAINER not in entries:
        raise UnreadableDocument(_NO_BOOK)
    root = _xml(unpack(archive, entries[_CONTAINER])).find(".//{*}rootfile")
    package = "" if root is None else unquote(root.get("full-path", ""))
    if package not in entries:
        raise UnreadableDocument(_NO_BOOK)
    opf = _xml(unpack(archive, entries[package]))
    folder = posixpath.dirname(package)
    items = {item.get("id"): item for item in opf.iterfind(".//{*}manifest/{*}item")}
    spine = [items.get(itemref.get("idref")) for itemref in opf.iterfind(".//{*}spine/{*}itemref")]
    chapters = [
        posixpath.normpath(posixpath.join(folder, unquote(urlsplit(item.get("href", "")).path)))
        for item in spine
        if item is not None and item.get("media-type") in _PAGES and "nav" not in item.get("properties", "").split()
    ]
    title = opf.find(".//{http://purl.org/dc/elements/1.1/}title")
    return _Book(one_line(own_text(title)) if title is not None else "", tuple(dict.fromkeys(chapters)))


def _encrypted(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> frozenset[str]:
    """Return the names of what is encrypted; fonts often are in books that can be read."""
    if _ENCRYPTION not in entries:
        return frozenset()
    listed = _xml(unpack(archive, entries[_ENCRYPTION])).iterfind(".//{*}CipherReference")
    return frozenset(unquote(reference.get("URI", "")) for reference in listed)


def _xml(content: bytes) -> Any:
    """Return the root. Entities are not unfolded, nothing is fetched."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(content, parser)
