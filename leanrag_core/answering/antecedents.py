"""The sentences that a sentence points back to: who "he" is, and what "this" is."""

import re
from collections.abc import Sequence, Set

from leanrag_core.text.words import word_set

ENDS = ".!?。！？\"')]"  # of a whole sentence
_FARTHEST = 8  # sentences back
_POINTS_BACK = re.compile(
    r"(?:but |and |so |yet |for )?(?:(?:after|at|by|during|for|from|in|of|on|to|under|with|without) )?"
    r"(?:he|she|it|they|his|her|its|their|this|these|those|that|such|both|the latter|the former)\b",
    re.I,
)
# What a time or a place is made of: "In the following decades he", "At the University of Munich she".
_OF_TIME_OR_PLACE = (
    r"(?i:a|an|the|of|his|her|that|this|then|now|same|next|following|first|second|third|last|end|beginning|early|later?|mid|"
    r"spring|summer|autumn|winter|days?|weeks?|months?|years?|decades?|century|centuries|time|age|youth|life|few|some|"
    r"several|many|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen|[a-z]*twenty|[a-z]+ty|"
    r"\d[\d,]*s?)|[A-Z][\w’'-]*"
)
_OF_SOMEONE = re.compile(
    r"(?i:he|she|his|her)\b|(?i:about|after|around|at|before|by|during|from|in|on|since|until|within)"
    rf"(?: (?:{_OF_TIME_OR_PLACE}),?){{1,6}} (?:he|she)\b|"
    r"(?i:afterwards|again|also|eventually|finally|here|later|meanwhile|now|often|soon|then|there|thereafter|today),? "
    r"(?:he|she)\b"
)
_SOMEONE = re.compile(r"\b(?:he|she|him|his|her)\b", re.I)
_NAME = re.compile(r"\b[A-Z][\w-]+")
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
    speaks_of_someone = _OF_SOMEONE.match(sentences[place]) is not None
    before = [each for each in sentences[max(0, place - _FARTHEST) : place] if each[-1:] in tuple(ENDS)]
    if speaks_of_someone and (named := _naming(sentences, before, persons)):
        names = set(_NAME.findall(named)) - _NO_NAMES
        return (named,) if (persons & names or names).isdisjoint(_NAME.findall(question)) else ()
    if not points_back(sentences[place]) or not place or sentences[place - 1] not in before[-1:]:
        return ()
    first = next((each for each in reversed(before) if not points_back(each) and not _OF_SOMEONE.match(each)), "")
    return tuple(dict.fromkeys(filter(None, (first, before[-1]))))


def _naming(sentences: Sequence[str], before: Sequence[str], persons: Set[str]) -> str:
    """Return the nearest of those before that names somebody: a known person before it says "he", or by its first word,
    where it does not go on with "his" or "her", who may be another one; "" without."""
    # A first word is a name where it is written so within a sentence too.
    names = {found.group() for each in sentences for found in _NAME.finditer(each) if found.start()} - _NO_NAMES
    is_one_known = any(name in persons for each in before for name in _NAME.findall(each))
    for each in reversed(before):
        someone = _SOMEONE.search(each)
        first = _NAME.match(each)
        known = persons if is_one_known or someone else names
        if not known.isdisjoint(_NAME.findall(each[: someone.start()] if someone else each)):
            return each
        if first and first.group() in names and (someone is None or someone.group().lower() in ("he", "she")):
            return each
    return ""
