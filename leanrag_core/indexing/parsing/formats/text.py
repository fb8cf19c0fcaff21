"""Plain text: paragraphs unchanged; a lone line in capitals is a heading."""

import re

from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed
from leanrag_core.indexing.parsing.encoding import decode

SUFFIXES = ("txt", "text", "log")
MEDIA_TYPE = "text"
TITLE = "plain text"
_HEADING_CHARACTERS = 80


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document."""
    decoded = decode(content)
    return FormatResult((Parsed(blocks_of(decoded.text), notes=decoded.notes),))


def blocks_of(text: str) -> tuple[Block, ...]:
    """Return the paragraphs of a plain text, between empty lines."""
    pieces = re.split(r"\n[^\S\n]*\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    return tuple(Block(piece, "heading", 2) if _is_heading(piece) else Block(piece) for piece in pieces)


def _is_heading(piece: str) -> bool:
    line = piece.strip()
    letters = [character for character in line if character.isalpha()]
    return (
        "\n" not in line
        and len(letters) >= 4
        and len(line) <= _HEADING_CHARACTERS
        and line == line.upper() != line.lower()
        and line[-1] not in ".,;:!?"
    )
