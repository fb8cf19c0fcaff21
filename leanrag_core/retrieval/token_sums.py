"""Counting the tokens of a line of the context by adding stored counts, exactly.

cl100k first cuts a text into words by a pattern and then counts each word alone. Where the pattern always cuts between
two pieces, the count of the whole is the sum of the counts. It always cuts

- before a space that follows something other than white space, so that a stored text can be counted with the space
  before it;
- between a letter or digit and a mark such as ":" or ")";
- after a line's end, when what follows is not white space.

Anywhere else the pieces are counted as one text.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from leanrag_core.text.tokens import count_tokens

_LONG = 1000  # letters; long runs are cut by position (tokens.py), so that neighbours matter


class Piece(NamedTuple):
    """A part of a line. tokens: its count when it stands alone."""

    text: str
    tokens: int


@lru_cache(maxsize=1 << 14)
def fixed(text: str) -> Piece:
    """Return a piece that occurs often, its count cached: a mark, a conjunction, a title, the names before a
    description."""
    return Piece(text, count_tokens(text))


def joined(pieces: Sequence[Piece]) -> int:
    """Return tokens of the pieces written one after the other."""
    tokens, before = 0, ""
    for text, alone in pieces:
        if before and not _breaks(before, text):
            return count_tokens("".join(piece.text for piece in pieces))
        tokens, before = tokens + alone, text
    return tokens


def _breaks(left: str, right: str) -> bool:
    if not left or not right or len(left) > _LONG:
        return False
    if right[0] == " ":
        return not left[-1].isspace()
    return right[0] in ":)" and _is_word(left[-1])


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"


def blank_line_tokens(line: str) -> int:
    """Return how many tokens a line (with its end) gains when an empty line follows it."""
    body = line.removesuffix("\n")
    if body and _is_word(body[-1]):
        return fixed("\n\n").tokens - fixed("\n").tokens
    start = len(body)
    while start and len(body) - start <= _LONG and not (body[start - 1].isspace() or _is_word(body[start - 1])):
        start -= 1
    at_space = start > 0 and body[start - 1] == " "
    if start == len(body) or not (at_space or (start and _is_word(body[start - 1]))) or not _broken(body[:start]):
        return count_tokens(f"{line}\n") - count_tokens(line)
    marks = body[start - at_space :]
    return _gain(marks)


@lru_cache(maxsize=4096)
def _gain(marks: str) -> int:
    return count_tokens(f"{marks}\n\n") - count_tokens(f"{marks}\n")


def _broken(text: str) -> bool:
    """Return whether the last run without white space is short."""
    return len(text) < _LONG or any(character.isspace() for character in text[-_LONG:])
