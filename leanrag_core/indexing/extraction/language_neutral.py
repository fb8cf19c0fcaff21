"""Entities without a language model of the language: statistics of words, capitals and character runs.

Where white space parts words, an entity is a run of content words between function words (as in RAKE: Rose et al.,
"Automatic keyword extraction from individual documents", 2010); function words are the short and frequent ones. Where
it does not (Japanese, Thai), an entity is a run of characters that recurs, or that is between particles. Chinese has a
dictionary (chinese.py).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from leanrag_core.indexing.extraction.blocks import Block, blocks_of
from leanrag_core.indexing.extraction.chinese import ChineseReader
from leanrag_core.indexing.extraction.sentences import ReadSentence, Sighting, link_neighbours
from leanrag_core.text.chinese import CHINESE
from leanrag_core.text.words import MARKS
from leanrag_core.types.corpus import Document

_MAX_WORDS = 3
_MAX_LENGTH = 80  # characters; what is longer is no phrase
_MAX_RUN = 6  # characters of an entity where no white space parts words
_SENTENCE = re.compile(r"(?<=[.!?…؟۔।])[\"'”’»)\]]*\s+|(?<=[。！？])(?![”’」』）])|(?<=[。！？][”’」』）])|\n+")
_LETTERS = rf"(?:[^\W\d_][{MARKS}]*)+"
_WORD = re.compile(rf"{_LETTERS}(?:[-'’׳״]{_LETTERS})*")
_BREAK = re.compile(rf"[^\w\s'’׳״{MARKS}-]|\d")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}々ー]+")
_KATAKANA_OR_HAN = re.compile(r"[\u30a0-\u30ffー]{2,}|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々]+")
_KATAKANA = re.compile(r"[\u30a0-\u30ff]")
_KANA = re.compile(r"[\u3040-\u309f]")
_PARTICLES = re.compile(
    "[的了是在和與与及或等之其也就都而被把對对於于以為为所從从到這这那個个他她它我你您們们不有又并並則则即將将會会可能应應须須得使由向]"
)
_JAPANESE_PARTICLES = re.compile("[及又並或其此之]")


def is_latin(text: str) -> bool:
    """Return whether at least half of the letters (of the first 5,000 characters) are Latin."""
    letters = [letter for letter in text[:5000] if letter.isalpha()]
    return 2 * sum(letter < "\u0250" for letter in letters) >= len(letters)


def read_neutral(documents: Sequence[Document], rows: Sequence[int]) -> Iterator[list[ReadSentence]]:
    """Yield for each document its sentences with their key phrases; rows: the documents' numbers in the corpus."""
    texts = [list(_sentences(document)) for document in documents]
    vocabulary: dict[str, _Words] = {}
    for language in sorted({document.language for document in documents}):
        language_texts = [
            text
            for source, sentences_read in zip(documents, texts, strict=True)
            if source.language == language
            for *_, text in sentences_read
        ]
        vocabulary[language] = _Words(language_texts, ChineseReader(language_texts) if language == CHINESE else None)
    for document, row, sentences in zip(documents, rows, texts, strict=True):
        words = vocabulary[document.language]
        yield [_read(row, start, end, text, words) for start, end, text in sentences]


def _sentences(document: Document) -> Iterator[tuple[int, int, str]]:
    for block in blocks_of(document):
        yield from _split(block)


def _split(block: Block) -> Iterator[tuple[int, int, str]]:
    position = 0
    for mark in [*_SENTENCE.finditer(block.text), None]:
        stop = mark.start() if mark else len(block.text)
        text = block.text[position:stop].strip()
        if text:
            yield block.source(position), block.source(stop - 1) + 1, text
        position = mark.end() if mark else stop


class _Words:
    """What the texts of a language show about their words: which are function words, which runs recur. chinese: finds
    the entities of Chinese text; None in another language."""

    def __init__(self, sentences: Sequence[str], chinese: ChineseReader | None = None) -> None:
        self.chinese = chinese
        counted: Counter[str] = Counter()
        holding: Counter[str] = Counter()
        capital: Counter[str] = Counter()
        runs: Counter[str] = Counter()
        self.spaced = sum(len(run) for text in sentences for run in _UNSPACED_RUN.findall(text)) * 2 < sum(
            map(len, sentences)
        )
        for text in sentences:
            words = [match[0] for match in _WORD.finditer(text)]
            lowered = [word.casefold() for word in words]
            counted.update(lowered)
            holding.update(list(dict.fromkeys(lowered)))
            capital.update(word.casefold() for word in words[1:] if word[0].isupper())
            if not self.spaced and chinese is None:
                for run in _UNSPACED_RUN.findall(text):
                    runs.update(run[i : i + n] for n in range(2, _MAX_RUN + 1) for i in range(len(run) - n + 1))
        floor = max(3.0, 0.04 * len(sentences))
        self.function = {
            word
            for word, n in holding.items()
            if len(word) <= (3 if word != word.upper() and not capital[word] else 2)
            or (n >= floor and len(word) <= 7 and 2 * capital[word] < counted[word])
        }
        # Where every noun has a capital (German), lower-case words are no entities.
        share = sum(capital.values()) / max(1, sum(counted.values()))
        self.nouns_have_capitals = share > 0.2
        small: set[str] = {word for text in sentences for word in _WORD.findall(text) if word.islower()}
        self.also_small = {word for word in small if not capital[word]}
        self.recurring = {run: n for run, n in runs.items() if n > 1 and not _PARTICLES.search(run)}


def _read(document: int, start: int, end: int, text: str, words: _Words) -> ReadSentence:
    once: dict[str, tuple[int, str, str]] = {}
    for position, phrase, kind in sorted(_phrases(text, words)):
        once.setdefault(phrase.casefold(), (position, phrase, kind))
    n_words = max(1, len(text.split()) if words.spaced else len(text) // 2)
    sightings = tuple(
        Sighting(
            surface=phrase,
            key=key,
            type=kind,
            start=place,
            end=place + 1,
            weight=round(min(n_words, 25) / 25 + 0.5 * (1 - position / len(text)) - (0.5 if n_words < 5 else 0.0), 4),
        )
        for place, (key, (position, phrase, kind)) in enumerate(once.items())
    )
    links, unlinked = link_neighbours(len(sightings), ())
    content = tuple((key, place) for place, key in enumerate(once))
    return ReadSentence(document, start, end, text, sightings, tuple(links), unlinked=unlinked, words=content)


def _phrases(text: str, words: _Words) -> Iterator[tuple[int, str, str]]:
    """Yield the position, text and type of each entity."""
    if words.chinese is not None:
        yield from ((phrase.start, phrase.text, phrase.type) for phrase in words.chinese.phrases(text))
        yield from ((position, name, "concept") for position, name in _foreign_names(text))
        return
    untyped = _spaced_phrases(text, words) if words.spaced else _unspaced_phrases(text, words)
    yield from ((position, phrase, "concept") for position, phrase in untyped)


def _spaced_phrases(text: str, words: _Words) -> Iterator[tuple[int, str]]:
    """Yield runs of content words; capitals alone where nouns have capitals."""
    run: list[re.Match[str]] = []
    previous = 0
    for word in [*_WORD.finditer(text), None]:
        broken = word is None or bool(_BREAK.search(text, previous, word.start()))
        content = word is not None and word[0].casefold() not in words.function
        if word is not None and words.nouns_have_capitals:
            content = content and word[0][0].isupper() and word[0].casefold() not in words.also_small
        if run and (broken or not content):
            yield from _of_run(text, run)
            run = []
        if word is not None:
            previous = word.end()
            if content:
                run.append(word)


def _of_run(text: str, run: list[re.Match[str]]) -> Iterator[tuple[int, str]]:
    """Yield the run as one entity when it is short; else its names (runs of capitals) and its longer words."""
    if len(run) <= _MAX_WORDS:
        phrase = text[run[0].start() : run[-1].end()]
        if 2 < len(phrase) <= _MAX_LENGTH:
            yield run[0].start(), " ".join(phrase.split())
        return
    for word in run:
        if 3 < len(word[0]) <= _MAX_LENGTH:
            yield word.start(), word[0]


def _unspaced_phrases(text: str, words: _Words) -> Iterator[tuple[int, str]]:
    japanese = bool(_KANA.search(text))
    pieces = _KATAKANA_OR_HAN if japanese else _UNSPACED_RUN
    for match in pieces.finditer(text):
        position = match.start()
        if japanese and _KATAKANA.match(match[0]):  # a foreign word or name: whole
            if len(match[0]) <= _MAX_LENGTH:
                yield position, match[0].strip("・")
            continue
        for piece in (_JAPANESE_PARTICLES if japanese else _PARTICLES).split(match[0]):
            yield from _segments(piece, position, words)
            position += len(piece) + 1
    yield from _foreign_names(text)


def _foreign_names(text: str) -> Iterator[tuple[int, str]]:
    for match in _WORD.finditer(_UNSPACED_RUN.sub(" ", text)):
        if 2 < len(match[0]) <= _MAX_LENGTH:
            yield text.find(match[0]), match[0]


def _segments(piece: str, position: int, words: _Words) -> Iterator[tuple[int, str]]:
    """Yield a short piece whole; a long one by the longest runs that recur, and what remains between them."""
    if 2 <= len(piece) <= 4:
        yield position, piece
        return
    start, unused_from = 0, 0
    while start < len(piece):
        for length in range(min(_MAX_RUN, len(piece) - start), 1, -1):
            if piece[start : start + length] in words.recurring:
                if 2 <= start - unused_from <= _MAX_RUN:
                    yield position + unused_from, piece[unused_from:start]
                yield position + start, piece[start : start + length]
                start += length
                unused_from = start
                break
        else:
            start += 1
    if 2 <= len(piece) - unused_from <= _MAX_RUN:
        yield position + unused_from, piece[unused_from:]
