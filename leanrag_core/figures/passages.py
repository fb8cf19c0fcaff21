"""A chunk in its document, cut where something begins or ends that is to be seen: chunk, seed name, cited sentence."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.text.words import whole_words
from leanrag_core.types.trace import Trace, TraceItem

_REACH = 160  # characters before a place in which the beginning of its sentence is looked for


@dataclass(frozen=True)
class Piece:
    """A run of text under the same marks. marks: any of chunk, name, cited."""

    text: str
    marks: frozenset[str]


@dataclass(frozen=True)
class Passage:
    """Pieces in order; their texts joined are the document from start to end."""

    pieces: tuple[Piece, ...]
    start: int
    end: int
    cut_before: bool
    cut_after: bool


def passage_name(item: TraceItem, language: str = "en") -> str:
    """Name an item, a passage with its place, since several may be of one document."""
    return item.name if item.source is None else passage_place(item.name, item.source.page, item.row, language)


def trace_names(trace: Trace, language: str) -> dict[str, str]:
    """Name each item and each relation of a trace, by its id; a relation by its ends."""
    names = {item.id: passage_name(item, language) for item in trace.items}
    ends = {each.id: (each.source, each.target) for each in trace.relations}
    comma = sentence(message("ask.comma"), language)
    return names | {id_: comma.join(names.get(end, end) for end in pair) for id_, pair in ends.items()}


def passage_place(name: str, page: int | None, row: int | None, language: str) -> str:
    """Name a passage of that document: with its page, else its chunk where the row of that is known."""
    if page:
        return sentence(message("passage.on_page", name=name, page=page), language)
    return name if row is None else sentence(message("passage.of_document", name=name, n=row + 1), language)


def name_spans(text: str, names: Iterable[str]) -> list[tuple[int, int]]:
    """Return where the names stand in the text as whole words, in any case; the longest wins, none overlap."""
    wanted = sorted({name.strip() for name in names if name.strip()}, key=lambda name: (-len(name), name))
    if not wanted:
        return []
    return [match.span() for match in re.finditer("|".join(map(whole_words, wanted)), text, re.IGNORECASE)]


def sentence_spans(text: str, sentences: Iterable[str]) -> list[tuple[int, int]]:
    """Return where the sentences stand in the text, whatever white space lies between their words."""
    spans = []
    for each in sentences:
        words = each.split()
        match = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
        if match:
            spans.append(match.span())
    return sorted(spans)


def passage(
    text: str,
    start: int,
    end: int,
    *,
    names: Iterable[str] = (),
    cited: Iterable[str] = (),
    before: int = 500,
    after: int = 1200,
) -> Passage:
    """Return the chunk [start, end) with text around it, names and cited sentences marked inside the chunk.

    before, after: characters around the chunk; the edges are moved outward to white space.
    """
    left, right = _word_start(text, max(0, start - before)), _word_end(text, min(len(text), end + after))
    inside = text[start:end]
    intervals = [("chunk", start, end)]
    intervals += [("name", start + a, start + b) for a, b in name_spans(inside, names)]
    intervals += [("cited", start + a, start + b) for a, b in sentence_spans(inside, cited)]
    return Passage(tuple(_cut(text, left, right, intervals)), left, right, left > 0, right < len(text))


def excerpt(text: str, names: Iterable[str], *, longest: int = 340) -> tuple[Piece, ...]:
    """Return the stretch of the text that holds most names, some `longest` characters, names marked, "…" where it is
    cut.

    It begins with a sentence where one begins near.
    """
    spans = name_spans(text, names)
    left = 0
    if spans and len(text) > longest:
        left = max(
            (max(0, span[0] - 40) for span in spans),
            key=lambda at: (sum(at <= a and b <= at + longest for a, b in spans), -at),
        )
    left = _sentence_start(text, left)
    right = len(text) if len(text) <= left + longest else _word_start(text, left + longest)
    return _with_ellipses(text, left, right, [("name", a, b) for a, b in spans])


def around(text: str, sentence: str, names: Iterable[str] = (), *, longest: int = 320) -> tuple[Piece, ...]:
    """Return the stretch of the text around the sentence, some `longest` characters, the sentence marked cited, names
    marked; the beginning of the text where it does not stand in it."""
    spans = sentence_spans(text, [sentence] if sentence else [])
    left = 0
    if spans and len(text) > longest:
        left = _sentence_start(text, max(0, spans[0][0] - (longest - (spans[0][1] - spans[0][0])) // 2))
        left = min(left, spans[0][0])
    right = len(text) if len(text) <= left + longest else _word_start(text, left + longest)
    if spans:
        right = max(right, min(spans[0][1], _word_start(text, left + 2 * longest)))
    marked = [("cited", a, b) for a, b in spans[:1]] + [("name", a, b) for a, b in name_spans(text, names)]
    return _with_ellipses(text, left, right, marked)


def _with_ellipses(text: str, left: int, right: int, intervals: list[tuple[str, int, int]]) -> tuple[Piece, ...]:
    before = [Piece("… ", frozenset())] if left > 0 else []
    after = [Piece(" …", frozenset())] if right < len(text) else []
    return (*before, *_cut(text, left, right, intervals), *after)


def _cut(text: str, left: int, right: int, intervals: list[tuple[str, int, int]]) -> list[Piece]:
    inner = [(mark, max(a, left), min(b, right)) for mark, a, b in intervals if a < right and b > left]
    edges = sorted({left, right, *(a for _, a, _ in inner), *(b for _, _, b in inner)})
    return [Piece(text[a:b], frozenset(mark for mark, x, y in inner if x <= a and b <= y)) for a, b in pairwise(edges)]


def _sentence_start(text: str, at: int) -> int:
    for place in range(at, max(0, at - _REACH), -1):
        if text[place - 1].isspace() and text[:place].rstrip()[-1:] in (".", "!", "?", "\n"):
            return place
    return 0 if at <= _REACH else _word_start(text, at)


def _word_start(text: str, at: int) -> int:
    while 0 < at < len(text) and not text[at - 1].isspace():
        at -= 1
    return at


def _word_end(text: str, at: int) -> int:
    while 0 < at < len(text) and not text[at].isspace():
        at += 1
    return at
