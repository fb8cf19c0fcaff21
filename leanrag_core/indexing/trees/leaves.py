"""Documents cut into short leaves that end where a sentence ends."""

import re
from dataclasses import dataclass
from itertools import pairwise

from leanrag_core.text.tokens import count_many, token_offsets
from leanrag_core.types.index import Index

_BREAK = re.compile(r"\n+|[.!?][\"')\]]*\s+|[。！？]")


@dataclass(frozen=True)
class Leaf:
    """chunk: row of the chunk that holds it. start, end: characters of the document. tokens: of its text."""

    chunk: int
    start: int
    end: int
    text: str
    tokens: int


def cut_leaves(index: Index, max_tokens: int) -> list[Leaf]:
    """Cut the documents into leaves of at most so many tokens, in their order, each inside a chunk.

    What two chunks share is in a leaf of the first alone.
    """
    leaves: list[Leaf] = []
    document, end = -1, 0
    for row in range(index.chunks.num_rows):
        chunk = index.chunk(row)
        own = index.chunk_cells["document"][row].as_py()
        start = max(chunk.start, end if own == document else 0)
        document, end = own, max(chunk.end, start)
        text = chunk.text[start - chunk.start :]
        leaves += [
            Leaf(row, start + first, start + last, text[first:last], tokens)
            for first, last, tokens in spans(text, max_tokens)
        ]
    return leaves


def spans(text: str, max_tokens: int) -> list[tuple[int, int, int]]:
    """Return where each leaf begins and ends in the text, and its tokens: as many whole sentences as fit; a longer
    sentence is cut at tokens.
    """
    pieces = _pieces(text, max_tokens)
    counts = count_many([text[start:end] for start, end in pieces]).tolist()
    packed: list[tuple[int, int]] = []
    used = 0
    for (start, end), tokens in zip(pieces, counts, strict=True):
        if packed and used + tokens <= max_tokens:
            packed[-1] = (packed[-1][0], end)
            used += tokens
        else:
            packed.append((start, end))
            used = tokens
    trimmed = [_trimmed(text, start, end) for start, end in packed]
    kept = [(start, end) for start, end in trimmed if start < end]
    tokens_of = count_many([text[start:end] for start, end in kept]).tolist()
    return [(start, end, tokens) for (start, end), tokens in zip(kept, tokens_of, strict=True)]


def _pieces(text: str, max_tokens: int) -> list[tuple[int, int]]:
    ends = [match.end() for match in _BREAK.finditer(text)]
    pieces: list[tuple[int, int]] = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        offsets = token_offsets(text[start:end])
        cuts = list(dict.fromkeys([*offsets[:-1:max_tokens], end - start]))
        pieces += [(start + a, start + b) for a, b in pairwise(cuts) if a < b]
    return pieces


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
