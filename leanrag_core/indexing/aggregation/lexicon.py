"""The words and sentences of a build, each known by a number, so that a text is taken apart once."""

import re
from array import array
from collections.abc import Iterable
from threading import Lock

from leanrag_core.indexing.aggregation.phrases import WORD, folded, is_content

BREAK = -1  # where anything but spaces parts two words, and at the end of a text
CONTENT, CAPITAL, LEANING, PERSON = 1, 2, 4, 8  # traits of a word as written
_TOKEN = re.compile(rf"{WORD}|\S")
_LEANING_WORDS = """
he she it they we i you his her its their him them this that these those there here then thus therefore however but and
or so such also both another instead meanwhile moreover yet
"""
_LEANING = frozenset(_LEANING_WORDS.split())
_PERSONS = frozenset(("he", "she", "they", "however"))


class Lexicon:
    """Words and sentences in the order in which they were first read.

    surfaces: every word as written. traits and fold: of each of them, bits of CONTENT, ... and the number of its folded
    form. forms: every folded form. form_content: whether that form could itself stand in a name. A sentence may be read
    from several threads.
    """

    def __init__(self) -> None:
        self.surfaces: list[str] = []
        self.traits = bytearray()
        self.fold = array("i")
        self.forms: list[str] = []
        self.form_content = bytearray()
        self._form_number: dict[str, int] = {}
        self._words = _Numbers(self)
        self._sentences: dict[str, int] = {}
        self._tokens = array("i")
        self._ends = array("q", [0])
        self._adding = Lock()

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self._sentences)

    def read(self, sentences: Iterable[str]) -> list[int]:
        """Return the number of each sentence; a new sentence gets the next number."""
        known = self._sentences
        return [known[sentence] if sentence in known else self._add(sentence) for sentence in sentences]

    def tokens(self, numbers: Iterable[int]) -> tuple[list[int], list[int]]:
        """Return the numbers of the words of those sentences, one after another, and the length of each sentence in
        numbers.

        A BREAK stands where a phrase ends and at the end of each sentence.
        """
        flat, lengths = array("i"), []
        for number in numbers:
            start, end = self._ends[number], self._ends[number + 1]
            flat += self._tokens[start:end]
            lengths.append(end - start)
        return flat.tolist(), lengths

    def all_tokens(self) -> "tuple[array[int], array[int]]":
        """Return the numbers of all sentences as `tokens` gives them, and where each sentence begins; the last value is
        the end.
        """
        return self._tokens, self._ends

    def tokens_of(self, text: str) -> list[int]:
        """Return the numbers of the words of a text that is no sentence, such as a name, with BREAKs as in `tokens`."""
        return [*map(self._words.__getitem__, _TOKEN.findall(text)), BREAK]

    def _add(self, sentence: str) -> int:
        with self._adding:
            number = self._sentences.get(sentence)
            if number is None:
                self._tokens.extend(self.tokens_of(sentence))
                self._ends.append(len(self._tokens))
                number = self._sentences[sentence] = len(self._sentences)
        return number

    def new_word(self, word: str) -> int:
        """Add a word that is not known yet and return its number."""
        form = folded(word)
        number = self._form_number.get(form)
        if number is None:
            number = self._form_number[form] = len(self.forms)
            self.forms.append(form)
            self.form_content.append(is_content(form))
        low = word.casefold()
        self.fold.append(number)
        self.traits.append(
            CONTENT * is_content(word)
            | CAPITAL * word[:1].isupper()
            | LEANING * (low in _LEANING)
            | PERSON * (low in _PERSONS)
        )
        self.surfaces.append(word)
        return len(self.surfaces) - 1


class _Numbers(dict[str, int]):
    """Number of each word or mark; BREAK for marks."""

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__()
        self._lexicon = lexicon

    def __missing__(self, token: str) -> int:
        number = self[token] = self._lexicon.new_word(token) if token[0].isalnum() else BREAK
        return number
