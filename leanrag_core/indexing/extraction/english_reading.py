"""Reading English: batches of blocks to sentences with their sightings and links, here or in other processes.

The batches are the same wherever they are read, so the same documents give the same sentences.
"""

import json
import re
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar

from leanrag_core.errors import ModelMismatch
from leanrag_core.indexing.extraction.aliases import acronyms_in
from leanrag_core.indexing.extraction.blocks import Block, blocks_of
from leanrag_core.indexing.extraction.english import GENERIC, english_pipeline, english_version
from leanrag_core.indexing.extraction.noun_phrases import phrases_of
from leanrag_core.indexing.extraction.sentences import Link, ReadSentence, Sighting, link_neighbours
from leanrag_core.storage.stages import StageStore, stage_key
from leanrag_core.system.library_threads import one_blas_thread
from leanrag_core.types.corpus import Document
from leanrag_core.types.settings import Apply

_STRENGTH = {"verb": 4.0, "apposition": 4.0, "preposition": 3.0}
_OBJECTS = ("dobj", "obj", "attr", "dative", "oprd")
_SUBJECTS = ("nsubj", "nsubjpass")
_NO_KEYWORD = ("be", "have", "do", "get", "go", "make")
_MAX_JOINED = 6  # members of one enumeration ("X, Y and Z founded ...")


def links_of(sentence: Any, sightings: Sequence[Sighting]) -> list[Link]:
    """Return for each pair of sightings the strongest relation that the parse states, in order of appearance."""
    place_of = {
        token: place for place, sighting in enumerate(sightings) for token in range(sighting.start, sighting.end)
    }
    # A name inside a longer phrase owns its tokens, the phrase its head.
    place_of.update({sighting.head: place for place, sighting in enumerate(sightings)})
    best: dict[tuple[int, int], Link] = {}
    for link in _stated(sentence, place_of):
        pair = (min(link.source, link.target), max(link.source, link.target))
        if pair[0] != pair[1] and (pair not in best or best[pair].strength < link.strength):
            best[pair] = link
    return list(best.values())


def _stated(sentence: Any, place_of: dict[int, int]) -> Iterator[Link]:
    for token in sentence:
        if token.pos_ in ("VERB", "AUX"):
            yield from _of_verb(token, place_of)
        if token.dep_ == "appos":
            yield from _pairs([token.head], [token], "apposition", "", "", place_of)
        if token.dep_ == "poss":
            yield from _pairs([token.head], [token], "preposition", "of", "", place_of)
        if token.i in place_of and token.pos_ in ("NOUN", "PROPN"):
            for preposition, complement in _prepositional(token):
                yield from _pairs([token], _joined(complement), "preposition", preposition, "", place_of)


def _of_verb(verb: Any, place_of: dict[int, int]) -> Iterator[Link]:
    subjects = _subjects(verb)
    if not subjects:
        return
    denied = any(child.dep_ == "neg" for child in verb.children)
    label_roles = ("auxpass", "neg", "prt", "aux") if denied else ("auxpass", "neg", "prt")  # "did not visit", "visits"
    words = [child for child in verb.children if child.dep_ in label_roles]
    label = " ".join(word.lower_ for word in sorted([*words, verb], key=lambda word: word.i))
    keyword = "" if verb.lemma_ in _NO_KEYWORD else verb.lemma_.lower()
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            # "has no support for": the name of the object is without its "no"
            none = any(word.dep_ == "det" and word.lower_ == "no" for word in child.children)
            yield from _pairs(subjects, _joined(child), "verb", f"{label} no" if none else label, keyword, place_of)
        elif child.dep_ == "agent":
            for complement in (noun for noun in child.children if noun.dep_ == "pobj"):
                yield from _pairs(subjects, _joined(complement), "verb", f"{label} {child.lower_}", keyword, place_of)
    for preposition, complement in _prepositional(verb):
        yield from _pairs(subjects, _joined(complement), "preposition", f"{label} {preposition}", keyword, place_of)


def _subjects(verb: Any) -> list[Any]:
    """Return the subjects of a verb; of a verb without its own, those of the verb or noun that it depends on."""
    for _ in range(4):
        own_subjects = [child for child in verb.children if child.dep_ in _SUBJECTS]
        if own_subjects:
            subjects = []
            for subject in own_subjects:
                relative = subject.tag_ in ("WDT", "WP") and verb.dep_ == "relcl"
                subjects += _joined(verb.head if relative else subject)
            return subjects
        if verb.dep_ == "acl":
            return [verb.head]
        if verb.dep_ not in ("conj", "xcomp", "advcl") or verb.head.pos_ not in ("VERB", "AUX"):
            return []
        verb = verb.head
    return []


def _prepositional(token: Any) -> Iterator[tuple[str, Any]]:
    """Yield (preposition, object) of a verb or noun, through one preposition more ("out of the house")."""
    for child in token.children:
        if child.dep_ == "prep":
            for below in child.children:
                if below.dep_ == "pobj":
                    yield child.lower_, below
                elif below.dep_ == "prep":
                    for complement in (noun for noun in below.children if noun.dep_ == "pobj"):
                        yield f"{child.lower_} {below.lower_}", complement


def _joined(token: Any) -> list[Any]:
    """Return a token and what is enumerated with it."""
    return [token, *[conjunct for conjunct in token.conjuncts if conjunct.i > token.i]][:_MAX_JOINED]


def _pairs(
    sources: Sequence[Any], targets: Sequence[Any], kind: str, label: str, keyword: str, place_of: dict[int, int]
) -> Iterator[Link]:
    for source in sources:
        for target in targets:
            if source.i in place_of and target.i in place_of:
                yield Link(place_of[source.i], place_of[target.i], kind, _STRENGTH[kind], label, keyword)


def content_words(sentence: Any) -> tuple[tuple[str, int], ...]:
    """Return the base forms of the sentence's verbs, nouns and adjectives that say something, with their token
    positions.
    """
    return tuple(
        (token.lemma_.lower(), token.i)
        for token in sentence
        if token.pos_ in ("VERB", "NOUN", "PROPN", "ADJ")
        and token.is_alpha
        and len(token.text) > 2
        and not token.is_stop
        and token.lemma_.lower() not in _NO_KEYWORD
        and token.lemma_.lower() not in GENERIC
    )


def informative(sentence: Any, sightings: Sequence[Sighting]) -> list[float]:
    """Score for each sighting how much the sentence says about the entity, 0 to about 4: it is the subject, it is
    defined, it comes early.
    """
    words = sum(1 for token in sentence if not token.is_punct and not token.is_space)
    root = sentence.root
    base = min(words, 25) / 25
    if words < 5 or words > 70 or root.pos_ not in ("VERB", "AUX") or sentence.text.endswith("?"):
        base -= 0.5
    defines = root.lemma_ == "be" and any(child.dep_ == "attr" for child in root.children)
    weights = []
    for sighting in sightings:
        weight = base
        head = sentence.doc[sighting.head]
        if head.dep_ in _SUBJECTS and head.head.i == root.i:
            weight += 1.0
            if defines:
                weight += 1.0
        weight += 0.5 * (1 - (sighting.start - sentence.start) / max(1, len(sentence)))
        weights.append(float(round(max(weight, 0.0), 4)))
    return weights


RULES = "9"  # version of the rules of extraction; raise it when they find other things in the same text
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
        with _reading, one_blas_thread():  # its matrices are small: more threads would only wait for each other
            nlp = english_pipeline()
            matcher = _title_matcher(nlp, batch.titles)
            parsed = nlp.pipe((in_small_letters(block.text) for block in batch.blocks), batch_size=_BATCH)
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
        return json.dumps([[cells_of(sentence) for sentence in block] for block in result]).encode()

    def unpack(self, content: bytes) -> list[list[ReadSentence]]:
        """Return the sentences. Raises ValueError for a damaged file."""
        try:
            return [[sentence_of(cells) for cells in block] for block in json.loads(content)]
        except TypeError as error:
            raise ValueError("the file holds no sentences") from error


def cells_of(sentence: ReadSentence) -> list[Any]:
    """Return the sentence as JSON values."""
    cells = dict(vars(sentence))
    cells["sightings"] = [list(vars(sighting).values()) for sighting in sentence.sightings]
    cells["links"] = [list(vars(link).values()) for link in sentence.links]
    return list(cells.values())


def sentence_of(cells: list[Any]) -> ReadSentence:
    """Return the sentence of its JSON values, equal in every bit."""
    document, start, end, text, sightings, links, acronyms, left_out, unlinked, words = cells
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
        document_batches = list(_batches(document, by_word))
        rows += [row] * len(document_batches)
        batches += document_batches
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
    remaining = iter(blocks_of(document))
    while blocks := tuple(islice(remaining, _BATCH)):
        words = {word for block in blocks for word in _WORD.findall(block.text)}
        yield EnglishBatch(blocks, tuple(sorted(title for word in words & by_word.keys() for title in by_word[word])))


def _title_matcher(nlp: Any, titles: Sequence[str]) -> Any:
    """Return a matcher of document titles as they are spelled, so that a passage that names another document is linked
    to it.
    """
    from spacy.matcher import PhraseMatcher

    matcher = PhraseMatcher(nlp.vocab)
    matcher.add("title", [doc for doc in map(_spelled, titles) if 1 <= len(doc) <= 12])
    return matcher


@lru_cache(maxsize=65_536)
def _spelled(title: str) -> Any:
    return english_pipeline().tokenizer(title)


def in_small_letters(text: str) -> str:
    """Return the text, of the same length, with sentences in capitals set in small letters, where names can be told."""
    if not _SHOUTED.search(text):
        return text
    return "".join(_calmed(piece) for piece in _SENTENCES.split(text))


_SHOUTED = re.compile(r"(?:\b[A-Z]{2,}\b\W+){4}")
_SENTENCES = re.compile(r"((?<=[.;:!?])\s+)")
_SHOUTED_WORDS, _SHOUTED_SHARE = 6, 0.7


def _calmed(piece: str) -> str:
    words = _WORD.findall(piece)
    shouted = sum(word.isupper() for word in words)
    if len(words) < _SHOUTED_WORDS or shouted < _SHOUTED_SHARE * len(words):
        return piece
    small = piece[:1] + piece[1:].lower()
    return small if len(small) == len(piece) else piece


def _sentences_of(parsed: Any, block: Block, spelled: list[tuple[int, int]]) -> Iterator[ReadSentence]:
    noun_chunks = list(parsed.noun_chunks)
    starts = [chunk.start for chunk in noun_chunks]
    for number, sentence in enumerate(piece for parsed_sentence in parsed.sents for piece in _pieces(parsed_sentence)):
        text = block.text[sentence.start_char : sentence.end_char].strip()
        if not any(letter.isalpha() for letter in text):
            continue
        inside = [span for span in spelled if sentence.start <= span[0] and span[1] <= sentence.end]
        sentence_chunks = noun_chunks[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        phrases = phrases_of(sentence, inside, [chunk for chunk in sentence_chunks if chunk.end <= sentence.end])
        weights = informative(sentence, phrases.sightings)
        sightings = [
            replace(sighting, weight=weight) for sighting, weight in zip(phrases.sightings, weights, strict=True)
        ]
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
        near, unlinked = link_neighbours(len(phrases.sightings), links, nested)
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
