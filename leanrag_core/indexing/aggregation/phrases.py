"""Phrases of a text, and the words and phrases of an index with how often each occurs."""

import re
from array import array
from collections.abc import Callable, Iterable
from threading import Lock

from leanrag_core.text.chinese import is_chinese
from leanrag_core.text.words import FUNCTION_WORDS, word_set

WORD = r"[^\W_]+(?:['’\-][^\W_]+)*"
_WORD = re.compile(WORD)
_MAY_END = re.compile(r"[.!?。！？\n|]")
_AFTER_MARK = re.compile(r"[\"”’)\]]*\s+(?=[\"“‘(\[]?[^\Wa-z_])")
_SPACE = re.compile(r"\s*")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Nos|Inc|Ltd|Co|Corp|Gen|Col|Lt|Capt|Rev|Fig|ca|cf|e\.g|i\.e))\.$"
)
_LONGEST_ABBREVIATION = 8  # characters, with room
LONGEST_NAME = 5  # words of the longest name that is looked for in running text
# Words that name no cluster although they say something about a text; index bytes depend on this list.
STOP_WORDS = FUNCTION_WORDS | word_set("""
above across after again against all almost alone along already although always am among amongst another anyone
anything around away back became because become becomes before began behind being below beside besides best better
beyond call called came cannot come comes de doing done down due either else end enough especially etc even ever every
everyone everything except far few first five former four full further gave get gets give given gives go goes going
gone got having he hence her here hers herself him himself his however include included includes including indeed
instead itself just kept known last later latter least less let like likely little long made mainly make makes making
mean means meanwhile might mine moreover mostly my myself named namely near nearly neither never nevertheless new next
nobody none nor nothing now off often old once one ones only onto others otherwise ours out own part perhaps place put
quite rather re really said same saw second see seem seemed seems seen set several she show since six someone
something sometimes soon still such take taken takes ten theirs themselves thereby therefore thing things third though
three throughout thus time times together told too took toward towards two until us use used uses using usually
various very via want way ways well went whatever whereas whether whole within without year years yes yet yours
yourself born died based different located work works day days people person name number kind kinds type types group
groups large small high low good great main major important per week month character individual figure story narrative
text event entity concept role example mentioned referred refers described depicted related associated involved wrote
written write read lived live found find held hold left leave moved move worked taught asked stood brought led grew
spent met showed sent received think thought knew tried turned paid wanted needed lost won side half life man men
woman women king head simple
""")


def words(text: str) -> list[str]:
    """Return the words of a text, as written."""
    return _WORD.findall(text)


def folded(word: str) -> str:
    """Return the form under which words compare: lower case, without possessive and plain plural endings."""
    word = word.casefold().replace("’", "'")
    if word.endswith("'s"):
        word = word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_content(word: str) -> bool:
    """Return whether a word as written can stand in the name of a cluster: no stop word, number, adverb or single
    letter. A Chinese word has two characters or more.
    """
    low = word.casefold()
    if is_chinese(low):
        return len(low) > 1
    return len(low) > 2 and low not in STOP_WORDS and not low[0].isdigit() and not low.endswith("ly")


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, without empty ones; abbreviations and initials do not end one.

    A sentence ends after . ! or ? (and closing quotes, which are left out) when white space and then a capital, a digit
    or a letter without case follow; after 。！？; at a new line; at a bar between spaces.
    """
    found_sentences: list[str] = []
    start = consumed = 0  # white space before `consumed` belongs to the end of the sentence before
    for mark in _MAY_END.finditer(text):
        place = mark.start()
        if place < consumed:
            continue
        sign = text[place]
        if sign in ".!?":
            gap = _AFTER_MARK.match(text, place + 1)
            if gap:
                _add(found_sentences, text[start : place + 1])
                start = consumed = gap.end()
        elif sign in "。！？":
            _add(found_sentences, text[start : place + 1])
            start = consumed = place + 1
        elif sign == "\n" or (text[consumed:place][-1:].isspace() and text[place + 1 : place + 2].isspace()):
            _add(found_sentences, text[start:place])
            start = consumed = _SPACE.match(text, place + 1).end()  # type: ignore[union-attr]  # no space is a match too
    _add(found_sentences, text[start:])
    return found_sentences


def _add(found_sentences: list[str], piece: str) -> None:
    piece = piece.strip()
    last = found_sentences[-1] if found_sentences else ""
    if last.endswith(".") and _ABBREVIATION.search(last, max(0, len(last) - _LONGEST_ABBREVIATION)):
        found_sentences[-1] = f"{last} {piece}"
    elif piece:
        found_sentences.append(piece)


Phrase = tuple[str, ...]


BREAK = -1  # where anything but spaces separates two words, and at the end of a text
CONTENT, CAPITAL, LEANING, PERSON = 1, 2, 4, 8  # traits of a word as written
_TOKEN = re.compile(rf"{WORD}|\S")
_LEANING = word_set("""
he she it they we i you his her its their him them this that these those there here then thus therefore however but and
or so such also both another instead meanwhile moreover yet
""")
_PERSONS = frozenset(("he", "she", "they", "however"))


class Lexicon:
    """Words and sentences in the order in which they were first read.

    surfaces: every word as written. traits and fold: of each of them, bits of CONTENT, ... and the number of its folded
    form. forms: every folded form. form_content: whether that form could itself stand in a name. cut: parts a run of
    Chinese characters, which has no spaces, into its words; without it a run is one word. A sentence may be read from
    several threads.
    """

    def __init__(self, cut: Callable[[str], list[str]] | None = None) -> None:
        self._cut = cut
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
        return [*map(self._words.__getitem__, self._tokens_in(text)), BREAK]

    def _tokens_in(self, text: str) -> Iterable[str]:
        tokens = _TOKEN.findall(text)
        if self._cut is None or text.isascii() or not any(map(is_chinese, tokens)):
            return tokens
        return (word for token in tokens for word in (self._cut(token) if is_chinese(token) else (token,)))

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
