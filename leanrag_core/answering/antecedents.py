"""The sentences that a sentence points back to: who "he" is, and what "this" is."""

import re
from collections.abc import Sequence, Set
from itertools import takewhile

from leanrag_core.text.words import word_set

ENDS = ".!?。！？\"')]"  # of a whole sentence
_FARTHEST = 8  # sentences back
_POINTS_BACK = re.compile(
    r"(?:but |and |so |yet |for )?(?:(?:after|at|by|during|for|from|in|of|on|to|under|with|without) )?"
    r"(?:he|she|it|they|his|her|its|their|this|these|those|that|such|both|the latter|the former)\b",
    re.I,
)
_ADVERBS = word_set("""
afterwards again also eventually finally here later meanwhile now often soon then there thereafter today
""")
_PREPOSITIONS = word_set("about after around at before by during from in on since until within")
_OF_TIME_OR_PLACE = word_set("""
a an the of s his her that this then now same next following first second third last end beginning early late later mid
spring summer autumn winter day days week weeks month months year years decade decades century centuries time age youth
life few some several many one two three four five six seven eight nine ten eleven twelve
""")
_MOST_BEFORE_HE = 7  # words of a time or a place
_WORD = re.compile(r"\w[\w-]*")
_SOMEONE = re.compile(r"\b(?:he|she|him|his|her)\b", re.I)
_NO_NAMES = word_set("""
January February March April May June July August September October November December
Monday Tuesday Wednesday Thursday Friday Saturday Sunday
""")


def points_back(sentence: str) -> bool:
    """Return whether the sentence begins with what the one before it names."""
    return _POINTS_BACK.match(sentence) is not None


def antecedents(sentences: Sequence[str], place: int, persons: Set[str], question: str) -> tuple[str, ...]:
    """Return the sentences before the one at that place that say of whom or of what it speaks, in their order; none for
    one that points back to nothing.

    Of a person the nearest that names one, unless the question names him; else the one before, and the nearest that
    points back no more. persons: last names that are known; where none of them is near, any name is taken for one.
    """
    before = [each for each in sentences[max(0, place - _FARTHEST) : place] if each[-1:] in tuple(ENDS)]
    # A first word is a name where it is written so within a sentence too.
    names = {name for each in sentences for name in _names(each.partition(" ")[2])} - _NO_NAMES
    if _speaks_of_someone(sentences[place]) and (named := _naming(before, persons, names)):
        named_words = set(_names(named))
        whom = persons & named_words or names & named_words
        return (named,) if whom.isdisjoint(_names(question)) else ()
    if not points_back(sentences[place]) or not place or sentences[place - 1] not in before[-1:]:
        return ()
    first = next((each for each in reversed(before) if not points_back(each) and not _speaks_of_someone(each)), "")
    return tuple(dict.fromkeys(filter(None, (first, before[-1]))))


def _speaks_of_someone(sentence: str) -> bool:
    """Return whether the sentence begins with "he", "she", "his" or "her", or says "he" or "she" behind a time or a
    place: "In the following decades he", "At the University of Munich she"."""
    words = _WORD.findall(sentence)[: _MOST_BEFORE_HE + 1]
    opening = list(takewhile(lambda word: word.lower() not in ("he", "she"), words))
    first = opening[0].lower() if opening else ""
    if not opening or first in ("his", "her"):
        return bool(words)
    if len(opening) == len(words):  # neither "he" nor "she" is near
        return False
    if len(opening) == 1:
        return first in _ADVERBS
    return first in _PREPOSITIONS and all(map(_is_of_time_or_place, opening[1:]))


def _is_of_time_or_place(word: str) -> bool:
    first = word.lower().partition("-")[0]  # "twenty-five", "mid-1920s"
    is_number = first[0].isdigit() or first.endswith(("teen", "teenth", "ty"))
    return is_number or word[0].isupper() or first in _OF_TIME_OR_PLACE


def _names(text: str) -> list[str]:
    """Return the words of the text that begin with a capital letter."""
    return [word for word in _WORD.findall(text) if word[0].isupper() and len(word) > 1]


def _naming(before: Sequence[str], persons: Set[str], names: Set[str]) -> str:
    """Return the nearest of those before that names somebody: a known person before it says "he", or by its first word,
    where it does not go on with "his" or "her", who may be another one; "" without. names: of anybody or anything."""
    is_one_known = any(not persons.isdisjoint(_names(each)) for each in before)
    for each in reversed(before):
        someone = _SOMEONE.search(each)
        known = persons if is_one_known or someone else names
        if not known.isdisjoint(_names(each[: someone.start()] if someone else each)):
            return each
        first = each.partition(" ")[0]
        if not names.isdisjoint(_names(first)) and (someone is None or someone.group().lower() in ("he", "she")):
            return each
    return ""
