"""Marks that belong to the letter before them, such as vowel signs of Indian scripts, for regular expressions.

To Python's re they are no part of a word, so that it would end a Hindi word at its first vowel.
"""

import unicodedata

_JOINERS = "\u200c\u200d"  # stand inside words of Persian and of Indian scripts


def _ranges() -> str:
    """Return all combining marks of the basic plane as ranges of a character class."""
    parts: list[str] = []
    start = 0
    for code in range(0x300, 0x10000):
        is_mark = unicodedata.category(chr(code)) in ("Mn", "Mc")
        if is_mark and not start:
            start = code
        if not is_mark and start:
            parts.append(f"{chr(start)}-{chr(code - 1)}")
            start = 0
    return "".join(parts)


MARKS = _ranges() + _JOINERS
"""The inside of a character class."""
