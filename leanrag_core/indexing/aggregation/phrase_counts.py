"""Phrases of a corpus counted by scikit-learn's CountVectorizer: content words, pairs of them, and known names.

What lies inside a name is no phrase of its own, so that no cluster is called "York City"; a name within a longer name
counts. A phrase never crosses a comma. Words are numbers of a Lexicon.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.indexing.aggregation.lexicon import BREAK, CAPITAL, CONTENT, Lexicon
from leanrag_core.indexing.aggregation.phrases import LONGEST_NAME, Phrase

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
    bool, one word.
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
        written = tuple(name)
        forms = tuple(self._fold[word] for word in written)
        spans = ((start, start + n) for n in range(2, len(written)) for start in range(len(written) - n + 1))
        return [written, *(written[start:end] for start, end in spans if forms[start:end] in self._names)]

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
            single=np.array([len(phrase) == 1 for phrase in self.first_seen]),
        )
