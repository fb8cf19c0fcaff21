"""Words of a text for lexical search, and English words that say nothing about its subject."""

import re
import unicodedata
from itertools import chain

_JOINERS = "\u200c\u200d"  # stand inside words of Persian and of Indian scripts


def _ranges() -> str:
    """Return all combining marks of the basic plane as ranges of a character class."""
    parts: list[str] = []
    start = 0
    for code in chain(range(0x300, 0x3100), range(0xA600, 0xAC00), range(0xFB00, 0x10000)):  # between: no marks
        is_mark = unicodedata.category(chr(code)) in ("Mn", "Mc")
        if is_mark and not start:
            start = code
        if not is_mark and start:
            parts.append(f"{chr(start)}-{chr(code - 1)}")
            start = 0
    return "".join(parts)


MARKS = _ranges() + _JOINERS
"""The inside of a character class: marks that belong to the letter before them, such as vowel signs of Indian scripts.

To Python's re they are no part of a word, so that it would end a Hindi word at its first vowel.
"""

_EASTERN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_ONE_WORD = rf"(?:[^\W_{_EASTERN}][{MARKS}]*)+"
_RUN = re.compile(rf"[{_EASTERN}]+|{_ONE_WORD}(?:['’]{_ONE_WORD})*")
_POSSESSIVE = re.compile("['’ʼ]s?$")
_IS_EASTERN = re.compile(rf"[{_EASTERN}]")


def without_accents(text: str) -> str:
    """Return the text in lower case and without the marks of its letters, for a search that ignores them."""
    letters = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")


def lexical_tokens(text: str) -> list[str]:
    """Return the tokens in order, without the ending of an English possessive; a lone Chinese or Japanese character
    is a token of its own."""
    tokens: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _IS_EASTERN.match(run) and len(run) > 1:
            tokens += [run[place : place + 2] for place in range(len(run) - 1)]
        else:
            tokens.append(_POSSESSIVE.sub("", run))
    return tokens


_NO_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


def whole_words(name: str) -> str:
    """Return a pattern that finds the name as whole words, whatever white space is between them.

    A name may begin and end anywhere in a script that has no spaces, such as Chinese.
    """
    spelled = r"\s+".join(map(re.escape, name.split()))
    before = "" if _NO_SPACES.match(name.strip()[:1]) else r"(?<!\w)"
    after = "" if _NO_SPACES.match(name.strip()[-1:]) else r"(?!\w)"
    return f"{before}{spelled}{after}"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as one text."""
    return frozenset(text.split())


FUNCTION_WORDS = word_set("""
a about according also an and any are as at be been between both but by can could did do does during each for from had
has have how i if in into is it its many may me more most much must no not of on or other our over say says shall
should so some than that the their them then there these they this those through to under up upon was we were what
when where which while who whom whose why will with would you your
""")


def words_around(text: str, start: int, end: int, most: int) -> tuple[int, int]:
    """Return where the whole words begin and end that stand at most so many characters before start and behind end; the
    characters themselves where no blank is among them, as in Chinese."""
    first, last = max(0, start - most), min(len(text), end + most)
    if first and (blank := text.find(" ", first, start)) >= 0:
        first = blank + 1
    if last < len(text) and (blank := text.rfind(" ", end, last)) >= 0:
        last = blank
    return first, last
