"""The built-in extractor: spaCy for English, statistics for other languages; no language model."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from leanrag_core.indexing.extraction.aliases import Names, settle_names
from leanrag_core.indexing.extraction.denials import DENIALS, denies_pair
from leanrag_core.indexing.extraction.english import english_version
from leanrag_core.indexing.extraction.english_reading import RULES, is_parsed, read_english
from leanrag_core.indexing.extraction.english_types import VAGUE
from leanrag_core.indexing.extraction.gathered import Extractor
from leanrag_core.indexing.extraction.headings import heading_sentences, titles_of
from leanrag_core.indexing.extraction.language_neutral import is_latin, read_neutral
from leanrag_core.indexing.extraction.name_shape import SHAPE, named
from leanrag_core.indexing.extraction.noun_phrases import title_key
from leanrag_core.indexing.extraction.sentence_files import ReadInOrder, SentenceFiles
from leanrag_core.indexing.extraction.sentences import MAX_PAIRS, ChunkLocator, ReadSentence, Sighting
from leanrag_core.indexing.parsing.asides import headings_left, left_out, outside
from leanrag_core.indexing.parsing.repeats import all_asides, repeated_in
from leanrag_core.storage.stages import StageStore
from leanrag_core.text.chinese import CHINESE, segmenter_version
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC
from leanrag_core.types.settings import Apply

_WORD_OF_TITLE = re.compile(r"\w+")  # as english_reading finds it
MAX_KEYWORDS = 4


def keywords_of(words: Sequence[tuple[str, int]], source: Sighting, target: Sighting) -> tuple[str, ...]:
    """Return at most four words in the order of the sentence: those between the ends first, then the nearest around
    them.

    words: base forms of the sentence's content words with their token positions, which are counted as in Sighting.
    """
    first, last = sorted((source, target), key=lambda end: (end.start, end.end))
    end_words = {part for end in (source, target) for part in end.key.split()}
    apart = [
        (max(first.start - place, place - max(first.end, last.end) + 1, 0), place, word)
        for word, place in words
        if word not in end_words and not any(end.start <= place < end.end for end in (source, target))
    ]
    nearest: dict[str, int] = {}
    for _, place, word in sorted(apart):
        nearest.setdefault(word, place)
    chosen = list(nearest)[:MAX_KEYWORDS]
    return tuple(sorted(chosen, key=lambda word: nearest[word]))


_NAMED = 3  # names shown at a time while a build runs


class BuiltinExtractor(Extractor):
    """Named entities, noun phrases, titles and headings; relations by syntax, and co-occurrence in a sentence.

    Every sentence of a document is read once and counted in each chunk that wholly holds it. Of rare entities only
    plain nouns that a large corpus mentions once are dropped (Names.passing). The same documents and chunks give the
    same extractions. apply maps the reading of English over its batches; it may do so in other processes.
    """

    name = "builtin"
    kind = HEURISTIC

    def __init__(self, apply: Apply = map) -> None:
        super().__init__()
        self.apply = apply

    @property
    def fingerprint(self) -> str:
        """Version of these rules, of the spaCy model and of the Chinese segmenter."""
        return f"builtin-{RULES}.{SHAPE}.{DENIALS}/{english_version()}/{segmenter_version()}"

    def extract(
        self, documents: Sequence[Document], chunks: Sequence[Chunk], report: Callable[[int], None]
    ) -> Sequence[Extraction]:
        """Return one Extraction per chunk, in the chunks' order; report(n) is called after n chunks are done.

        Where sentences are too many for the memory, each pass over the result reads them again from the disk.
        """
        progress = _Progress(documents, chunks, report)
        in_english = [(row, document) for row, document in enumerate(documents) if _is_english(document)]
        neutral = sorted({*range(len(documents))} - {row for row, _ in in_english})
        titled = titles_of([document.title for document in documents])
        titles = _by_key(titled)
        located = _Chunks(documents, chunks)
        sentence_files = SentenceFiles(len(documents))
        repeated = repeated_in(documents)

        def keep(row: int, sentences: list[ReadSentence]) -> None:
            document = documents[row]
            asides = left_out(document, all_asides(document, repeated[row]))
            prose = [named(sentence) for sentence in sentences if outside(asides, sentence.start, sentence.end)]
            without_asides = replace(document, headings=headings_left(document, asides))
            headed = heading_sentences(without_asides, titled[row], row, prose, located.first_start(row))
            sentence_files.put(row, [*prose, *map(named, headed)])

        by_row = groupby(read_english(in_english, sorted(titles.values()), self.apply), key=itemgetter(0))
        without_blocks = {row for row, _ in in_english}
        for row, blocks in by_row:
            row_sentences: list[ReadSentence] = []
            for _, sentences in blocks:
                row_sentences += sentences
                self._note(sentences)
                progress.reached(row, sentences[-1].end if sentences else 0)
            keep(row, row_sentences)
            without_blocks.remove(row)
        for row in sorted(without_blocks):
            keep(row, [])
        for row, sentences in zip(neutral, read_neutral([documents[row] for row in neutral], neutral), strict=True):
            self._note(sentences)
            progress.reached(row, len(documents[row].text))
            keep(row, sentences)
        names = settle_names(sentence_files, titles)
        extractions = _Extractions(documents, chunks, sentence_files, names, located, frozenset(neutral))
        report(len(chunks))
        return extractions if sentence_files.on_disk and extractions.in_order else list(extractions)

    def _note(self, sentences: Sequence[ReadSentence]) -> None:
        """Count what was read among the names and relations found so far."""
        sightings = [sighting for sentence in sentences for sighting in sentence.sightings if sighting.mentioned]
        new = (sighting for sighting in sightings if sighting.key not in self.names)
        surfaces = {sighting.key: sighting.surface for sighting in new}
        self.latest = ", ".join(list(surfaces.values())[:_NAMED]) or self.latest
        self.names.update(surfaces)
        self.n_relations += sum(len(sentence.links) for sentence in sentences)
        links = ((sentence.sightings, link) for sentence in sentences for link in sentence.links)
        self.news.add(surfaces, ((ends[link.source].key, ends[link.target].key) for ends, link in links))


class ReadBefore:
    """Tells which documents need no parsing: an earlier build has kept their sentences, or their language has no
    grammar here. titles: of all documents of the corpus.
    """

    def __init__(self, titles: Iterable[str], store: StageStore) -> None:
        self._store = store
        self._by_word: dict[str, list[str]] = defaultdict(list)
        for title in _by_key(titles_of(list(titles))).values():
            first = _WORD_OF_TITLE.search(title)
            if first:
                self._by_word[first[0]].append(title)

    def has(self, document: Document) -> bool:
        """Return whether the document needs no parsing."""
        if not _is_english(document):
            return True
        words = set(_WORD_OF_TITLE.findall(document.text))  # a title that the text spells begins with one of them
        spelled_titles = [title for word in words & self._by_word.keys() for title in self._by_word[word]]
        return is_parsed(document, sorted(spelled_titles), self._store)


class ChunksRead(NamedTuple):
    """How many chunks were read with grammar, with a dictionary of Chinese, and by statistics alone."""

    with_grammar: int
    with_dictionary: int
    by_statistics: int


def chunks_read(index: Index) -> ChunksRead:
    """Count an index's chunks by how this extractor reads them: English with grammar, Chinese with a dictionary and
    parts of speech, every other language by statistics alone."""
    languages = index.documents["language"].to_pylist()
    documents = index.chunks["document"].to_pylist()
    unknown = {row for row, language in enumerate(languages) if language in ("und", "", None)}
    english = {row for row, language in enumerate(languages) if language == "en"}
    english |= {row for row in unknown if is_latin(index.document(row).text)}
    with_grammar = sum(row in english for row in documents)
    with_dictionary = sum(languages[row] == CHINESE for row in documents)
    return ChunksRead(with_grammar, with_dictionary, len(documents) - with_grammar - with_dictionary)


def _by_key(titles: Iterable[str]) -> dict[str, str]:
    """Return the titles that name something, by their key."""
    return {title_key(name): name for name in titles if name}


def _is_english(document: Document) -> bool:
    return document.language == "en" or (document.language in ("und", "") and is_latin(document.text))


class _Progress:
    """Turns places in documents into a number of chunks done."""

    def __init__(self, documents: Sequence[Document], chunks: Sequence[Chunk], report: Callable[[int], None]) -> None:
        row_of = {document.id: row for row, document in enumerate(documents)}
        self._ends = sorted((row_of[chunk.document_id], chunk.end) for chunk in chunks)
        self._report = report
        self._told = 0

    def reached(self, row: int, position: int) -> None:
        """Note that everything before that place is read, and report when that finished whole chunks."""
        done = bisect_right(self._ends, (row, position))
        if done > self._told:
            self._told = done
            self._report(done)


class _Chunks:
    """Chunks by document."""

    def __init__(self, documents: Sequence[Document], chunks: Sequence[Chunk]) -> None:
        rows: dict[str, list[int]] = defaultdict(list)
        for place, chunk in enumerate(chunks):
            rows[chunk.document_id].append(place)
        self._own = [rows.get(document.id, []) for document in documents]
        self._locators = [ChunkLocator([chunks[place] for place in places], places) for places in self._own]
        self._starts = [min((chunks[place].start for place in places), default=0) for places in self._own]

    @property
    def places(self) -> list[int]:
        """Rows of all chunks, document by document."""
        return [place for places in self._own for place in places]

    def rows_of(self, row: int) -> list[int]:
        """Return the rows of a document's chunks."""
        return self._own[row]

    def of(self, row: int) -> ChunkLocator:
        """Return the locator of a document."""
        return self._locators[row]

    def first_start(self, row: int) -> int:
        """Return where a document's first chunk begins."""
        return self._starts[row]


class _Extractions(ReadInOrder[Extraction]):
    """The extraction of each chunk, under settled names: made document by document, again at each pass over them.

    in_order: the chunks stand in the order of the documents. neutral: rows of documents that are read without grammar.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        chunks: Sequence[Chunk],
        sentence_files: SentenceFiles,
        names: Names,
        located: _Chunks,
        neutral: frozenset[int],
    ) -> None:
        self._documents, self._chunks, self._read = documents, chunks, sentence_files
        self._names, self._located, self._neutral = names, located, neutral
        self.in_order = located.places == list(range(len(chunks)))

    def __len__(self) -> int:
        return len(self._chunks)

    def __iter__(self) -> Iterator[Extraction]:
        pairs = (pair for row in range(len(self._documents)) for pair in self._of(row))
        if self.in_order:
            yield from (extraction for _, extraction in pairs)
        else:
            extraction_of = dict(pairs)
            for place, chunk in enumerate(self._chunks):
                yield extraction_of.get(place) or Extraction(chunk.id, (), ())

    def _of(self, row: int) -> Iterator[tuple[int, Extraction]]:
        """Yield the extraction of each chunk of the document, with the chunk's row."""
        locator, names, document = self._located.of(row), self._names, self._documents[row]
        mentions: dict[int, list[Mention]] = defaultdict(list)
        relations: dict[int, list[RelationMention]] = defaultdict(list)
        drops: dict[int, tuple[Drop, ...]] = {}
        sentences = self._read.of(row)
        for sentence in sentences:
            for place in locator.holding(sentence.start, sentence.end):
                chunk_id = self._chunks[place].id
                mentions[place] += _mentions(sentence, names, chunk_id)
                relations[place] += _relations(sentence, names, chunk_id)
        if locator.first is not None:
            drops[locator.first] = tuple(_left_out(document, sentences, names, neutral=row in self._neutral))
        for place in self._located.rows_of(row):
            yield (
                place,
                Extraction(
                    self._chunks[place].id, tuple(mentions[place]), tuple(relations[place]), drops.get(place, ())
                ),
            )


def _mentions(sentence: ReadSentence, names: Names, chunk_id: str) -> Iterator[Mention]:
    best: dict[str, tuple[Sighting, str]] = {}
    for sighting in sentence.sightings:
        if not sighting.mentioned or sighting.key in names.passing:
            continue
        name = names.name(sentence.document, sighting.key)
        if name not in best or best[name][0].weight < sighting.weight:
            best[name] = (sighting, name)
    for sighting, name in best.values():
        key = names.key(sentence.document, sighting.key)
        kind = names.kind.get(key, "concept" if sighting.bare_key == key else sighting.type)
        if key == sighting.key:
            yield Mention(
                name, sighting.type if sighting.type in VAGUE else kind, sentence.text, chunk_id, sighting.weight
            )
        else:  # a short form is what its long form is
            yield Mention(name, kind, sentence.text, chunk_id, sighting.weight, surface=sighting.surface)


def _relations(sentence: ReadSentence, names: Names, chunk_id: str) -> Iterator[RelationMention]:
    shown_names = [names.name(sentence.document, sighting.key) for sighting in sentence.sightings]
    passing = [sighting.key in names.passing for sighting in sentence.sightings]
    for link in sentence.links:
        source, target = shown_names[link.source], shown_names[link.target]
        if source == target or passing[link.source] or passing[link.target]:
            continue
        description = f"{source} {link.label} {target}: {sentence.text}" if link.label else sentence.text
        ends = sentence.sightings[link.source], sentence.sightings[link.target]
        if denies_pair(sentence.text, [end.surface for end in ends]):
            continue
        keywords = (link.keyword,) if link.keyword else keywords_of(sentence.words, *ends)
        yield RelationMention(source, target, description, chunk_id, keywords, link.strength, link.kind)


def _left_out(document: Document, sentences: Sequence[ReadSentence], names: Names, *, neutral: bool) -> Iterator[Drop]:
    """Yield one line for each thing that the rules leave out of a document on purpose."""
    if neutral and sentences and document.language != CHINESE:
        yield Drop("extract", document.name, f"language {document.language}: language-neutral fallback")
    general = Counter(phrase for sentence in sentences for phrase in sentence.left_out)
    if general:
        frequent = ", ".join(sorted(general, key=lambda phrase: (-general[phrase], phrase))[:5])
        yield Drop("extract", document.name, f"{general.total()} phrases too general for an entity, e.g. {frequent}")
    passing = [
        sighting.surface
        for sentence in sentences
        for sighting in sentence.sightings
        if sighting.mentioned and sighting.key in names.passing
    ]
    if passing:
        few = ", ".join(passing[:5])
        yield Drop("extract", document.name, f"{len(passing)} plain nouns that the corpus says once, e.g. {few}")
    denied = sum(
        denies_pair(sentence.text, [sentence.sightings[end].surface for end in (link.source, link.target)])
        for sentence in sentences
        for link in sentence.links
    )
    if denied:
        yield Drop(
            "extract", document.name, f"{denied} pairs not linked: their sentence says that they are not related"
        )
    unlinked = sum(sentence.unlinked for sentence in sentences)
    if unlinked:
        reason = (
            f"{unlinked} pairs of entities of one sentence not linked: beyond {MAX_PAIRS} links nearer to each other"
        )
        yield Drop("extract", document.name, reason)
