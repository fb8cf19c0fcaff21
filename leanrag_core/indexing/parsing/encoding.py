"""Bytes to text: byte-order mark, UTF-8, else what the bytes most likely are, with a note."""

import codecs
from dataclasses import dataclass

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.notes import note

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAX_LOST = 3  # undecodable characters at the end of a cut file
_JAPANESE = (b"\x1b$B", b"\x1b$@", b"\x1b$(")
_NAMES = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", "utf-32": "UTF-32"}


@dataclass(frozen=True)
class Decoded:
    """The text of some bytes, and what the reader should know about how it was read."""

    text: str
    notes: tuple[str, ...]


def decode(content: bytes) -> Decoded:
    """Return the text. Raises UnreadableDocument for bytes that are no text."""
    notes: list[str] = []
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            text = content.decode(encoding, errors="replace")
            if encoding != "utf-8-sig":
                notes.append(note("read_as", encoding=_NAMES[encoding]))
            return _without_nul(text, notes)
    if any(escape in content for escape in _JAPANESE):  # all its bytes are ASCII, so UTF-8 would take it too
        return _without_nul(content.decode("iso2022_jp", errors="ignore"), [note("read_as", encoding="ISO-2022-JP")])
    try:
        return _without_nul(content.decode("utf-8"), notes)
    except UnicodeDecodeError as error:
        if _is_cut(content, error):
            notes.append(note("cut_off"))
            return _without_nul(content[: error.start].decode("utf-8"), notes)
    return _detected(content, notes)


def _is_cut(content: bytes, error: UnicodeDecodeError) -> bool:
    """Return whether UTF-8 ends in the middle of its last character; one odd byte after plain ASCII is no such end."""
    lost = len(content) - error.start
    is_utf8 = lost >= 2 or not content[: error.start].isascii()
    return error.reason == "unexpected end of data" and lost <= _MAX_LOST and is_utf8


def _detected(content: bytes, notes: list[str]) -> Decoded:
    if content.count(b"\x00") > len(content) // 10:
        raise UnreadableDocument("file.not_text")
    from chardet import EncodingEra, detect

    # Code pages of DOS and of the first Macs fit short texts by chance.
    encoding = detect(content, encoding_era=EncodingEra.MODERN_WEB, prefer_superset=True, compat_names=False)[
        "encoding"
    ]
    if encoding is None:
        raise UnreadableDocument("file.not_text")
    text = content.decode(encoding, errors="ignore")
    notes.append(note("guessed", encoding=encoding.upper()))
    return _without_nul(text, notes)


def _without_nul(text: str, notes: list[str]) -> Decoded:
    if "\x00" in text:
        notes.append(note("nul_characters", amount=f"{text.count(chr(0)):,}"))
        text = text.replace("\x00", "")
    return Decoded(text, tuple(notes))
