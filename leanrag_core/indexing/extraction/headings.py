"""Titles and headings as entities: cheap, and a question often names them."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from leanrag_core.indexing.extraction.english_words import GENERIC, GENERIC_HEADINGS, LIGHT
from leanrag_core.indexing.extraction.name_phrases import MAX_LENGTH
from leanrag_core.indexing.extraction.noun_phrases import title_key
from leanrag_core.indexing.extraction.sentences import Link, ReadSentence, Sighting
from leanrag_core.text.words import FUNCTION_WORDS
from leanrag_core.types.corpus import Document

_MAX_WORDS = 12
_SAY_NOTHING = FUNCTION_WORDS | GENERIC | LIGHT
_WORD = re.compile(r"[^\W_]+")
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|part|article|appendix|annex|book|volume|stave|act|scene)\s+(?:\d+|[ivxlc]+|[a-z])\b[\s.:–—-]*"
    r"|(?:\d+(?:\.\d+)*|[ivxlc]{2,})[.):]\s+|[a-z]\)\s+|\d+(?:\.\d+)+\s+|§\s*\d+\S*\s*)",
    re.I,
)
_MARKUP = re.compile(r"[*_`#]+|\[(?=[^\]]*\]\()|\]\([^)]*\)|:$")
_FILE_ENDING = re.compile(r"\.(?:txt|md|pdf|docx|html?|csv|jsonl?)$", re.I)


def title_of(title: str) -> str:
    """Return a document's title as an entity's name; "" when it names nothing."""
    return _name(_FILE_ENDING.sub("", title))


def heading_sentences(
    document: Document, row: int, sentences: Sequence[ReadSentence], first_chunk: int
) -> Iterator[ReadSentence]:
    """Yield the title and each heading as a sighting, described by the sentences that follow it.

    sentences: of the document, in order. first_chunk: where the first chunk begins; the title belongs to it. A heading
    is related with the heading or title above it.
    """
    title = title_of(document.title)
    above: list[tuple[int, Sighting]] = []
    if title:
        sighting = Sighting(title, title_key(title), "title")
        above.append((0, sighting))
        yield from _described(row, first_chunk, first_chunk, sighting, sentences[:3])
    starts = [sentence.start for sentence in sentences]
    for heading in sorted(document.headings, key=lambda span: (span.start, span.end)):
        name = _name(_NUMBERING.sub("", _MARKUP.sub("", heading.title).strip()))
        while above and above[-1][0] >= max(heading.level, 1):
            above.pop()
        if not name:
            continue
        sighting = Sighting(name, title_key(name), "heading")
        if above and above[-1][1].key == sighting.key:
            continue
        parent = above[-1][1] if above else None
        above.append((max(heading.level, 1), sighting))
        following = bisect_left(starts, heading.end)
        yield from _described(row, heading.start, heading.end, sighting, sentences[following : following + 2], parent)


def _name(text: str) -> str:
    """Return the text without markup, as a name; "" for one that names nothing, or that is a sentence."""
    name = " ".join(_MARKUP.sub("", text).split()).strip(" –—-")
    letters = sum(letter.isalpha() for letter in name)
    if all(word in _SAY_NOTHING for word in _WORD.findall(name.casefold())):  # "What this is about", "Who is who"
        return ""
    if letters < 2 or name.casefold() in GENERIC_HEADINGS or len(name.split()) > _MAX_WORDS or len(name) > MAX_LENGTH:
        return ""
    return name


def _described(
    row: int,
    start: int,
    end: int,
    sighting: Sighting,
    following: Sequence[ReadSentence],
    parent: Sighting | None = None,
) -> Iterator[ReadSentence]:
    """Yield the sighting once for each sentence that follows; the first that names it says most."""
    words = {word for word in sighting.key.split() if len(word) > 2}
    texts = [(sentence.text, sentence.words) for sentence in following] or [(sighting.surface, ())]
    for number, (text, content) in enumerate(texts):
        named = bool(words) and all(word in text.casefold() for word in words)
        weight = (2.5 if named else 1.2) - 0.3 * number
        weighted = Sighting(sighting.surface, sighting.key, sighting.type, weight=round(weight, 4))
        if number == 0 and parent is not None:
            upper = Sighting(parent.surface, parent.key, parent.type, mentioned=False)
            link = Link(0, 1, "heading", 2.0, label="is a section of")
            yield ReadSentence(row, start, end, text, (weighted, upper), (link,), words=content)
        else:
            yield ReadSentence(row, start, end, text, (weighted,))
