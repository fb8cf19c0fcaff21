"""What the documents of a corpus repeat: menus, notices, footers, told by how many have the same line or sentence."""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from leanrag_core.indexing.parsing.asides import REPEATED, STRUCTURED, Aside, asides_of, joined, lines_of
from leanrag_core.indexing.parsing.running_heads import is_sentence
from leanrag_core.types.corpus import Document


def repeated_in(documents: Sequence[Document]) -> list[tuple[Aside, ...]]:
    """Return for each document the lines and sentences that many of the documents share, headings among them.

    A line that is no sentence counts when three documents, and a twentieth of all, have it; a heading or sentence when
    three documents, and half of all, have it. A sentence that fewer share, but at least three, counts in all of them
    except the first.
    """
    pieces = [list(_pieces(document)) if document.media_type not in STRUCTURED else [] for document in documents]
    n_documents = Counter(key for document_pieces in pieces for key in {key for *_, key in document_pieces})
    fewest, most = max(_FEWEST, math.ceil(_FEW * len(documents))), max(_FEWEST, math.ceil(_MANY * len(documents)))
    seen: set[str] = set()
    asides = []
    for document, document_pieces in zip(documents, pieces, strict=True):
        headings = {heading.start for heading in document.headings}
        repeated = []
        for start, end, key in document_pieces:
            sentence = is_sentence(document.text[start:end])
            shared = n_documents[key]
            if shared >= (most if sentence or start in headings else fewest) or (
                sentence and shared >= _FEWEST and key in seen
            ):
                repeated.append(Aside(start, end, REPEATED))
        seen.update(key for *_, key in document_pieces)
        asides.append(joined(repeated, document.text))
    return asides


def all_asides(document: Document, repeated: Iterable[Aside]) -> tuple[Aside, ...]:
    """Return the document's own asides, and between them what it repeats. repeated: its asides of repeated_in()."""
    own_asides = asides_of(document)
    asides = list(own_asides)
    for aside in repeated:
        first = bisect_right(own_asides, aside.start, key=lambda each: each.end)
        last = bisect_left(own_asides, aside.end, key=lambda each: each.start)
        ends = [aside.start, *(end for each in own_asides[first:last] for end in (each.start, each.end)), aside.end]
        for start, end in zip(ends[::2], ends[1::2], strict=True):
            piece = document.text[start:end].strip() if start < end else ""
            if piece:
                start = document.text.index(piece, start)
                asides.append(Aside(start, start + len(piece), REPEATED))
    return tuple(sorted(asides, key=lambda each: each.start))


_FEWEST, _FEW, _MANY = 3, 0.05, 0.5  # documents, and shares of them
_END = re.compile(r"(?<=[.!?…。！？؟।])[\"'”’)\]»]*\s+|(?<=[。！？])")
_DIGITS = re.compile(r"\d+")
_SIGNS = re.compile(r"[^\w#]+")
_LABELLED = re.compile(r"^[^:：]{1,30}[:：]\s*\S")
_SHORTEST = 4  # letters
_SHORT_LINE = 4  # words


def _pieces(document: Document) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and key of what may repeat: whole lines, and each sentence of a paragraph on one line.

    A labelled value, as of a form or a conversation, is none, nor is a line of few words inside a paragraph.
    """
    lines = list(lines_of(document.text))
    for place, line in enumerate(lines):
        alone = line.above and (place + 1 == len(lines) or lines[place + 1].above)
        position = 0
        for mark in [*(_END.finditer(line.text) if alone else ()), None]:
            stop = mark.start() if mark else len(line.text)
            text = line.text[position:stop].strip()
            key = _SIGNS.sub(" ", _DIGITS.sub("#", text.casefold())).strip()
            sentence, is_whole_line = is_sentence(text), text == line.text
            enough = sum(map(str.isalpha, key)) >= _SHORTEST and (alone or len(key.split()) >= _SHORT_LINE)
            if enough and (sentence or (is_whole_line and not _LABELLED.match(text))):
                start = line.start + line.text.index(text, position)
                yield start, start + len(text), key
            position = mark.end() if mark else stop
