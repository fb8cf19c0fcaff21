"""Sentences of a text that people read: for answers and for whatever else cites whole sentences."""

import re

_SENTENCE_END = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"')\]]))\s+(?=[\"'(\[]?[A-Z0-9])|(?<=[。！？])|\n{2,}|\n(?=[-*] )"
)
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|St|No|vs|cf|e\.g|i\.e|etc|approx|Inc|Ltd|Co))\.$")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, white space folded; abbreviations and initials do not end one."""
    sentences: list[str] = []
    for piece in _SENTENCE_END.split(text):
        piece = " ".join(piece.split())
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {piece}"
        elif piece:
            sentences.append(piece)
    return sentences
