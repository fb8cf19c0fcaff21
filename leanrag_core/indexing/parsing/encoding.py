"""Bytes to text: byte-order mark, UTF-8, else what the bytes most likely are, with a note."""

import codecs
from dataclasses import dataclass

from leanrag_core.errors import UnreadableDocument

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAX_LOST = 3  # undecodable characters at the end of a cut file
_NAMES = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", "utf-32": "UTF-32"}


@dataclass(frozen=True)
class Decoded:
    """The text of some bytes, and what the reader should know about how it was read."""

    text: str
    notes: tuple[str, ...]


def decode(content: bytes) -> Decoded:
    """The text. Raises UnreadableDocument for bytes that are no text."""
    notes: list[str] = []
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            text = content.decode(encoding, errors="replace")
            if encoding != "utf-8-sig":
                notes.append(f"Read as {_NAMES[encoding]}.")
            return _without_nul(text, notes)
    try:
        return _without_nul(content.decode("utf-8"), notes)
    except UnicodeDecodeError as error:
        if error.start >= len(content) - _MAX_LOST:  # cut in the middle of its last character
            notes.append("The last character is cut off and was left out.")
            return _without_nul(content[: error.start].decode("utf-8"), notes)
    return _detected(content, notes)


def _detected(content: bytes, notes: list[str]) -> Decoded:
    if b"\x1b$" in content:
        return _without_nul(content.decode("iso2022_jp", errors="ignore"), [*notes, "Read as ISO-2022-JP."])
    if content.count(b"\x00") > len(content) // 10:
        raise UnreadableDocument("is not a text file: its bytes are not text in any encoding that is known here")
    from charset_normalizer import from_bytes

    # A cut last character must not hide the right encoding.
    best = from_bytes(content).best() or from_bytes(content[:-1]).best()
    if best is None:
        raise UnreadableDocument("is not a text file: its bytes are not text in any encoding that is known here")
    encoding = best.encoding
    text = content.decode(encoding, errors="ignore")
    notes.append(f"Read as {encoding.replace('_', '-').upper()}; the file does not say its encoding.")
    return _without_nul(text, notes)


def _without_nul(text: str, notes: list[str]) -> Decoded:
    if "\x00" in text:
        notes.append(f"{text.count(chr(0)):,} NUL characters were left out.")
        text = text.replace("\x00", "")
    return Decoded(text, tuple(notes))
