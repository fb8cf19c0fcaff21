"""Reading English: batches of blocks to sentences with their sightings and links, here or in other processes.

The batches are the same wherever they are read, so the same documents give the same sentences.
"""

import json
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar

from leanrag_core.errors import ModelMismatch
from leanrag_core.indexing.extraction.aliases import acronyms_in
from leanrag_core.indexing.extraction.blocks import Block, blocks_of
from leanrag_core.indexing.extraction.english import english_pipeline, english_version
from leanrag_core.indexing.extraction.language_neutral import MAX_PAIRS
from leanrag_core.indexing.extraction.noun_phrases import phrases_of
from leanrag_core.indexing.extraction.sentences import Link, ReadSentence, Sighting, link_neighbours
from leanrag_core.indexing.extraction.triples import content_words, informative, links_of
from leanrag_core.storage.stages import StageStore, stage_key
from leanrag_core.types.corpus import Document
from leanrag_core.types.settings import Apply

RULES = "3"  # version of the rules of extraction; raise it when they find other things in the same text
NO_DOCUMENT = -1  # of a sentence whose block is known, but not yet the row of its document
_BATCH = 64  # blocks: half a second and more of reading
_LONGEST = 100  # tokens of a sentence; longer ones are enumerations, or tables that lost their lines
_WORD = re.compile(r"\w+")

_reading = threading.Lock()  # spaCy's vocabulary is not made for two threads


@dataclass(frozen=True)
class EnglishBatch:
    """Blocks of one document, and the titles that may be spelled in them."""

    blocks: tuple[Block, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True)
class ReadTask:
    """Reads a batch with the pipeline of the process that calls it, loaded once a process.

    rules, pipeline: the driver's versions; a worker with other ones raises ModelMismatch.
    """

    rules: str
    pipeline: str
    stage: ClassVar[str] = "sentences"

    def __call__(self, batch: EnglishBatch) -> list[list[ReadSentence]]:
        """Return the sentences of each block; read_english() sets their document."""
        if (RULES, english_version()) != (self.rules, self.pipeline):
            raise ModelMismatch(
                "worker.other_english",
                worker_pipeline=english_version(),
                worker_rules=RULES,
                pipeline=self.pipeline,
                rules=self.rules,
            )
        with _reading:
            nlp = english_pipeline()
            matcher = _title_matcher(nlp, batch.titles)
            parsed = nlp.pipe((block.text for block in batch.blocks), batch_size=_BATCH)
            return [
                list(_sentences_of(doc, block, [(start, end) for _, start, end in matcher(doc)]))
                for doc, block in zip(parsed, batch.blocks, strict=True)
            ]

    def key(self, batch: EnglishBatch) -> bytes:
        """Return the hash of rules, pipeline, blocks and titles."""
        blocks = [list(vars(block).values()) for block in batch.blocks]
        return stage_key(self.stage, self.rules, self.pipeline, json.dumps([blocks, batch.titles]))

    def pack(self, result: list[list[ReadSentence]]) -> bytes:
        """Return the sentences as JSON."""
        return json.dumps([[_cells(sentence) for sentence in block] for block in result]).encode()

    def unpack(self, content: bytes) -> list[list[ReadSentence]]:
        """Return the sentences. Raises ValueError for a damaged file."""
        try:
            return [[_sentence(*cells) for cells in block] for block in json.loads(content)]
        except TypeError as error:
            raise ValueError("the file holds no sentences") from error


def _cells(sentence: ReadSentence) -> list[Any]:
    cells = dict(vars(sentence))
    cells["sightings"] = [list(vars(sighting).values()) for sighting in sentence.sightings]
    cells["links"] = [list(vars(link).values()) for link in sentence.links]
    return list(cells.values())


def _sentence(
    document: int,
    start: int,
    end: int,
    text: str,
    sightings: list[list[Any]],
    links: list[list[Any]],
    acronyms: list[list[str]],
    left_out: list[str],
    unlinked: int,
    words: list[tuple[str, int]],
) -> ReadSentence:
    return ReadSentence(
        document,
        start,
        end,
        text,
        tuple(Sighting(*cells) for cells in sightings),
        tuple(Link(*cells) for cells in links),
        tuple((short, long) for short, long in acronyms),
        tuple(left_out),
        unlinked,
        tuple((word, place) for word, place in words),
    )


def read_english(
    documents: Sequence[tuple[int, Document]], titles: Sequence[str], apply: Apply
) -> Iterator[tuple[int, list[ReadSentence]]]:
    """Yield for each block of the documents, in order: its document's row and its sentences.

    titles: of all documents; a passage that names one is linked to it. apply maps the task over batches and yields
    results in order.
    """
    if not documents:
        return
    rows: list[int] = []
    batches: list[EnglishBatch] = []
    by_word = _by_first_word(titles)
    for row, document in documents:
        own = list(_batches(document, by_word))
        rows += [row] * len(own)
        batches += own
    for row, blocks in zip(rows, apply(ReadTask(RULES, english_version()), batches), strict=True):
        for sentences in blocks:
            yield row, [replace(sentence, document=row) for sentence in sentences]


def is_parsed(document: Document, titles: Sequence[str], store: StageStore) -> bool:
    """Return whether an earlier build has kept the sentences of the document. titles: as in read_english()."""
    task = ReadTask(RULES, english_version())
    keys = [task.key(batch) for batch in _batches(document, _by_first_word(titles))]
    return len(store.stored_keys(keys)) == len(set(keys))


def _by_first_word(titles: Sequence[str]) -> dict[str, list[str]]:
    """Return titles that a passage may spell, by the first word of each."""
    by_word: dict[str, list[str]] = defaultdict(list)
    for title in titles:
        first = _WORD.search(title)
        if first and len(title) > 3 and any(letter.isupper() for letter in title):
            by_word[first[0]].append(title)
    return by_word


def _batches(document: Document, by_word: Mapping[str, list[str]]) -> Iterator[EnglishBatch]:
    """Yield the document's blocks in their order; with each batch only the titles whose first word it has.

    A batch holds blocks of one document and depends on nothing else but those titles, so that a document that is added
    or changed leaves what was read in the others as it is.
    """
    rest = iter(blocks_of(document))
    while blocks := tuple(islice(rest, _BATCH)):
        words = {word for block in blocks for word in _WORD.findall(block.text)}
        yield EnglishBatch(blocks, tuple(sorted(title for word in words & by_word.keys() for title in by_word[word])))


def _title_matcher(nlp: Any, titles: Sequence[str]) -> Any:
    """Return a matcher of document titles as they are spelled, so that a passage that names another one is linked to
    it.
    """
    from spacy.matcher import PhraseMatcher

    matcher = PhraseMatcher(nlp.vocab)
    matcher.add("title", [doc for doc in map(_spelled, titles) if 1 <= len(doc) <= 12])
    return matcher


@lru_cache(maxsize=65_536)
def _spelled(title: str) -> Any:
    return english_pipeline().tokenizer(title)


def _sentences_of(parsed: Any, block: Block, spelled: list[tuple[int, int]]) -> Iterator[ReadSentence]:
    for number, sentence in enumerate(piece for whole in parsed.sents for piece in _pieces(whole)):
        text = sentence.text.strip()
        if not any(letter.isalpha() for letter in text):
            continue
        inside = [span for span in spelled if sentence.start <= span[0] and span[1] <= sentence.end]
        phrases = phrases_of(sentence, inside)
        sightings = [replace(sighting, weight=informative(sentence, sighting)) for sighting in phrases.sightings]
        links = links_of(sentence, sightings)
        nested = [
            (a, b)
            for a, listener in enumerate(sightings)
            for b, other in enumerate(sightings[a + 1 :], a + 1)
            if listener.start < other.end and other.start < listener.end
        ]
        if block.speaker:
            text = f"{block.speaker}: {text}"
            if number == 0:
                place = len(sightings)
                speaker = Sighting(block.speaker, block.speaker.casefold(), "person", weight=1.0)
                links += [Link(place, listener, "co-occurrence", 1.0) for listener in range(min(place, 5))]
                sightings.append(speaker)
        near, unlinked = link_neighbours(len(phrases.sightings), links, MAX_PAIRS, nested)
        start = block.source(sentence.start_char)
        end = block.source(max(sentence.start_char, sentence.end_char - 1)) + 1
        yield ReadSentence(
            NO_DOCUMENT,
            start,
            end,
            text,
            tuple(sightings),
            (*links, *near),
            acronyms_in(text),
            phrases.left_out,
            unlinked,
            content_words(sentence),
        )


def _pieces(sentence: Any) -> Iterator[Any]:
    """Yield the sentence; one of over a hundred tokens in parts, cut at semicolons, else at commas, else anywhere."""
    start = sentence.start
    while sentence.end - start > _LONGEST:
        window = sentence.doc[start : start + _LONGEST]
        cuts = [
            [token.i + 1 for token in window if token.text in marks and token.i - start > _LONGEST // 4]
            for marks in ((";", ":", "–", "•"), (",", "|"))
        ]
        stop = next((places[-1] for places in cuts if places), window.end)
        yield sentence.doc[start:stop]
        start = stop
    if start < sentence.end:
        yield sentence.doc[start : sentence.end]
