"""Phrases of a whole corpus at once: known names, and single content words and pairs outside of them.

What lies inside a name is no phrase of its own, so that no cluster is called "York City"; a name within a longer name
counts. A phrase never crosses a comma. All passes are over arrays of word numbers (see Lexicon).
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.indexing.aggregation.lexicon import CAPITAL, CONTENT, Lexicon
from leanrag_core.indexing.aggregation.phrases import LONGEST_NAME, Phrase

_SLOTS = 16  # phrases that begin at one word: a name and the names within it are at most 10
_NO_WORD = -1
Words = tuple[int, ...]  # numbers of words


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A lexicon's words as arrays. fold: (words,) number of the folded form. content, capital: (words,) bool."""

    fold: np.ndarray
    content: np.ndarray
    capital: np.ndarray
    n_forms: int

    @classmethod
    def of(cls, lexicon: Lexicon) -> "Vocabulary":
        """The words that the lexicon knows now."""
        traits = np.frombuffer(bytes(lexicon.traits), dtype=np.uint8)
        fold = np.array(lexicon.fold, dtype=np.int64)
        return cls(fold, (traits & CONTENT) > 0, (traits & CAPITAL) > 0, len(lexicon.forms))


class NameTrie:
    """Folded names of one to five words, found at all places of a text in as many steps."""

    def __init__(self, names: Iterable[Sequence[int]], n_forms: int) -> None:
        listed = sorted({tuple(name) for name in names if 0 < len(name) <= LONGEST_NAME})
        padded = np.full((len(listed), LONGEST_NAME), _NO_WORD, dtype=np.int64)
        for row, name in enumerate(listed):
            padded[row, : len(name)] = name
        lengths = (padded >= 0).sum(axis=1)
        self.n_forms = max(n_forms, 1)
        self.single = np.zeros(self.n_forms, dtype=bool)
        self.single[padded[lengths == 1, 0]] = True
        self._opens = np.zeros(self.n_forms, dtype=bool)
        self._opens[padded[lengths > 1, 0]] = True
        # steps[k]: sorted keys (state, next form) of the names' beginnings of k + 2 words, and which are whole names.
        self.steps: list[tuple[np.ndarray, np.ndarray]] = []
        state = padded[:, 0]
        for place in range(1, LONGEST_NAME):
            longer = lengths > place
            padded, lengths, state = padded[longer], lengths[longer], state[longer]
            keys, state = np.unique(state * self.n_forms + padded[:, place], return_inverse=True)
            whole = np.zeros(len(keys), dtype=bool)
            whole[state[lengths == place + 1]] = True
            self.steps.append((keys, whole))

    def is_pair(self, keys: np.ndarray) -> np.ndarray:
        """Whether each pair of forms, first x n_forms + second, is a name."""
        known, whole = self.steps[0]
        return np.isin(keys, known[whole])

    def found(self, forms: np.ndarray) -> list[np.ndarray]:
        """For lengths 2, 3, ...: ascending places at which a name of so many words begins.

        forms: (n,) numbers of folded forms, -1 where a phrase ends, with LONGEST_NAME such at the end.
        """
        held = np.flatnonzero(forms >= 0)
        places = held[self._opens[forms[held]]]
        state = forms[places]
        all_found = []
        for step, (keys, whole) in enumerate(self.steps, 1):
            following = forms[places + step]
            places, state, following = (one[following >= 0] for one in (places, state, following))
            wanted = state * self.n_forms + following
            at = np.searchsorted(keys, wanted)
            hit = at < len(keys)
            hit[hit] = keys[at[hit]] == wanted[hit]
            places, state = places[hit], at[hit]
            all_found.append(places[whole[state]])
        return all_found


@dataclass(frozen=True, eq=False)
class Spoken:
    """Phrases where they stand. form: (k,) int64, the phrase as written: a word w is w, a pair is
    words + first x words + second, a longer one -1 - its row in longer. place: (k,) order of appearance, word x 16 +
    slot.
    """

    form: np.ndarray
    place: np.ndarray

    @property
    def word(self) -> np.ndarray:
        """(k,) place of each phrase's first word."""
        return self.place // _SLOTS


def spoken_phrases(tokens: np.ndarray, words: Vocabulary, names: NameTrie | None, longer: dict[Words, int]) -> Spoken:
    """The phrases in a text: single words, then pairs, then names.

    tokens: (n,) numbers of words, -1 where a phrase ends. names: None looks for none. longer: rows of names of three
    words or more as written (word numbers); new ones are added.
    """
    n = len(tokens)
    tokens = np.concatenate([np.asarray(tokens, dtype=np.int64), np.full(LONGEST_NAME, _NO_WORD)])
    if not len(words.fold):
        return Spoken(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    held = tokens >= 0
    forms = np.where(held, words.fold[tokens], _NO_WORD)
    free = held & words.content[tokens]
    form = place = np.zeros(0, dtype=np.int64)
    if names is not None:
        form, place = _named(tokens, forms, free, names, longer, len(words.fold))
    single = np.flatnonzero(free[:n])
    pair = single[free[single + 1] & (forms[single] != forms[single + 1])]
    return Spoken(
        np.concatenate([tokens[single], _pair(tokens[pair], tokens[pair + 1], len(words.fold)), form]),
        np.concatenate([single * _SLOTS, pair * _SLOTS + 1, place]),
    )


def _named(
    tokens: np.ndarray,
    forms: np.ndarray,
    free: np.ndarray,
    names: NameTrie,
    longer: dict[Words, int],
    n_words: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Form and place of the longest names from left to right, and of names within them; `free` ends at their words."""
    found = names.found(forms)
    longest = np.zeros(len(tokens), dtype=np.int8)
    for length, places in enumerate(found, 2):
        longest[places] = length
    begins = np.zeros((LONGEST_NAME + 1, len(tokens) if (longest > 2).any() else 0), dtype=bool)
    for length, places in enumerate(found, 2):
        begins[length, places[: begins.shape[1]]] = True
    starts = _one_after_another(np.flatnonzero(longest), longest)
    lengths = longest[starts]
    pairs, others = starts[lengths == 2], starts[lengths > 2]
    form, place = array("q"), array("q")
    for start, length in zip(others.tolist(), longest[others].tolist(), strict=True):
        inside = [
            (at, shorter)
            for shorter in range(2, length)
            for at in range(start, start + length - shorter + 1)
            if begins[shorter, at]
        ]
        for slot, (at, shorter) in enumerate([(start, length), *inside]):
            one = tokens[at : at + shorter].tolist()
            if shorter == 2:
                form.append(_pair(one[0], one[1], n_words))
            else:
                form.append(-1 - longer.setdefault(tuple(one), len(longer)))
            place.append(start * _SLOTS + slot)
    for step in range(LONGEST_NAME):
        free[starts[lengths > step] + step] = False
    in_pairs = _pair(tokens[pairs], tokens[pairs + 1], n_words)
    return (
        np.concatenate([in_pairs, np.array(form, dtype=np.int64)]),
        np.concatenate([pairs * _SLOTS, np.array(place, dtype=np.int64)]),
    )


def _one_after_another(starts: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The starts, from left to right, that do not lie within what began before."""
    kept, open_from = array("q"), 0
    for start, end in zip(starts.tolist(), (starts + length[starts]).tolist(), strict=True):
        if start >= open_from:
            kept.append(start)
            open_from = end
    return np.array(kept, dtype=np.int64)


def _pair(first: Any, second: Any, n_words: int) -> Any:
    return n_words + first * n_words + second


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """Every phrase, numbered by first appearance.

    words: (p, 2) numbers of the words of the form that is written most often; a single word has -1 second, a longer
    phrase -1 - its row in `longer` first. content: (p,) bool, some word could stand in a name. capital: (p,) bool, all
    such words have a capital. is_name: (p,) bool. single: (p,) bool, one word.
    """

    lexicon: Lexicon
    words: np.ndarray
    longer: list[Words]
    content: np.ndarray
    capital: np.ndarray
    is_name: np.ndarray
    single: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

    def surface(self, phrase: int) -> str:
        """How the phrase is written most often."""
        return " ".join(self.lexicon.surfaces[word] for word in self._numbers(phrase))

    def folded(self, phrase: int) -> Phrase:
        """The folded words of the phrase."""
        lexicon = self.lexicon
        return tuple(lexicon.forms[lexicon.fold[word]] for word in self._numbers(phrase))

    def _numbers(self, phrase: int) -> Words:
        first, second = self.words[phrase].tolist()
        if first < 0:
            return self.longer[int(-1 - first)]
        return (first,) if second < 0 else (first, second)


def phrase_table(
    spoken: Sequence[Spoken], lexicon: Lexicon, words: Vocabulary, names: NameTrie, longer: dict[Words, int]
) -> tuple[PhraseTable, list[np.ndarray]]:
    """The phrases of several texts, and for each text the number of the phrase at each of its places.

    Appearance is counted through the texts in their order. Of two forms written equally often the first in the alphabet
    counts.
    """
    n_words, n_forms = len(words.fold), max(words.n_forms, 1)
    forms, form_of, count = np.unique(
        np.concatenate([one.form for one in spoken]), return_inverse=True, return_counts=True
    )
    shift = np.cumsum([0, *(int(one.place.max(initial=0)) + 1 for one in spoken)])
    first = np.full(len(forms), np.iinfo(np.int64).max)
    np.minimum.at(first, form_of, np.concatenate([one.place + by for one, by in zip(spoken, shift, strict=False)]))
    long_words = [tuple(words.fold[list(form)].tolist()) for form in longer]
    long_number = {name: row for row, name in enumerate(dict.fromkeys(long_words))}
    written = _written(forms, n_words)
    key = np.where(
        written[:, 1] < 0,
        words.fold[np.maximum(written[:, 0], 0)],
        n_forms + words.fold[np.maximum(written[:, 0], 0)] * n_forms + words.fold[written[:, 1]],
    )
    is_long = written[:, 0] < 0
    key[is_long] = [-1 - long_number[long_words[-1 - row]] for row in written[is_long, 0].tolist()]
    keys, phrase_of = np.unique(key, return_inverse=True)
    appears = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(appears, phrase_of, first)
    order = np.argsort(appears, kind="stable")
    number = np.empty(len(keys), dtype=np.int32)
    number[order] = np.arange(len(keys), dtype=np.int32)
    number_of = number[phrase_of]
    chosen = _most_frequent(number_of, count, written, list(longer), lexicon)
    keys = keys[order]
    table = _described(written[chosen], keys, list(longer), lexicon, words, names)
    cuts = np.cumsum([len(one.form) for one in spoken])[:-1]
    return table, np.split(number_of[form_of], cuts)


def _written(forms: np.ndarray, n_words: int) -> np.ndarray:
    """(f, 2) words of each form as PhraseTable.words has them."""
    pair = forms >= n_words
    rest = np.where(pair, forms - n_words, 0)
    n_words = max(n_words, 1)
    return np.stack([np.where(pair, rest // n_words, forms), np.where(pair, rest % n_words, _NO_WORD)], axis=1)


def _most_frequent(
    phrase_of: np.ndarray, count: np.ndarray, written: np.ndarray, longer: Sequence[Words], lexicon: Lexicon
) -> np.ndarray:
    """For each phrase the row of its form that counts most."""
    order = np.lexsort((-count, phrase_of))
    starts = np.flatnonzero(np.r_[True, np.diff(phrase_of[order]) > 0]) if len(order) else order
    best = order[starts]
    rivals = np.flatnonzero(count == count[best][phrase_of])
    tied = rivals[(np.bincount(phrase_of[rivals], minlength=len(starts)) > 1)[phrase_of[rivals]]]

    def spelled(row: int) -> str:
        one, other = written[row].tolist()
        numbers = longer[-1 - one] if one < 0 else (one,) if other < 0 else (one, other)
        return " ".join(lexicon.surfaces[word] for word in numbers)

    spellings: dict[int, tuple[str, int]] = {}
    for row, phrase in zip(tied.tolist(), phrase_of[tied].tolist(), strict=True):
        mine = (spelled(row), row)
        spellings[phrase] = min(spellings.get(phrase, mine), mine)
    for phrase, (_, row) in spellings.items():
        best[phrase] = row
    return best


def _described(
    written: np.ndarray,
    keys: np.ndarray,
    longer: list[Words],
    lexicon: Lexicon,
    words: Vocabulary,
    names: NameTrie,
) -> PhraseTable:
    form_content = np.frombuffer(bytes(lexicon.form_content), dtype=np.uint8).astype(bool)
    fits = words.capital | ~words.content  # a small word without content does not count
    one, other = np.maximum(written[:, 0], 0), written[:, 1]
    single = other < 0
    content, capital = form_content[words.fold[one]], fits[one]
    content = np.where(single, content, content | form_content[words.fold[other]])
    capital = np.where(single, capital, capital & fits[other])
    n_forms = max(words.n_forms, 1)
    is_name = np.where(single, names.single[words.fold[one]], names.is_pair(keys - n_forms))
    for row in np.flatnonzero(written[:, 0] < 0).tolist():
        numbers = list(longer[-1 - int(written[row, 0])])
        content[row], capital[row] = form_content[words.fold[numbers]].any(), fits[numbers].all()
        single[row], is_name[row] = False, True  # phrases of three words and more are names
    return PhraseTable(lexicon, written, longer, content, capital, is_name, single)
