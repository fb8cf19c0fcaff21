"""Class-based TF-IDF: which phrases set one cluster of a layer apart from its siblings."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.phrases import (
    BREAK,
    CAPITAL,
    CONTENT,
    LONGEST_NAME,
    Lexicon,
    Phrase,
    sentences,
    words,
)
from leanrag_core.indexing.aggregation.relations import Texts, distinct
from leanrag_core.text.chinese import Segmenter, is_chinese

Words = tuple[int, ...]  # numbers of words as written, or of folded forms


@dataclass(frozen=True)
class Document:
    """A text whose phrases are counted. tokens: numbers of its words, BREAK where a phrase ends. with_names: whether
    known names are looked for; not in a name itself, whose own words and pairs count."""

    tokens: Sequence[int]
    with_names: bool = True


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """Every phrase, numbered by first appearance.

    written: words of the form that is written most often, of equal ones the first in the alphabet. content: (p,) bool,
    some word could be in a name. capital: (p,) bool, all such words have a capital. is_name: (p,) bool. single: (p,)
    bool, one word, which is not Chinese: there a word says as much as several.
    """

    lexicon: Lexicon
    written: list[Words]
    content: np.ndarray
    capital: np.ndarray
    is_name: np.ndarray
    single: np.ndarray

    def __len__(self) -> int:
        return len(self.written)

    def surface(self, phrase: int) -> str:
        """Return the phrase as it is written most often."""
        return " ".join(self.lexicon.surfaces[word] for word in self.written[phrase])

    def folded(self, phrase: int) -> Phrase:
        """Return the folded words of the phrase."""
        lexicon = self.lexicon
        return tuple(lexicon.forms[lexicon.fold[word]] for word in self.written[phrase])


@dataclass(frozen=True, eq=False)
class PhraseCounts:
    """phrases: all of them. incidence: sparse (documents, phrases) of ones, float32."""

    phrases: PhraseTable
    incidence: Any


def count_phrases(documents: Sequence[Document], names: Iterable[Words], lexicon: Lexicon) -> PhraseCounts:
    """Count the phrases of the documents. names: folded forms of the known names."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    known = frozenset(name for name in names if 0 < len(name) <= LONGEST_NAME)
    reader = _PhraseReader(lexicon, known)
    if not any(reader.phrases(document) for document in documents):
        empty = np.zeros(0, dtype=bool)
        table = PhraseTable(lexicon, [], empty, empty, empty, empty)
        return PhraseCounts(table, csr_array((len(documents), 1), dtype=np.float32))
    reader = _PhraseReader(lexicon, known)
    vectorizer = CountVectorizer(analyzer=reader.phrases, binary=True, dtype=np.float32)
    counts = vectorizer.fit_transform(documents)
    by_appearance = [vectorizer.vocabulary_[phrase] for phrase in reader.first_seen]
    return PhraseCounts(reader.table(known), csr_array(counts[:, by_appearance]))


class _PhraseReader:
    """Finds the phrases of one document after the other, and counts how each is written."""

    def __init__(self, lexicon: Lexicon, names: frozenset[Words]) -> None:
        self._lexicon, self._names = lexicon, names
        self._fold = lexicon.fold.tolist()
        self._content = [bool(traits & CONTENT) for traits in lexicon.traits]
        self._longest: dict[Words, int] = {}  # words of the longest name that begins with those two
        for name in names:
            if len(name) > 1:
                self._longest[name[:2]] = max(len(name), self._longest.get(name[:2], 0))
        self._phrase_of: dict[Words, Words] = {}  # of each written form
        self._count: dict[Words, int] = {}
        self.first_seen: dict[Words, None] = {}  # phrases by first appearance

    def phrases(self, document: Document) -> list[Words]:
        """Return the phrases of the document as folded forms, in order of appearance."""
        phrases, phrase_of, count = [], self._phrase_of, self._count
        for written in self._written(document):
            phrase = phrase_of.get(written)
            if phrase is None:
                phrase = phrase_of[written] = tuple(self._fold[word] for word in written)
                count[written] = 0
                self.first_seen.setdefault(phrase)
            count[written] += 1
            phrases.append(phrase)
        return phrases

    def _written(self, document: Document) -> list[Words]:
        """Return the phrases as word numbers, in order of appearance."""
        tokens, fold, content = document.tokens, self._fold, self._content
        longest = self._longest if document.with_names else {}
        written: list[Words] = []
        before, place, last = BREAK, 0, len(tokens) - 1  # before: the content word right before this place
        while place <= last:
            word = tokens[place]
            if longest and word != BREAK and place < last:
                following = tokens[place + 1]
                opening = longest.get((fold[word], fold[following])) if following != BREAK else None
                length = self._name_at(tokens, place, opening) if opening else 0
                if length:
                    if before != BREAK:
                        written.append((before,))
                        before = BREAK
                    written += self._names_in(tokens[place : place + length])
                    place += length
                    continue
            is_content = word != BREAK and content[word]
            if before != BREAK:
                written.append((before,))
                if is_content and fold[before] != fold[word]:
                    written.append((before, word))
            before = word if is_content else BREAK
            place += 1
        if before != BREAK:
            written.append((before,))
        return written

    def _name_at(self, tokens: Sequence[int], place: int, longest: int) -> int:
        """Return the number of words of the longest known name that begins there, of at most `longest` words; 0 for
        none.
        """
        forms = tuple(BREAK if word == BREAK else self._fold[word] for word in tokens[place : place + longest])
        for length in range(len(forms), 1, -1):
            if forms[:length] in self._names:
                return length
        return 0

    def _names_in(self, name: Sequence[int]) -> list[Words]:
        """Return the name, then the shorter known names within it."""
        numbers = tuple(name)
        forms = tuple(self._fold[word] for word in numbers)
        spans = ((start, start + n) for n in range(2, len(numbers)) for start in range(len(numbers) - n + 1))
        return [numbers, *(numbers[start:end] for start, end in spans if forms[start:end] in self._names)]

    def table(self, names: frozenset[Words]) -> PhraseTable:
        """Return the table of the phrases that were read."""
        lexicon = self._lexicon
        best: dict[Words, tuple[int, str, Words]] = {}
        for written, phrase in self._phrase_of.items():
            rank = (-self._count[written], " ".join(lexicon.surfaces[word] for word in written), written)
            if phrase not in best or rank < best[phrase]:
                best[phrase] = rank
        forms = [best[phrase][2] for phrase in self.first_seen]
        # A small word without content does not count.
        fits = [bool(traits & CAPITAL) or not traits & CONTENT for traits in lexicon.traits]
        return PhraseTable(
            lexicon=lexicon,
            written=forms,
            content=np.array([any(lexicon.form_content[form] for form in phrase) for phrase in self.first_seen]),
            capital=np.array([all(fits[word] for word in written) for written in forms]),
            is_name=np.array([phrase in names for phrase in self.first_seen]),
            single=np.array(
                [len(phrase) == 1 and not is_chinese(lexicon.forms[phrase[0]]) for phrase in self.first_seen]
            ),
        )


_KEPT = 24  # phrases kept for each cluster
_SINGLE_WORD = 0.4  # pairs are preferred to single words
_IS_NAME = 1.6  # a phrase that names an entity is a noun phrase for certain
_PLAIN = 0.7  # words in small letters that name no entity may be or contain a verb
_CAPITAL = 1.2
_ONCE = 0.5  # a phrase of a single sentence says something about a mention, not about the cluster
_COVERAGE_FLOOR = 0.2


@dataclass(frozen=True, eq=False)
class BaseTerms:
    """Phrases of the base entities, counted once for all layers.

    in_sentences: sparse (sentences, phrases). in_entities: sparse (base rows, phrases of their sentences). in_names:
    sparse (base rows, phrases). holds: (pairs, 2) base row, sentence. taste: (phrases,) how well each suits a name.
    word_weight: (forms,) inverse sentence frequency of each folded word of the lexicon; 1 for words of no sentence.
    """

    lexicon: Lexicon
    phrases: PhraseTable
    taste: np.ndarray
    in_sentences: Any
    in_entities: Any
    holds: np.ndarray
    in_names: Any
    word_weight: np.ndarray


def base_terms(entities: pa.Table) -> BaseTerms:
    """Count the phrases in names and descriptions of the base entities; a sentence that several share counts once."""
    lexicon = Lexicon(_chinese_cutter(Texts(entities["name"])))
    sentence_numbers, lengths = array("i"), array("i")
    for text in Texts(entities["description"]):
        numbers = lexicon.read(sentences(text))
        sentence_numbers.extend(numbers)
        lengths.append(len(numbers))
    names = [lexicon.tokens_of(name) for name in Texts(entities["name"])]
    n, n_sentences = len(lengths), max(len(lexicon), 1)
    tokens, ends = (column.tolist() for column in lexicon.all_tokens())
    # A name's own words and pairs count as well: those that two names share describe a cluster.
    counted = count_phrases(
        [
            *(Document(tokens[start:end]) for start, end in pairwise(ends)),
            *(Document(name, with_names=False) for name in names),
        ],
        (tuple(lexicon.fold[word] for word in name if word != BREAK) for name in names),
        lexicon,
    )
    pairs = distinct(np.repeat(np.arange(n), lengths) * n_sentences + np.array(sentence_numbers, dtype=np.int64))
    holds = np.stack([pairs // n_sentences, pairs % n_sentences], axis=1)
    in_sentences = counted.incidence[: len(lexicon)]
    if not len(lexicon):  # one empty row, since there is no sentence
        in_sentences = _incidence(np.zeros(0, dtype=int), np.zeros(0, dtype=int), 1, counted.incidence.shape[1])
    in_entities = (_incidence(holds[:, 0], holds[:, 1], n, n_sentences) @ in_sentences).tocsr()
    in_entities.data[:] = 1.0
    return BaseTerms(
        lexicon=lexicon,
        phrases=counted.phrases,
        taste=_taste(counted.phrases),
        in_sentences=in_sentences,
        in_entities=in_entities,
        holds=holds,
        in_names=counted.incidence[len(lexicon) :],
        word_weight=_word_weight(lexicon),
    )


def _chinese_cutter(names: Iterable[str]) -> Callable[[str], list[str]] | None:
    """Return a function that cuts Chinese text into words and keeps each Chinese name whole; None where no name is
    Chinese.
    """
    known = sorted({word for name in names for word in words(name) if is_chinese(word)})
    if not known:
        return None
    segmenter = Segmenter(known)
    return lambda run: [word.text for word in segmenter.words(run)]


def _word_weight(lexicon: Lexicon) -> np.ndarray:
    """Return the inverse sentence frequency of each folded word, (forms,) float64; 1 for words of no sentence."""
    tokens, ends = (np.array(column, dtype=np.int64) for column in lexicon.all_tokens())
    n_forms = max(len(lexicon.forms), 1)
    place = np.flatnonzero(tokens >= 0)
    sentence = np.searchsorted(ends[1:], place, side="right")
    fold = np.array(lexicon.fold, dtype=np.int64)
    once = distinct(sentence * n_forms + (fold[tokens[place]] if len(place) else 0))
    count = np.bincount(once % n_forms, minlength=len(lexicon.forms))
    return np.where(count > 0, np.log(1 + max(len(lexicon), 1) / np.maximum(count, 1)), 1.0)


def _incidence(rows: np.ndarray, columns: np.ndarray, n_rows: int, n_columns: int) -> Any:
    """Return a sparse 0/1 matrix, (n_rows, n_columns) float32, with ones at the pairs. rows, columns: (k,) int."""
    from scipy.sparse import csr_array

    matrix = csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(n_rows, max(n_columns, 1)))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


@dataclass(frozen=True)
class Candidate:
    """A phrase for a cluster: how it is written, its folded words, its c-TF-IDF score."""

    surface: str
    words: Phrase
    score: float


def cluster_candidates(terms: BaseTerms, cluster_of: np.ndarray, n_clusters: int) -> Iterator[list[Candidate]]:
    """Yield for each cluster in turn the phrases that set it apart, best first.

    cluster_of: (n_base,) int, the cluster of each base entity. The score is tf x log(1 + A / f), where tf is the share
    of a phrase in the cluster's phrases, f its count over all clusters and A the mean count of a cluster, times the
    share of members that the phrase covers, times preferences for pairs and for names. A pair or word that only one
    name holds, and no sentence outside a name, is a fragment and left out.
    """
    n_sentences = terms.in_sentences.shape[0]
    cluster_sentences = distinct(cluster_of[terms.holds[:, 0]].astype(np.int64) * n_sentences + terms.holds[:, 1])
    holds = _incidence(cluster_sentences // n_sentences, cluster_sentences % n_sentences, n_clusters, n_sentences)
    members = _incidence(cluster_of, np.arange(len(cluster_of)), n_clusters, len(cluster_of))
    named = (members @ terms.in_names).tocsr()
    named.data[named.data < 2] = 0.0
    counts = ((holds @ terms.in_sentences).tocsr() + named).tocsr()
    del named, holds, cluster_sentences
    counts.eliminate_zeros()
    counts.sort_indices()
    sizes = np.bincount(cluster_of, minlength=n_clusters)
    covered = (members @ terms.in_entities).tocsr()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    rarity = np.log1p(totals.mean() / np.maximum(frequency, 1.0))
    held_by = np.zeros(counts.shape[1])  # for one cluster at a time, and zero again after it
    for cluster in range(n_clusters):
        start, stop = counts.indptr[cluster : cluster + 2]
        columns, count = counts.indices[start:stop], counts.data[start:stop]
        row = slice(covered.indptr[cluster], covered.indptr[cluster + 1])
        held_by[covered.indices[row]] = covered.data[row]
        coverage = _COVERAGE_FLOOR + held_by[columns] / max(int(sizes[cluster]), 1)
        held_by[covered.indices[row]] = 0.0
        score = count / max(totals[cluster], 1.0) * rarity[columns] * terms.taste[columns] * coverage
        score *= np.where(count > 1, 1.0, _ONCE)
        yield [
            Candidate(terms.phrases.surface(phrase), terms.phrases.folded(phrase), float(score[place]))
            for place, phrase in _best(columns, score)
        ]


def _best(columns: np.ndarray, score: np.ndarray) -> list[tuple[int, int]]:
    """Return place and phrase of the best scores above zero, ties by phrase; at most _KEPT. columns, score:
    (phrases,).
    """
    places = np.flatnonzero(score > 0)
    if len(places) > _KEPT:
        places = places[score[places] >= np.partition(score[places], -_KEPT)[-_KEPT]]
    places = places[np.lexsort((columns[places], -score[places]))[:_KEPT]]
    return list(zip(places.tolist(), columns[places].tolist(), strict=True))


def _taste(phrases: PhraseTable) -> np.ndarray:
    """Score how well each phrase suits a name; (phrases,) float64, at least one."""
    taste = np.where(phrases.capital, _CAPITAL, 1.0) * np.where(phrases.single, _SINGLE_WORD, 1.0)
    taste = np.where(phrases.is_name, taste * _IS_NAME, np.where(phrases.capital, taste, taste * _PLAIN))
    return np.where(phrases.content, taste, 0.0) if len(phrases) else np.zeros(1)
