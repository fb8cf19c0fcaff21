"""Titles and headings: the names that they give, and the sentences that describe these."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from leanrag_core.indexing.extraction.english import GENERIC, GENERIC_HEADINGS, LIGHT
from leanrag_core.indexing.extraction.english_names import MAX_LENGTH
from leanrag_core.indexing.extraction.noun_phrases import title_key
from leanrag_core.indexing.extraction.sentences import Link, ReadSentence, Sighting
from leanrag_core.text.chinese import HAN
from leanrag_core.text.words import FUNCTION_WORDS, word_set
from leanrag_core.types.corpus import Document

_MAX_WORDS = 12
_SAY_NOTHING = FUNCTION_WORDS | GENERIC | LIGHT
_WORD = re.compile(r"[^\W_]+")
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|part|article|appendix|annex|book|volume|stave|act|scene)\s+(?:\d+|[ivxlc]+|[a-z])\b[\s.:–—-]*"
    r"|(?:\d+(?:\.\d+)*|[ivxlc]{2,})[.):]\s+|[a-z]\)\s+|\d+(?:\.\d+)+\s+|\d{1,2}\s+(?=[A-Z][a-z])|§\s*\d+\S*\s*"
    r"|第[一二三四五六七八九十百零〇\d]+[章节節篇编編部回卷][\s：:、]*|[一二三四五六七八九十]+[、．]\s*|[（(][一二三四五六七八九十\d]+[）)]\s*)",
    re.I,
)
_NUMBER_OF_TITLE = re.compile(
    r"^(?:\d+(?:\.\d+)*[.):]|(?:chapter|section|part|appendix|volume)\s+(?:\d+|[ivxlc]+)[.:])\s+", re.I
)
_BEFORE_SITE = re.compile(r"\s(?:[|·»–—-]|::)\s(?!.*\s(?:[|·»–—-]|::)\s)")  # the last mark between spaces
_PAGES_OF_SITE = 3  # titles that end alike; fewer may be about the same thing
_MARKUP = re.compile(r"[*_`#¶]+|\[(?=[^\]]*\]\()|\]\([^)]*\)|:$")
_SENTENCE = re.compile(r"[?？]$|。|[^\W\d_]{5,}[.?] ")  # a question, or more than one sentence
_HAN = re.compile(f"[{HAN}]")
_GENERIC_IN_CHINESE = word_set("""
引言 前言 序言 序 导言 导论 绪论 概述 简介 目录 正文 摘要 关键词 结语 结论 小结 总结 附录 注释 参考文献 参考资料 更多
""")
_FILE_ENDING = re.compile(r"\.(?:txt|md|pdf|docx|html?|csv|jsonl?)$", re.I)


def title_of(title: str) -> str:
    """Return a document's title, without its number, as an entity's name; "" when it names nothing."""
    title = _FILE_ENDING.sub("", title).strip()
    return _name(_NUMBER_OF_TITLE.sub("", title)) or _name(title)


def titles_of(titles: Sequence[str]) -> list[str]:
    """Return title_of() each title of a corpus, without the site's name after a mark: "Buffer | Manual of Node",
    where titles of several documents, and half of all, end so."""
    ends = [_BEFORE_SITE.search(title) for title in titles]
    counted = Counter(title[end.start() :] for title, end in zip(titles, ends, strict=True) if end)
    sites = {end for end, n in counted.items() if n >= _PAGES_OF_SITE and 2 * n >= len(titles)}
    return [
        (title_of(title[: end.start()]) if end and title[end.start() :] in sites else "") or title_of(title)
        for title, end in zip(titles, ends, strict=True)
    ]


def heading_sentences(
    document: Document, title: str, row: int, sentences: Sequence[ReadSentence], first_chunk: int
) -> Iterator[ReadSentence]:
    """Yield the title and each heading as a sighting, described by the sentences that follow it.

    title: of the document as an entity's name, "" when it names nothing. sentences: of the document, in order.
    first_chunk: where the first chunk begins; the title belongs to it. A heading is related with the heading or title
    above it.
    """
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
    if (
        letters < 2
        or name.casefold() in GENERIC_HEADINGS
        or name in _GENERIC_IN_CHINESE
        or len(name.split()) > _MAX_WORDS
        or _SENTENCE.search(name)
        or len(name) > MAX_LENGTH
    ):
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
    words = {word for word in sighting.key.split() if len(word) > 2 or _HAN.search(word)}
    texts = [(sentence.text, sentence.words) for sentence in following] or [(sighting.surface, ())]
    for number, (text, content) in enumerate(texts):
        is_named = bool(words) and all(word in text.casefold() for word in words)
        weight = (2.5 if is_named else 1.2) - 0.3 * number
        weighted = Sighting(sighting.surface, sighting.key, sighting.type, weight=round(weight, 4))
        if number == 0 and parent is not None:
            upper = Sighting(parent.surface, parent.key, parent.type, mentioned=False)
            link = Link(0, 1, "heading", 2.0, label="is a section of")
            yield ReadSentence(row, start, end, text, (weighted, upper), (link,), words=content)
        else:
            yield ReadSentence(row, start, end, text, (weighted,))
